using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>The options of one endpoint of a ZMP socket when it was bound or connected.</summary>
internal sealed record ZmpSettings
{
    public required ZmpSocketType Type { get; init; }

    /// <summary>The routing id in HELLO: 1 to 255 bytes.</summary>
    public required byte[] RoutingId { get; init; }

    public required bool SendsMetadata { get; init; }

    /// <summary>The largest accepted frame body. Negative: the largest array.</summary>
    public required long MaxMessageSize { get; init; }

    /// <summary>The limit of parts in one message: an endless message of empty parts must not fill the memory.</summary>
    public required int MaxMessageParts { get; init; }

    /// <summary>From the connected transport to the peer's READY. Zero: no limit.</summary>
    public required TimeSpan HandshakeInterval { get; init; }

    public required HeartbeatSettings Heartbeat { get; init; }

    /// <summary>The shards that connections may use, bit n for shard n. Zero: all.</summary>
    public ulong ShardAffinity { get; init; }

    /// <summary>A connecting link exists only while its connection does.</summary>
    public required bool Immediate { get; init; }

    /// <summary>Only the newest message of a link is kept.</summary>
    public required bool Conflate { get; init; }

    public required ReconnectPolicy Reconnect { get; init; }

    /// <summary>Reconnect also after a fault that otherwise ends an endpoint.</summary>
    public bool ReconnectAfterFault { get; init; }

    public byte[]? Alias { get; init; }

    public required QueueLimits Inbound { get; init; }

    public required QueueLimits Outbound { get; init; }

    public required ConnectionSettings Connection { get; init; }

    public required TransportSettings Transport { get; init; }
}

/// <summary>The heartbeat options of one endpoint.</summary>
/// <param name="Interval">The time between two heartbeats. Zero: none are sent.</param>
/// <param name="TtlTenths">The announced TTL in tenths of a second.</param>
/// <param name="Timeout">How long after a heartbeat bytes must come in. Zero: no limit.</param>
internal sealed record HeartbeatSettings(TimeSpan Interval, ushort TtlTenths, TimeSpan Timeout);
