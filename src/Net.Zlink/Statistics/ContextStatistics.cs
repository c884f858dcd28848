using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>A snapshot of a context.</summary>
public sealed class ContextStatistics
{
    internal ContextStatistics()
    {
    }

    /// <summary>One entry per shard.</summary>
    public IReadOnlyList<ShardStatistics> Shards { get; internal init; } = [];

    /// <summary>Open sockets.</summary>
    public int Sockets { get; internal init; }

    /// <summary>
    /// The bytes of <see cref="ZlinkContextOptions.QueuedByteLimit"/> that queues have reserved: what each holds beyond its first 16 KiB,
    /// rounded up. 0 without a limit.
    /// </summary>
    public long QueuedBytes { get; internal init; }

    /// <summary>
    /// The number of queues that wait for more of it: sends to their peers wait or are dropped, or their peers are not read.
    /// </summary>
    public int QueuesWaiting { get; internal init; }

    /// <summary>
    /// The bytes of unfinished messages on connections with 16 KiB or more. Beyond <see cref="ZlinkContextOptions.UnfinishedByteLimit"/>
    /// connections are ended. 0 without a limit.
    /// </summary>
    public long UnfinishedBytes { get; internal init; }

    /// <summary>
    /// The bytes of wire subscribers' topics, each counted as 640 and twice its length, for subscribers with 16 KiB or more. Beyond
    /// <see cref="ZlinkContextOptions.SubscriptionByteLimit"/> connections are ended. 0 without a limit.
    /// </summary>
    public long SubscriptionBytes { get; internal init; }

    /// <summary>
    /// The bytes of the buffers that the context's pool retains for reuse: memory beside that of <see cref="QueuedBytes"/>. A pool that
    /// several contexts share shows the same figure in each.
    /// </summary>
    public long PoolRetainedBytes { get; internal init; }

    /// <summary>The most that it retains: <see cref="Buffers.BufferPoolOptions.RetainedByteLimit"/>, or its default.</summary>
    public long PoolRetainedByteLimit { get; internal init; }
}

/// <summary>A snapshot of one shard: a serial executor of a part of the connections.</summary>
public sealed class ShardStatistics
{
    internal ShardStatistics(ShardLoop shard)
    {
        ShardCounters counters = shard.Counters;
        Index = shard.Index;
        Connections = Volatile.Read(ref counters.Connections);
        IsBusy = shard.IsBusy;
        QueueDepth = shard.QueueDepth;
        Works = Volatile.Read(ref counters.Works);
        RunsInPlace = Volatile.Read(ref counters.RunsInPlace);
        RunsFromPool = Volatile.Read(ref counters.RunsFromPool);
        Faults = Volatile.Read(ref counters.Faults);
        BusyTime = counters.BusyTime;
        LongestRun = counters.LongestTurn;
        LargestRun = Volatile.Read(ref counters.LargestTurnWorks);
        LongestDelay = ShardCounters.ToTime(Volatile.Read(ref counters.LongestDelayTicks));
        TotalDelay = ShardCounters.ToTime(Volatile.Read(ref counters.DelayTicks));
        LateRuns = Volatile.Read(ref counters.LateRuns);
    }

    /// <summary>The number of the shard.</summary>
    public int Index { get; }

    /// <summary>Its present connections.</summary>
    public int Connections { get; }

    /// <summary>It runs or is about to.</summary>
    public bool IsBusy { get; }

    /// <summary>Waiting works: connections with something to do.</summary>
    public int QueueDepth { get; }

    /// <summary>Completed works.</summary>
    public long Works { get; }

    /// <summary>Turns that began on the thread of a completion.</summary>
    public long RunsInPlace { get; }

    /// <summary>Turns that the thread pool ran.</summary>
    public long RunsFromPool { get; }

    /// <summary>Works that threw. Each ended one connection.</summary>
    public long Faults { get; }

    /// <summary>The time spent running, with the present turn.</summary>
    public TimeSpan BusyTime { get; }

    /// <summary>The longest turn, with the present one.</summary>
    public TimeSpan LongestRun { get; }

    /// <summary>The most works in one turn.</summary>
    public long LargestRun { get; }

    /// <summary>The longest delay between a request to the thread pool and its turn.</summary>
    public TimeSpan LongestDelay { get; }

    /// <summary>
    /// The sum of these delays over all <see cref="RunsFromPool"/>. Its increase divided by theirs is the mean delay since the last
    /// snapshot.
    /// </summary>
    public TimeSpan TotalDelay { get; }

    /// <summary>Turns that began more than 200 ms after the request to the thread pool.</summary>
    public long LateRuns { get; }
}
