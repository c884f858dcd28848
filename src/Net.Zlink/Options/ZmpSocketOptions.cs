using System.Globalization;
using Microsoft.Extensions.Configuration;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>Options that the seven ZMP socket types have in common. Defaults are the native core's unless the property says
/// otherwise.</summary>
public abstract class ZmpSocketOptions : SocketOptions
{
    // The wire has 16 bits for tenths of a second.
    private static readonly TimeSpan LongestTtl = TimeSpan.FromMilliseconds((ushort.MaxValue * 100) + 99);

    private byte[] _routingId;

    private protected ZmpSocketOptions()
    {
        // An RFC 4122 version 4 UUID, as bytes (docs/protocol.md section 11).
        _routingId = Guid.NewGuid().ToByteArray(bigEndian: true);
    }

    /// <summary>What this socket calls itself to its peers: 1 to 255 bytes; by default 16 random ones. For endpoints made afterwards
    /// (docs/protocol.md section 11).</summary>
    /// <remarks>Its peers must not have another of this id: who comes second is turned away, and what it has written by then is lost
    /// (docs/protocol.md section 15.3).</remarks>
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
        }
    }

    /// <summary><see cref="RoutingId"/> as text, for configuration, whose key is <c>RoutingId</c>. For endpoints made afterwards.</summary>
    /// <exception cref="FormatException">The value begins with <c>0x</c> and goes on with something else than pairs of hexadecimal digits,
    /// or is longer than 255 bytes.</exception>
    /// <exception cref="ArgumentException">The value is empty.</exception>
    [ConfigurationKeyName(nameof(RoutingId))]
    public string RoutingIdText
    {
        get => RoutingId.ToString();
        set => RoutingId = global::Net.Zlink.RoutingId.Parse(value, CultureInfo.InvariantCulture);
    }

    /// <summary>
    /// The largest part accepted from a peer, in bytes, control frames included; a longer one ends the connection on its header, before any
    /// memory is taken. Null (default): no limit but the 2 GiB of a .NET array.
    /// Handshakes are measured as well: 0 makes every one fail. Not for inproc. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative.</exception>
    public long? MaxMessageSize { get; set => field = OptionRange.OrNull(value, 0, "no limit"); }

    /// <summary>Most parts of one received message; more end the connection. Default 1,000,000: the native core has no limit, and so no
    /// defence against a peer that never ends a message. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is below 1.</exception>
    public int MaxMessageParts { get; set => field = OptionRange.InRange(value, 1); } = 1_000_000;

    /// <summary>Between two heartbeats that this side sends. Zero (default): none. For endpoints made afterwards (docs/protocol.md section
    /// 14).</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan HeartbeatInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); }

    /// <summary>
    /// How long the peer may wait for this side's next heartbeat before it gives the connection up, in steps of 100 ms, announced with each
    /// heartbeat; also the most that this side waits for the peer's.
    /// Zero (default): for ever. Choose it well above <see cref="HeartbeatInterval"/>. For endpoints made afterwards.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or above 6,553,599 ms.</exception>
    public TimeSpan HeartbeatTtl
    {
        get;
        set
        {
            OptionRange.TimeUpTo(value, LongestTtl);
            field = TimeSpan.FromMilliseconds(Math.Truncate(value.TotalMilliseconds / 100) * 100);
        }
    }

    /// <summary>After a heartbeat something must come in within this time, or the connection is closed and made anew. Null (default):
    /// <see cref="HeartbeatInterval"/>. Zero: for ever. The native core has the option and does not act on it. For endpoints made
    /// afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan? HeartbeatTimeout
    {
        get;
        set => field = value is { } time ? OptionRange.Time(time, mayBeInfinite: false, nameof(value)) : null;
    }

    /// <summary>The pause before a lost connection is made anew; a random part of its length is added. Zero: never. Default 100 ms. Where
    /// endpoints may be dead for long set <see cref="ReconnectIntervalMax"/>, too. For endpoints made afterwards.</summary>
    /// <exception cref="ArgumentOutOfRangeException">The value is negative or infinite.</exception>
    public TimeSpan ReconnectInterval { get; set => field = OptionRange.Time(value, mayBeInfinite: false); } =
        TimeSpan.FromMilliseconds(100);

    /// <summary>Above zero, pauses double from <see cref="ReconnectInterval"/> up to this, without the random part. Default zero. For
    /// endpoints made afterwards.</summary>
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

    /// <summary>Queue only for connections that are up: what waits for a lost one is dropped, and sends wait for the next. Default false.
    /// For endpoints made afterwards.</summary>
    public bool Immediate { get; set; }

    /// <summary>Tell peers this socket's type, and for DEALER and ROUTER its routing id, as properties of the messages they receive.
    /// Default false. For endpoints made afterwards.</summary>
    public bool SendMetadata { get; set; }

    /// <summary>
    /// The shards that connections may belong to: bit n is shard n. Zero (default): all, in turn. Keeps a socket that must answer fast off
    /// the shards of one whose handlers take long. Not for inproc. For endpoints made afterwards.
    /// </summary>
    public ulong ShardAffinity { get; set; }

    internal virtual bool IsConflating => false;

    internal ZmpSettings Snapshot(ZmpSocketType type, byte[]? alias)
    {
        TimeSpan timeout = HeartbeatTimeout ?? HeartbeatInterval;
        return new ZmpSettings
        {
            Type = type,
            RoutingId = _routingId,
            SendsMetadata = SendMetadata,
            MaxMessageSize = MaxMessageSize ?? -1,
            MaxMessageParts = MaxMessageParts,
            HandshakeInterval = HandshakeInterval,
            Heartbeat = new HeartbeatSettings(HeartbeatInterval, (ushort)(HeartbeatTtl.TotalMilliseconds / 100), timeout),
            ShardAffinity = ShardAffinity,
            Immediate = Immediate,
            Conflate = IsConflating,
            Reconnect = new ReconnectPolicy(ReconnectInterval, ReconnectIntervalMax),
            ReconnectAfterFault = ReconnectAfterFault,
            Alias = alias,
            Inbound = ReceiveLimits,
            Outbound = SendLimits,
            Connection = ConnectionSettings(ZmpFrame.EffectiveLimit(MaxMessageSize ?? -1), TimeSpan.Zero, TimeSpan.Zero),
            Transport = TransportSettings,
        };
    }
}
