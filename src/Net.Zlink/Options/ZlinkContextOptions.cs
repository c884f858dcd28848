using Microsoft.Extensions.Logging;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>Settings of a <see cref="ZlinkContext"/>, read once when it is made.</summary>
public sealed record ZlinkContextOptions
{
    // More shards than this only cost memory: each owns a slab of 256 KB, or of 64 KB for tls and ws, once it has worked.
    private const int MaxShards = 1024;

    // Of what waits, and once more of what has begun to come. That is in the pool's arrays, which are up to twice as long as what they
    // hold, and the application needs memory too.
    private const int PartOfMemory = 4;

    // Two threads of the pool seldom want one of so many at the same time. With a shard per processor instead, echoes over tls, ws and wss
    // took up to a tenth more processor time (docs/benchmarks/log.md, "Shards of their own").
    private const int TlsAndWebSocketShardsPerProcessor = 8;

    /// <summary>Number of shards: serial executors that connections are spread over, but for those over tls, ws and wss, see
    /// <see cref="TlsAndWebSocketShardCount"/>. Default: the number of processors. At least 1.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1 or above 1024.</exception>
    public int ShardCount { get; init => field = OptionRange.InRange(value, 1, MaxShards); } = Environment.ProcessorCount;

    /// <summary>
    /// Number of further shards for connections over tls, ws and wss, all three together, made when the first of these comes; 0: they share
    /// the others. Default: eight per processor, at most 1,024.
    /// Of no effect on connections with a shard affinity, nor with inline completions, where each polling thread has one of the
    /// <see cref="ShardCount"/> for what it brings.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or above 1024.</exception>
    public int TlsAndWebSocketShardCount { get; init => field = OptionRange.InRange(value, 0, MaxShards); } =
        Math.Min(TlsAndWebSocketShardsPerProcessor * Environment.ProcessorCount, MaxShards);

    /// <summary>The clock of every timer: idle and write timeouts, reconnects, close deadlines. Default: the system's.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public TimeProvider TimeProvider { get; init => field = OptionRange.NotNull(value, "the system's clock is TimeProvider.System"); } =
        TimeProvider.System;

    /// <summary>A pool to use and share; the context does not dispose it. Null (default): the context makes one of its own from
    /// <see cref="PoolOptions"/>.</summary>
    public BufferPool? Pool { get; init; }

    /// <summary>Settings of the context's own pool. Default: <see cref="BufferPoolOptions.Default"/>.</summary>
    /// <exception cref="ArgumentNullException">The value is null.</exception>
    public BufferPoolOptions PoolOptions { get; init => field = OptionRange.NotNull(value, "the default is BufferPoolOptions.Default"); } =
        BufferPoolOptions.Default;

    /// <summary>
    /// How long disposing the context may take for delivering what was accepted and for its connections' ends, each of which waits for its
    /// peer's for up to <see cref="SocketOptions.CloseTimeout"/> (5 seconds), with a linger time of zero too. Default: 30 seconds.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ShutdownTimeout { get; init => field = OptionRange.Time(value, mayBeInfinite: true); } = TimeSpan.FromSeconds(30);

    /// <summary>Sockets that the context has at the same time. Default: 1,023, as in the native core.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxSockets { get; init => field = OptionRange.InRange(value, 1); } = 1023;

    /// <summary>Accepted connections that may be in their TLS handshake or WebSocket upgrade at the same time, over all sockets, counted
    /// from their first bytes; further ones wait in line. Default: 1,024, about 50 MB where TLS clients stall.</summary>
    /// <remarks>
    /// A client that begins its handshake and stalls keeps its place for <see cref="SocketOptions.HandshakeInterval"/>, but not from
    /// others: once some wait in line, as many handshakes give way that have waited for their peers for 5 s in all, the slowest first. Each
    /// counts in <see cref="HandshakeFailureCounts.TimedOut"/>, and its event says so. With the default a crowd of such clients lets 200
    /// others a second in; where anybody may connect, a <see cref="SocketOptions.HandshakeInterval"/> of a second or two lets in more.
    /// </remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxHandshakes { get; init => field = OptionRange.InRange(value, 1); } = HandshakeLimiter.Default;

    /// <summary>
    /// How many bytes may wait in all queues of the context together, to be sent and to be received, over all sockets and transports; null:
    /// no limit, as in the native core. A peer whose queue needs more meets the rule of its own <see cref="SocketOptions.SendByteLimit"/>
    /// and <see cref="SocketOptions.ReceiveByteLimit"/> then: its sender waits, fails or drops by the type of the socket, and it is not
    /// read. Each queue may hold 16 KiB and one message besides, from a wire one read of 64 KiB, so that none stands still for what others
    /// hold. What peers that have gone left unread counts in full, and 2 KiB for each; once that alone is as much, new connections of ZMP
    /// sockets are refused until some of it is read. Default: a quarter of the memory that the process may use, of a container where it is
    /// in one.
    /// </summary>
    /// <remarks>Headers count, and what several subscribers share counts for each; <see cref="ContextStatistics.QueuedBytes"/> has the sum.
    /// Not counted are messages that the application holds, or that are the newest of a conflating queue, what STREAM pipes hold, and
    /// messages that are not whole (<see cref="UnfinishedByteLimit"/>).</remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? QueuedByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>
    /// How many bytes of memory may hold what has come, on all connections of the context together, of messages that are not whole yet:
    /// parts without a last one, and frames that are still on their way; null: no limit, as in the native core. Past it each connection
    /// that wants more, and has more than its equal part of the limit, ends with
    /// <see cref="Monitoring.DisconnectReason.UnfinishedByteLimit"/>; the others go on, up to twice as much in all. So it is the most that
    /// one message may take, too.
    /// Default: a quarter of the memory that the process may use, of a container where it is in one.
    /// </summary>
    /// <remarks>Connections with less than 16 KiB of it are not counted. A part counts 64 bytes more than it has, which is what its place
    /// takes. What STREAM pipes hold has the limits of their pipes.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? UnfinishedByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>
    /// How many bytes the topics may take up that peers have subscribed, at all PUB and XPUB sockets of the context together, each topic
    /// counted as 640 bytes and twice its length; null: no limit, as in the native core. Past it each subscriber that wants more, and has
    /// more than its equal part of the limit, loses its connection with <see cref="Monitoring.DisconnectReason.SubscriptionByteLimit"/>;
    /// the others go on, up to twice the limit in all.
    /// What one subscriber may take up is limited besides: <see cref="SocketOptions.ReceiveByteLimit"/>, 64 MiB, of which no setting takes
    /// the first MiB. Default: a quarter of the memory that the process may use, of a container where it is in one.
    /// </summary>
    /// <remarks>Subscribers with less than 16 KiB of it, some twenty topics, are not counted, nor are those in this context.</remarks>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? SubscriptionByteLimit { get; init => field = OptionRange.OrNull(value, 1, "no limit"); } = ShareOfMemory();

    /// <summary>What <see cref="SocketOptions.IPv6"/> is for sockets whose options do not say. Default false.</summary>
    public bool IPv6 { get; init; }

    /// <summary>
    /// What <see cref="SocketOptions.Linger"/> is for sockets whose options do not say (but for SUB and XSUB, which do not linger).
    /// Default: as long as it takes, up to <see cref="ShutdownTimeout"/>.
    /// Zero is what the native core calls BLOCKY 0.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan DefaultLinger { get; init => field = OptionRange.Time(value, mayBeInfinite: true); } = Timeout.InfiniteTimeSpan;

    /// <summary>Where log lines go. Null (default): nowhere.</summary>
    public ILoggerFactory? LoggerFactory { get; init; }

    private static long ShareOfMemory() => GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / PartOfMemory;
}
