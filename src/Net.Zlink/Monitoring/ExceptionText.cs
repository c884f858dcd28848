namespace Net.Zlink.Monitoring;

/// <summary>What an exception says, for events and logs. Its class may be the application's own, and what it says of itself may throw in
/// turn, or be nothing.</summary>
internal static class ExceptionText
{
    /// <summary>Its message alone.</summary>
    public static string MessageOf(Exception exception) => Ask(exception, static e => e.Message);

    /// <summary>All it has to say, with the stack.</summary>
    public static string Of(Exception exception) => Ask(exception, static e => e.ToString());

    private static string Ask(Exception exception, Func<Exception, string?> what)
    {
        try
        {
            if (what(exception) is { } text)
            {
                return text;
            }
        }
        catch (Exception)
        {
            // Its type has to do.
        }

        return $"{exception.GetType()}, which does not say more";
    }
}
