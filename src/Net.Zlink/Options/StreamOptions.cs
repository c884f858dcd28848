using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Options of a <see cref="StreamSocket"/>. Defaults are the native core's unless the property says otherwise.</summary>
/// <remarks>
/// Options may be set at any time. <see cref="SocketOptions.SendTimeout"/> and <see cref="SocketOptions.ReceiveTimeout"/> act at once, and
/// so does <see cref="SocketOptions.Linger"/> where the socket is disposed; two are read when the socket is made, and say so; all others
/// reach endpoints bound or connected afterwards, and the connections of these. Not synchronised: set them from one thread at a time.
/// </remarks>
public sealed class StreamOptions : SocketOptions
{
    /// <summary>Options with their defaults. <see cref="SocketOptions.Backlog"/> is 65,536 for STREAM.</summary>
    public StreamOptions() => Backlog = 65_536;

    /// <summary>
    /// The largest payload accepted from a peer, in bytes; a longer one ends that peer on its length field, before any memory is taken.
    /// Default 8 MiB, for every transport (the native core has no limit on tcp, docs/protocol.md section 2). 0: only empty payloads. Null:
    /// what a .NET array holds. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long? MaxMessageSize { get; set => field = OptionRange.OrNull(value, 0, "no limit"); } = StreamFraming.DefaultMaxMessageSize;

    /// <summary>
    /// Bytes of all peers together that may wait to be received by this socket; past it peers are read only as fast as messages are
    /// received. Behind the first 64 each read that brought some counts 600 bytes besides, which is what it takes. Read when the socket is
    /// made. Null: no limit.
    /// Default 8 MiB: it bounds a server's memory whatever the number of peers, and is what a fast consumer (1 GB/s) works off in 8 ms.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? TotalReceiveByteLimit { get; set => field = OptionRange.OrNull(value, 1, "no limit"); } = 8L * 1024 * 1024;

    /// <summary>
    /// True: code that awaits <see cref="StreamSocket.ReceiveAsync"/>, <see cref="StreamSocket.ReceiveManyAsync"/> or
    /// <see cref="StreamSocket.ReceiveAllAsync"/> goes on in the shard that has read the message, as a handler would, instead of on the
    /// thread pool: no hand-over between threads, and the message is still in the cache (docs/benchmarks/log.md: 1.0 to 1.4 times the
    /// messages a second of an echo). It must not block, for all connections of that shard wait meanwhile; blocking calls of this library
    /// throw there. It is given at most 64 KiB or
    /// 256 messages at a time, of one peer; then the shard does its other work. Read when the socket is made. Default false.
    /// </summary>
    public bool AllowSynchronousContinuations { get; set; }

    /// <summary>Ends a peer that sent nothing, not even a part of a frame, for so long. Zero (default): never, as in the native core. A
    /// peer that we do not read is not counted as silent. Pipes have it, too: Input then ends, or fails with an IOException. For endpoints
    /// made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan IdleTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>Ends a peer that took nothing for so long while something waited to be written to it; less than 16 KiB, beside what the
    /// system's own buffers hold, counts as nothing. Pipes have it, too: Input and Output then fail. Zero (default): never. For endpoints
    /// made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan WriteTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    internal StreamSettings Snapshot() => new(
        ConnectionSettings(StreamFraming.EffectiveLimit(MaxMessageSize ?? long.MaxValue), IdleTimeout, WriteTimeout),
        TransportSettings,
        ReceiveLimits,
        MaxConnections ?? 0);
}
