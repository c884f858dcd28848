namespace Net.Zlink.Monitoring;

/// <summary>The text of an exception, for events and logs. The class may be the application's: its text may be null, or throw.</summary>
internal static class ExceptionText
{
    public static string MessageOf(Exception exception) => Ask(exception, static e => e.Message);

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
            // The type name is used instead.
        }

        return $"{exception.GetType()} without a message";
    }
}
