namespace Net.Zlink.Tests.Support;

/// <summary>Gives the result of a send and its reason in one expression.</summary>
internal static class SendResultExtensions
{
    public static bool Tell(this SendResult result, out SendFailure reason)
    {
        reason = result.Reason;
        return result;
    }
}
