using System.Globalization;
using Microsoft.Extensions.Configuration;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>Options of the seven ZMP socket types. Defaults are the native core's unless the property says otherwise.</summary>
public abstract class ZmpSocketOptions : SocketOptions
{
    private static readonly TimeSpan LongestTtl = TimeSpan.FromMilliseconds((ushort.MaxValue * 100) + 99);

    private byte[] _routingId;
    private bool _hasGivenId;

    private protected ZmpSocketOptions()
    {
        _routingId = NewRoutingId();
    }

    /// <summary>
    /// This socket's routing id: 1 to 255 bytes. Default: 16 random bytes, other ones for each socket. For endpoints made afterwards
    /// (docs/protocol.md section 11).
    /// </summary>
    /// <remarks>
    /// A peer must not know two sockets with one id: it rejects the second, and what that has written by then is lost (docs/protocol.md
    /// section 15.3).
    /// </remarks>
    /// <exception cref="ArgumentException">The value is empty or longer than 255 bytes.</exception>
    public RoutingId RoutingId
    {
        get => _routingId;
        set
        {
            if (value.Length is 0 or > ZmpHello.LargestRoutingId)
            {
                throw new ArgumentException($"{nameof(RoutingId)} takes 1 to {ZmpHello.LargestRoutingId} bytes, not {value.Length}.",
                    nameof(value));
            }

            _routingId = value.ToArray();
            _hasGivenId = true;
        }
    }

    /// <summary><see cref="RoutingId"/> as text, for configuration with the key <c>RoutingId</c>. For endpoints made afterwards.</summary>
    /// <exception cref="FormatException">
    /// The value is longer than 255 bytes, or begins with <c>0x</c> without pairs of hexadecimal digits.
    /// </exception>
    /// <exception cref="ArgumentException">The value is empty.</exception>
    [ConfigurationKeyName(nameof(RoutingId))]
    public string RoutingIdText
    {
        get => RoutingId.ToString();
        set => RoutingId = global::Net.Zlink.RoutingId.Parse(value, CultureInfo.InvariantCulture);
    }

    /// <summary>
    /// The largest accepted part in bytes, also of control frames. A longer one ends the connection at its header, before memory is
    /// allocated. Null (default): the 2 GiB of an array. It also applies to handshakes: with 0 all fail. Not for inproc. For endpoints made
    /// afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long? MaxMessageSize { get; set => field = OptionRange.OrNull(value, 0, "no limit"); }

    /// <summary>
    /// The limit of parts in a received message. More end the connection. Default 100,000; the native core has no limit, and no defence
    /// against an endless message. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxMessageParts { get; set => field = OptionRange.InRange(value, 1); } = 100_000;

    /// <summary>
    /// The time between two heartbeats of this side; up to an eighth less where several connections send theirs together. Zero (default):
    /// none. For endpoints made afterwards (docs/protocol.md section 14).
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan HeartbeatInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// How long the peer waits for this side's next heartbeat, announced with each one in steps of 100 ms. It is also the longest time that
    /// this side waits for the peer's. Zero (default): no limit. Choose it well above <see cref="HeartbeatInterval"/>. For endpoints made
    /// afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or above 6,553,599 ms.</exception>
    public TimeSpan HeartbeatTtl
    {
        get;
        set
        {
            OptionRange.InRange(value, TimeSpan.Zero, LongestTtl);
            field = TimeSpan.FromMilliseconds(Math.Truncate(value.TotalMilliseconds / 100) * 100);
        }
    }

    /// <summary>
    /// How long after a heartbeat bytes must come in; otherwise the connection is closed and reconnected. Null (default):
    /// <see cref="HeartbeatInterval"/>. Zero: no limit. The native core has the option without effect. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan? HeartbeatTimeout
    {
        get;
        set => field = value is { } time ? OptionRange.Time(time, mayBeInfinite: false, nameof(value)) : null;
    }

    /// <summary>
    /// Send heartbeats only where they tell something: one right behind the handshake, then after an interval in which nothing came in, and
    /// at the latest two thirds of <see cref="HeartbeatTtl"/> after the last one. Default false: each interval, as the native core does.
    /// For endpoints made afterwards.
    /// </summary>
    /// <remarks>A context with more than 250 such connections asks those on which nothing else happens 250 times a second in all: of
    /// 10,000 each one every 40 s, with a longer ttl. What is sent or received on one brings its interval back.</remarks>
    public bool HeartbeatOnlyIfSilent { get; set; }

    /// <summary>
    /// The pause before a reconnect; a random part of it is added. Zero: no reconnect, and the endpoint is given up. Default 100 ms. For
    /// endpoints that may be down for long, set <see cref="ReconnectIntervalMax"/> too. <see cref="Timeout.InfiniteTimeSpan"/>: the
    /// application decides when. The event ConnectRetried reports each failure, the log only at Debug, and Disconnect and Connect begin the
    /// next attempt. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative and not infinite.</exception>
    public TimeSpan ReconnectInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: true); } =
        TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Above zero, pauses double from <see cref="ReconnectInterval"/> up to this, without the random part. Default zero. For endpoints made
    /// afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ReconnectIntervalMax { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// Connect again also after a fault of the protocol: an answer that is not ZMP, such as a load balancer's, a peer of a type that does
    /// not fit, a message over MaxMessageSize, whichever side finds it. Default true: the pauses grow from <see cref="ReconnectInterval"/>
    /// up to <see cref="ReconnectIntervalMax"/>, or 30 s where that is zero, and messages that wait to be sent stay queued. False, as
    /// in the native core: the socket gives the endpoint up for good (the event ConnectGivenUp). In neither case does the socket take back
    /// a routing id that another peer has. For endpoints made afterwards.
    /// </summary>
    /// <remarks>docs/protocol.md section 13.</remarks>
    public bool ReconnectAfterFault { get; set; } = true;

    /// <summary>
    /// Queue messages only for established connections: messages for a lost one are dropped, and sends wait for the next. Default false.
    /// For endpoints made afterwards.
    /// </summary>
    public bool Immediate { get; set; }

    /// <summary>
    /// Send this socket's type, and for DEALER and ROUTER its routing id, as metadata of its messages. Default false. For endpoints made
    /// afterwards.
    /// </summary>
    public bool SendMetadata { get; set; }

    /// <summary>
    /// The shards that connections may use, bit n for shard n. It separates a socket that must answer fast from another socket's slow
    /// handlers. Zero (default): all in turn. Not for inproc. For endpoints made afterwards.
    /// </summary>
    public ulong ShardAffinity { get; set; }

    internal bool IsConflating { get; private protected set; }

    internal override SocketOptions CopyOfAll()
    {
        var copy = (ZmpSocketOptions)base.CopyOfAll();
        copy._routingId = _hasGivenId ? _routingId : NewRoutingId(); // A ROUTER would refuse a second socket with the same one.
        return copy;
    }

    internal ZmpSettings Snapshot(ZmpSocketType type, byte[]? alias)
    {
        TimeSpan timeout = HeartbeatTimeout ?? HeartbeatInterval;
        return new ZmpSettings
        {
            Type = type,
            RoutingId = _routingId,
            SendsMetadata = SendMetadata,
            MaxMessageParts = MaxMessageParts,
            Heartbeat = new HeartbeatSettings(
                HeartbeatInterval, (ushort)(HeartbeatTtl.TotalMilliseconds / 100), timeout, HeartbeatOnlyIfSilent),
            ShardAffinity = ShardAffinity,
            Immediate = Immediate,
            Conflate = IsConflating,
            Reconnect = new ReconnectPolicy(ReconnectInterval, ReconnectIntervalMax),
            ReconnectAfterFault = ReconnectAfterFault,
            Alias = alias,
            Inbound = ReceiveLimits,
            Connection = ConnectionSettings(ZmpFrame.EffectiveLimit(MaxMessageSize ?? -1), TimeSpan.Zero, TimeSpan.Zero),
            Transport = TransportSettings,
        };
    }

    /// <summary>An RFC 4122 version 4 UUID, as bytes (docs/protocol.md section 11).</summary>
    private static byte[] NewRoutingId() => Guid.NewGuid().ToByteArray(bigEndian: true);
}
