using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Options of a <see cref="StreamSocket"/>. Defaults are the native core's unless the property says otherwise.</summary>
/// <remarks>
/// Options may be set at any time, and each says when a change takes effect. Most apply to endpoints made afterwards. Not thread-safe.
/// </remarks>
public sealed class StreamOptions : SocketOptions
{
    /// <summary>Creates options with their defaults. <see cref="SocketOptions.Backlog"/> is 65,536 for STREAM.</summary>
    public StreamOptions() => Backlog = 65_536;

    /// <summary>
    /// The largest accepted payload in bytes. A peer with a longer one is disconnected at the length field, before memory is allocated.
    /// Default 8 MiB for every transport; the native core has no limit on tcp (docs/protocol.md section 2). 0: only empty payloads. Null:
    /// the largest array. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long? MaxMessageSize { get; set => field = OptionRange.OrNull(value, 0, "no limit"); } = StreamFraming.DefaultMaxMessageSize;

    /// <summary>
    /// The limit of unread bytes of all peers of this socket. Beyond it peers are read only as fast as messages are received. After the
    /// first 64, each read counts 600 bytes more, which it costs. Read when the socket is made. Null: no limit. Default 8 MiB, which a fast
    /// consumer (1 GB/s) receives in 8 ms.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public long? TotalReceiveByteLimit { get; set => field = OptionRange.OrNull(value, 1, "no limit"); } = 8L * 1024 * 1024;

    /// <summary>
    /// Code that awaits <see cref="StreamSocket.ReceiveAsync"/>, <see cref="StreamSocket.ReceiveManyAsync"/> or
    /// <see cref="StreamSocket.ReceiveAllAsync"/> continues on the shard that has read the message, instead of on the thread pool. An echo
    /// gets 1.0 to 1.4 times the messages a second (docs/benchmarks/log.md). Read when the socket is made. Default false.
    /// </summary>
    /// <remarks>
    /// Such code must not block, because all connections of the shard would wait; blocking calls of this library throw there. It gets
    /// messages of one peer until they are 256 or 64 KiB. Then the shard does its other work.
    /// </remarks>
    public bool AllowSynchronousContinuations { get; set; }

    /// <summary>
    /// Ends a peer that sent nothing for this time, not even a part of a frame. A peer that this side does not read is not judged. Pipes
    /// have it too: Input then ends, or fails with an IOException. Zero (default): no limit, as in the native core. For endpoints made
    /// afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan IdleTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// Ends a peer that read nothing for this time while bytes waited for it. Less than 16 KiB, beside the system's own buffers, counts as
    /// nothing. Pipes have it too: Input and Output then fail. Zero (default): no limit. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan WriteTimeout { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    internal StreamSettings Snapshot() => new(
        ConnectionSettings(StreamFraming.EffectiveLimit(MaxMessageSize ?? long.MaxValue), IdleTimeout, WriteTimeout),
        TransportSettings,
        ReceiveLimits,
        MaxConnections ?? 0);
}
