using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>What consumers keep of a lane: the messages that left its lock already, and what of them is not settled with the sender's side yet. Under the receive queue's lock.</summary>
/// <remarks>
/// Lies apart from what the sender writes for each message. On the same cache lines, with nothing else in common, sender and receiver slowed each other down to a third where their processors share no cache
/// (docs/benchmarks/log.md, "Two processors, one line").
/// </remarks>
internal struct TakenSide
{
    // What is taken and not reported still counts as waiting, for the context too, until more is taken: no more than half of this, whatever the lane's own limit.
    private const long LongestReport = 4 * 1024 * 1024;

    // With the last message that is taken for now less than this stays unreported: half of what a lane may hold whatever others do, so that one whose reader keeps up is never refused anything for what has been read.
    private const long LeastAtEnd = ByteShare.Free / 2;

    /// <summary>Where the next message is.</summary>
    public InboundLease? Current;

    /// <summary>The pipe whose socket reads the lane.</summary>
    public Pipe? Pipe;

    /// <summary>The next lane whose sender has to be told of room.</summary>
    public InboundLane? NextToResume;

    /// <summary>The lane's own limits, once more: each take looks at them.</summary>
    public QueueLimits Limits
    {
        readonly get => field;
        set => field = value with { Bytes = value.Bytes is 0 or > LongestReport ? LongestReport : value.Bytes };
    }

    public long UnreportedMessages;

    public long UnreportedBytes;

    public bool IsToBeResumed;

    /// <summary>The context has a limit, which the sender's side may be at long before the lane is at its own.</summary>
    public bool ReportsAtEnd;

    /// <summary>So much was taken that the sender's side has to hear of it.</summary>
    public readonly bool IsReportDue => Limits.IsHalf(UnreportedMessages, UnreportedBytes) || (Current is null && ReportsAtEnd && UnreportedBytes >= LeastAtEnd);
}
