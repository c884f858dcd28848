using System.Diagnostics.Metrics;
using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Options of a <see cref="ZlinkContext"/>, read once when it is created.</summary>
public sealed record ZlinkContextOptions
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
    /// The number of shards for connections, except those over tls, ws and wss: see <see cref="TlsAndWebSocketShardCount"/>. Default: the
    /// number of processors.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 or above 1024.</exception>
    public int ShardCount { get; init => field = OptionRange.InRange(value, 1, MaxShards); } = Environment.ProcessorCount;

    /// <summary>
    /// The number of further shards for all connections over tls, ws and wss, created with the first of them. 0: they share the others.
    /// Default: eight per processor, at most 1,024. It does not apply to connections with a shard affinity, nor with the runtime's inline
    /// completions.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or above 1024.</exception>
    public int TlsAndWebSocketShardCount { get; init => field = OptionRange.InRange(value, 0, MaxShards); } =
        Math.Min(TlsAndWebSocketShardsPerProcessor * Environment.ProcessorCount, MaxShards);

    /// <summary>The clock of every timer: idle and write timeouts, reconnects, close deadlines. Default: the system's.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public TimeProvider TimeProvider { get; init => field = OptionRange.NotNull(value, "the system's clock is TimeProvider.System"); } =
        TimeProvider.System;

    /// <summary>
    /// A pool to use and share. The context does not dispose it. Null (default): the context creates one from <see cref="PoolOptions"/>.
    /// </summary>
    public BufferPool? Pool { get; init; }

    /// <summary>The options of the context's own pool. Default: <see cref="BufferPoolOptions.Default"/>.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public BufferPoolOptions PoolOptions { get; init => field = OptionRange.NotNull(value, "the default is BufferPoolOptions.Default"); } =
        BufferPoolOptions.Default;

    /// <summary>
    /// How long disposing the context may take. Each connection waits for its peer's end for up to <see cref="SocketOptions.CloseTimeout"/>
    /// (5 seconds), with a linger time of zero too. Default: 30 seconds.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ShutdownTimeout { get; init => field = OptionRange.Time(value, mayBeInfinite: true); } = TimeSpan.FromSeconds(30);

    /// <summary>The limit of open sockets. Default: 1,023, as in the native core.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxSockets { get; init => field = OptionRange.InRange(value, 1); } = 1023;

    /// <summary>
    /// The limit of accepted connections in a TLS handshake or WebSocket upgrade, over all sockets, counted from their first bytes. Further
    /// ones wait. Default: 1,024, about 50 MB if TLS clients stall.
    /// </summary>
    /// <remarks>
    /// Stalled clients keep their slots for <see cref="SocketOptions.HandshakeInterval"/> only while no other waits. Then handshakes that
    /// have waited for their peers for 1.5 s in total are ended, the slowest first, as many as wait. The time is longer, up to 5 s, where
    /// handshakes that complete wait for long, too. Each counts in <see cref="HandshakeFailureCounts.TimedOut"/>. The newest that waits is
    /// served first, so a good client is behind those only that came after it. With the default, 680 clients a second get in while all
    /// slots are held by clients that never finish.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxHandshakes { get; init => field = OptionRange.InRange(value, 1); } = HandshakeLimiter.Default;

    /// <summary>
    /// The limit of bytes in all queues of the context, to be sent and received. Beyond it a peer's queue behaves as at its own
    /// <see cref="SocketOptions.SendByteLimit"/> or <see cref="SocketOptions.ReceiveByteLimit"/>. Null: no limit, as in the native core.
    /// Default: a quarter of the memory of the process or its container.
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
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? QueuedByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>
    /// The limit of memory for unfinished messages on all connections of the context: parts without a last one, and partial frames. Beyond
    /// it, a connection that needs more and has more than its equal share ends with
    /// <see cref="Monitoring.DisconnectReason.UnfinishedByteLimit"/>. Null: no limit, as in the native core. Default: a quarter of the
    /// memory of the process or its container.
    /// </summary>
    /// <remarks>
    /// The others may use up to twice the limit together. It also limits a single message. Connections with less than 16 KiB are not
    /// counted. A part counts 64 bytes more than its length. STREAM pipes have their own limits.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? UnfinishedByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>
    /// The limit of memory for the topics of all subscribers of the context, each topic counted as 640 bytes and twice its length. Beyond
    /// it, a subscriber that needs more and has more than its equal share is disconnected with
    /// <see cref="Monitoring.DisconnectReason.SubscriptionByteLimit"/>. Null: no limit, as in the native core. Default: a quarter of the
    /// memory of the process or its container.
    /// </summary>
    /// <remarks>
    /// The others may use up to twice the limit together. One subscriber is also limited by <see cref="SocketOptions.ReceiveByteLimit"/>,
    /// which always allows 1 MiB. Subscribers with less than 16 KiB (some twenty topics), and inproc ones, are not counted.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? SubscriptionByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>The default of <see cref="SocketOptions.IPv6"/>. Default false.</summary>
    public bool IPv6 { get; init; }

    /// <summary>
    /// The default of <see cref="SocketOptions.Linger"/>, except for SUB and XSUB, which do not linger. Default: no limit but
    /// <see cref="ShutdownTimeout"/>. Zero is the native BLOCKY 0.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan DefaultLinger { get; init => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>The target of log messages. Null (default): none.</summary>
    public ILoggerFactory? LoggerFactory { get; init; }

    /// <summary>Makes the meter, as that of a host does. The meter ends with the factory then, and its scope is the factory.
    /// Null (default): the meter ends with the context, and its scope is the context.</summary>
    public IMeterFactory? MeterFactory { get; init; }

    /// <summary>What the tag <c>zlink.context</c> of all metrics says. Null (default): the number of the context in this process.</summary>
    public string? Name { get; init; }

    private static long ShareOfMemory() => GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / PartOfMemory;
}
