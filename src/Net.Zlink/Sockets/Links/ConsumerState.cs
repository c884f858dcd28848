using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// Apart from what the sender writes for each message. On common cache lines both sides slowed down to a third (docs/benchmarks/log.md,
/// "Two processors, one line").
/// </summary>
internal struct ConsumerState
{
    // Unreported bytes still count as unread, also for the context. At most half of this is unreported, whatever the lane's own limit.
    private const long ReportLimitBytes = 4 * 1024 * 1024;

    public InboundLease? Current;

    public LaneOwner? Link;

    public InboundLane? NextToResume;

    /// <summary>A copy of the lane's limits, because each dequeue reads it.</summary>
    public QueueLimits Limits;

    public long UnreportedMessages;

    public long UnreportedBytes;

    public bool IsResumePending;

    public static QueueLimits ReportsOf(QueueLimits limits)
    {
        long bytes = limits.Bytes is 0 or > ReportLimitBytes ? ReportLimitBytes : limits.Bytes;
        return limits with { Bytes = bytes };
    }

    public readonly bool IsReportNeeded => Limits.IsHalf(UnreportedMessages, UnreportedBytes);
}
