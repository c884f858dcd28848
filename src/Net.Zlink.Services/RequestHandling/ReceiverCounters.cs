namespace Net.Zlink.Services;

/// <summary>What <see cref="ReceiverStatistics"/> shows, counted with Interlocked.</summary>
internal sealed class ReceiverCounters
{
    public long Requests;
    public long PlainMessages;
    public long Replies;
    public long Failed;
    public long Refused;
    public long Expired;
    public long Cancelled;
    public long HandlerFaults;
    public long LostReplies;
    public long DuplicateIds;
    public long PlainInHandlers;
}
