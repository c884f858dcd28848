using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>What consumers keep of a lane: the messages that left its lock already, and what of them is not settled with the sender's side
/// yet. Under the receive queue's lock.</summary>
/// <remarks>
/// Lies apart from what the sender writes for each message. On the same cache lines, with nothing else in common, sender and receiver
/// slowed each other down to a third where their processors share no cache (docs/benchmarks/log.md, "Two processors, one line").
/// </remarks>
internal struct ConsumerState
{
    // What is taken and not reported still counts as waiting, for the context too, until more is taken: no more than half of this, whatever
    // the lane's own limit.
    private const long MaxReportedMessages = 4 * 1024 * 1024;

    /// <summary>Where the next message is.</summary>
    public InboundLease? Current;

    /// <summary>The pipe whose socket reads the lane.</summary>
    public PeerLink? Link;

    /// <summary>The next lane whose sender has to be told of room.</summary>
    public InboundLane? NextToResume;

    /// <summary>When to report, once more beside the lane's own limits: each take looks at it.</summary>
    public QueueLimits Limits;

    public long UnreportedMessages;

    public long UnreportedBytes;

    public bool IsResumePending;

    /// <summary>What to report by, in a lane of such limits.</summary>
    public static QueueLimits ReportsOf(QueueLimits limits) => limits
        with
    { Bytes = limits.Bytes is 0 or > MaxReportedMessages ? MaxReportedMessages : limits.Bytes };

    /// <summary>So much was taken that the sender's side has to hear of it.</summary>
    public readonly bool IsReportNeeded => Limits.IsHalf(UnreportedMessages, UnreportedBytes);
}
