using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Options of a <see cref="ZlinkContext"/>, which copies them when it is made: later changes do not reach it.</summary>
/// <remarks>Not thread-safe. Times above int.MaxValue milliseconds (24.8 days) count as that.</remarks>
public sealed class ZlinkContextOptions
{
    // More shards only cost memory: an active one owns a slab of 256 KB, or of 64 KB for tls and ws.
    private const int MaxShards = 1024;

    // Of queued bytes, and again of unfinished messages. Pool arrays are up to twice as long as their content, and the application needs
    // memory too.
    private const int PartOfMemory = 4;

    // With so many, two pool threads seldom need the same one. With one per processor, echoes over tls, ws and wss took up to 10 % more
    // processor time (docs/benchmarks/log.md, "Shards of their own").
    private const int TlsAndWebSocketShardsPerProcessor = 8;

    /// <summary>
    /// The number of shards for connections, except those over tls, ws and wss: see <see cref="TlsAndWebSocketShardCount"/>. 1 to 1,024.
    /// Default: the number of processors.
    /// </summary>
    public int ShardCount { get; set; } = Environment.ProcessorCount;

    /// <summary>
    /// The number of further shards for all connections over tls, ws and wss, created with the first of them. 0 to 1,024; 0: they share
    /// the others. Default: eight per processor, at most 1,024. It does not apply to connections with a shard affinity, nor with the
    /// runtime's inline completions.
    /// </summary>
    public int TlsAndWebSocketShardCount { get; set; } =
        Math.Min(TlsAndWebSocketShardsPerProcessor * Environment.ProcessorCount, MaxShards);

    /// <summary>The clock of every timer: idle and write timeouts, reconnects, close deadlines. Default: the system's.</summary>
    public TimeProvider TimeProvider { get; set; } = TimeProvider.System;

    /// <summary>
    /// A pool to use and share. The context does not dispose it. Null (default): the context creates one from <see cref="PoolOptions"/>.
    /// </summary>
    public BufferPool? Pool { get; set; }

    /// <summary>The options of the context's own pool. Copied with these.</summary>
    public BufferPoolOptions PoolOptions { get; set; } = new();

    /// <summary>
    /// How long disposing the context may take. Each connection waits for its peer's end for up to <see cref="SocketOptions.CloseTimeout"/>
    /// (5 seconds), with a linger time of zero too. <see cref="Timeout.InfiniteTimeSpan"/>: no limit. Default: 30 seconds.
    /// </summary>
    public TimeSpan ShutdownTimeout { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The limit of open sockets, 1 or more. Default: 1,023, as in the native core.</summary>
    public int MaxSockets { get; set; } = 1023;

    /// <summary>
    /// The limit of accepted connections in a TLS handshake or WebSocket upgrade, over all sockets, counted from their first bytes. 1 or
    /// more; further ones wait. Default: 1,024, about 50 MB if TLS clients stall.
    /// </summary>
    /// <remarks>
    /// Stalled clients keep their slots for <see cref="SocketOptions.HandshakeInterval"/> only while no other waits. Then handshakes that
    /// have waited for their peers for 1.5 s in total are ended, the slowest first, as many as wait. The time is longer, up to 5 s, where
    /// handshakes that complete wait for long, too. Each counts in <see cref="HandshakeFailureCounts.TimedOut"/>. The newest that waits is
    /// served first, so a good client is behind those only that came after it. With the default, 680 clients a second get in while all
    /// slots are held by clients that never finish.
    /// </remarks>
    public int MaxHandshakes { get; set; } = HandshakeLimiter.Default;

    /// <summary>
    /// The limit of bytes in all queues of the context, to be sent and received. Beyond it a peer's queue behaves as at its own
    /// <see cref="SocketOptions.SendByteLimit"/> or <see cref="SocketOptions.ReceiveByteLimit"/>. 1 or more; null: no limit, as in
    /// the native core. Default: a quarter of the memory of the process or its container.
    /// </summary>
    /// <remarks>
    /// <para>
    /// Each queue may always hold 16 KiB and one message (from a wire, one read of 64 KiB), so that no queue stops because of others.
    /// Unread messages of disconnected peers count in full, with 2 KiB for each peer; if they alone reach the limit, ZMP sockets refuse new
    /// connections until some are received.
    /// </para>
    /// <para>
    /// Headers count, and memory that subscribers share counts for each; <see cref="ContextStatistics.QueuedBytes"/> is the sum. Not
    /// counted: messages that the application holds, the newest of conflating queues, STREAM pipes, and unfinished messages
    /// (<see cref="UnfinishedByteLimit"/>).
    /// </para>
    /// </remarks>
    public long? QueuedByteLimit { get; set; } = ShareOfMemory();

    /// <summary>
    /// The limit of memory for unfinished messages on all connections of the context: parts without a last one, and partial frames. Beyond
    /// it, a connection that needs more and has more than its equal share ends with
    /// <see cref="Monitoring.DisconnectReason.UnfinishedByteLimit"/>. 1 or more; null: no limit, as in the native core. Default: a
    /// quarter of the memory of the process or its container.
    /// </summary>
    /// <remarks>
    /// The others may use up to twice the limit together. It also limits a single message. Connections with less than 16 KiB are not
    /// counted. A part counts 64 bytes more than its length. STREAM pipes have their own limits.
    /// </remarks>
    public long? UnfinishedByteLimit { get; set; } = ShareOfMemory();

    /// <summary>
    /// The limit of memory for the topics of all subscribers of the context, each topic counted as 640 bytes and twice its length. Beyond
    /// it, a subscriber that needs more and has more than its equal share is disconnected with
    /// <see cref="Monitoring.DisconnectReason.SubscriptionByteLimit"/>. 1 or more; null: no limit, as in the native core. Default: a
    /// quarter of the memory of the process or its container.
    /// </summary>
    /// <remarks>
    /// The others may use up to twice the limit together. One subscriber is also limited by <see cref="SocketOptions.ReceiveByteLimit"/>,
    /// which always allows 1 MiB. Subscribers with less than 16 KiB (some twenty topics), and inproc ones, are not counted.
    /// </remarks>
    public long? SubscriptionByteLimit { get; set; } = ShareOfMemory();

    /// <summary>The default of <see cref="SocketOptions.IPv6"/>. Default false.</summary>
    public bool IPv6 { get; set; }

    /// <summary>
    /// The default of <see cref="SocketOptions.Linger"/>, except for SUB and XSUB, which do not linger. Default: no limit but
    /// <see cref="ShutdownTimeout"/>. Zero is the native BLOCKY 0.
    /// </summary>
    public TimeSpan DefaultLinger { get; set; } = Timeout.InfiniteTimeSpan;

    /// <summary>The target of log messages. Null (default): none.</summary>
    public ILoggerFactory? LoggerFactory { get; set; }

    /// <summary>Makes the meter, as that of a host does. The meter ends with the factory then, and its scope is the factory.
    /// Null (default): the meter ends with the context, and its scope is the context.</summary>
    public IMeterFactory? MeterFactory { get; set; }

    /// <summary>What the tag <c>zlink.context</c> of all metrics says. Null (default): the number of the context in this process.</summary>
    public string? Name { get; set; }

    /// <summary>How many names of each kind (services, registries, directories, SPOT nodes) metrics show one by one, the first that come.
    /// All others are one sum, by the name <c>other</c>. 0 or more. Default: 50, with which no instrument nears the 2,000 series that
    /// OpenTelemetry keeps.</summary>
    public int MaxMetricNames { get; set; } = 50;

    /// <summary>Checks every option, as the context does when it is made.</summary>
    /// <exception cref="ArgumentException">One has no allowed value. The message names it and says what it takes.</exception>
    /// <exception cref="ObjectDisposedException"><see cref="Pool"/> is disposed.</exception>
    public void Validate()
    {
        OptionRange.InRange(ShardCount, 1, MaxShards);
        OptionRange.InRange(TlsAndWebSocketShardCount, 0, MaxShards);
        OptionRange.NotNull(TimeProvider, "the system's clock is TimeProvider.System");
        Pool?.ThrowIfDisposed();
        OptionRange.NotNull(PoolOptions, "the defaults are new BufferPoolOptions()").Validate();
        OptionRange.Time(ShutdownTimeout, mayBeInfinite: true);
        OptionRange.InRange(MaxSockets, 1);
        OptionRange.InRange(MaxHandshakes, 1);
        OptionRange.OrNull(QueuedByteLimit, 1, "no limit");
        OptionRange.OrNull(UnfinishedByteLimit, 1, "no limit");
        OptionRange.OrNull(SubscriptionByteLimit, 1, "no limit");
        OptionRange.Time(DefaultLinger, mayBeInfinite: true);
        OptionRange.InRange(MaxMetricNames, 0);
    }

    internal ZlinkContextOptions ValidCopy()
    {
        Validate();
        var copy = (ZlinkContextOptions)MemberwiseClone();
        copy.PoolOptions = PoolOptions.ValidCopy();
        copy.ShutdownTimeout = OptionRange.Time(ShutdownTimeout, mayBeInfinite: true);
        copy.DefaultLinger = OptionRange.Time(DefaultLinger, mayBeInfinite: true);
        return copy;
    }

    private static long ShareOfMemory() => GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / PartOfMemory;
}
