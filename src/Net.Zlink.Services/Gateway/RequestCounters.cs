namespace Net.Zlink.Services;

/// <summary>What became of the requests of a gateway.</summary>
internal sealed class RequestCounters
{
    public long Started;
    public long Replied;
    public long Failed;
    public long Refused;
    public long Lost;
    public long TimedOut;
    public long Cancelled;
    public long NoReceiver;
    public long Ended;
    public long SentAgain;
    public long UnmatchedReplies;
    public long DroppedMessages;

    public void Count(RequestOutcomeKind kind)
    {
        switch (kind)
        {
            case RequestOutcomeKind.Replied:
                Interlocked.Increment(ref Replied);
                break;
            case RequestOutcomeKind.Failed:
                Interlocked.Increment(ref Failed);
                break;
            case RequestOutcomeKind.Refused:
                Interlocked.Increment(ref Refused);
                break;
            case RequestOutcomeKind.Lost:
                Interlocked.Increment(ref Lost);
                break;
            case RequestOutcomeKind.TimedOut:
                Interlocked.Increment(ref TimedOut);
                break;
            case RequestOutcomeKind.Cancelled:
                Interlocked.Increment(ref Cancelled);
                break;
            case RequestOutcomeKind.NoReceiver:
                Interlocked.Increment(ref NoReceiver);
                break;
            default:
                Interlocked.Increment(ref Ended);
                break;
        }
    }
}
