using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>A snapshot of a context.</summary>
public sealed record ContextStatistics
{
    /// <summary>One entry per shard.</summary>
    public required IReadOnlyList<ShardStatistics> Shards { get; init; }

    /// <summary>Open sockets.</summary>
    public required int Sockets { get; init; }

    /// <summary>How much of <see cref="ZlinkContextOptions.QueuedByteLimit"/> queues have taken, in bytes: what waits in each beyond its
    /// first 16 KiB, rounded up to as much as four times that while nobody waits for it, and to 16 KiB while somebody does. 0 where there
    /// is no such limit.</summary>
    public required long QueuedBytes { get; init; }

    /// <summary>Queues that were refused more of it and still need that: what is sent to their peers waits or is dropped, or their peers
    /// are not read.</summary>
    public required int QueuesWaiting { get; init; }

    /// <summary>Bytes of memory that hold what has come of messages that are not whole yet, of connections that have 16 KiB or more of it.
    /// Past <see cref="ZlinkContextOptions.UnfinishedByteLimit"/> connections end for it. 0 where there is no such limit.</summary>
    public required long UnfinishedBytes { get; init; }

    /// <summary>What the topics of subscribers that came by a wire take up, in bytes: each 640 and twice its length, of those subscribers
    /// that have 16 KiB or more. Past <see cref="ZlinkContextOptions.SubscriptionByteLimit"/> connections end for it. 0 where there is no
    /// such limit.</summary>
    public required long SubscriptionBytes { get; init; }
}

/// <summary>A snapshot of one shard: a serial executor that a part of the connections belongs to.</summary>
public sealed record ShardStatistics
{
    /// <summary>Which shard.</summary>
    public required int Index { get; init; }

    /// <summary>Connections that belong to it now.</summary>
    public required int Connections { get; init; }

    /// <summary>True while it runs or is about to.</summary>
    public required bool IsBusy { get; init; }

    /// <summary>Works waiting for it now: connections with something to do.</summary>
    public required int QueueDepth { get; init; }

    /// <summary>Works done.</summary>
    public required long Works { get; init; }

    /// <summary>Turns that began on the spot, in a completion's own thread.</summary>
    public required long RunsInPlace { get; init; }

    /// <summary>Turns that were given to the thread pool.</summary>
    public required long RunsFromPool { get; init; }

    /// <summary>Works that threw; each ended one connection.</summary>
    public required long Faults { get; init; }

    /// <summary>Time spent running, the turn in progress included.</summary>
    public required TimeSpan BusyTime { get; init; }

    /// <summary>The longest turn, the one in progress included.</summary>
    public required TimeSpan LongestRun { get; init; }

    /// <summary>The most works in one turn.</summary>
    public required long LargestRun { get; init; }

    /// <summary>The longest time from asking the thread pool for a turn to its start.</summary>
    public required TimeSpan LongestDelay { get; init; }

    /// <summary>The sum of these times, of all <see cref="RunsFromPool"/>. Its growth by theirs is the mean delay since the last look: is
    /// the process starved now?</summary>
    public required TimeSpan TotalDelay { get; init; }

    /// <summary>Turns that the thread pool began more than 200 ms after it was asked.</summary>
    public required long LateRuns { get; init; }

    internal static ShardStatistics Of(ShardLoop shard)
    {
        ShardCounters counters = shard.Counters;
        return new ShardStatistics
        {
            Index = shard.Index,
            Connections = Volatile.Read(ref counters.Connections),
            IsBusy = shard.IsBusy,
            QueueDepth = shard.QueueDepth,
            Works = Volatile.Read(ref counters.Works),
            RunsInPlace = Volatile.Read(ref counters.RunsInPlace),
            RunsFromPool = Volatile.Read(ref counters.RunsFromPool),
            Faults = Volatile.Read(ref counters.Faults),
            BusyTime = counters.BusyTime,
            LongestRun = counters.LongestTurn,
            LargestRun = Volatile.Read(ref counters.LargestTurnWorks),
            LongestDelay = ShardCounters.ToTime(Volatile.Read(ref counters.LongestDelayTicks)),
            TotalDelay = ShardCounters.ToTime(Volatile.Read(ref counters.DelayTicks)),
            LateRuns = Volatile.Read(ref counters.LateRuns),
        };
    }
}
