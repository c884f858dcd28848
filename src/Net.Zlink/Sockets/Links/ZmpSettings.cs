using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Links;

internal sealed record ZmpSettings
{
    public required ZmpSocketType Type { get; init; }

    public required byte[] RoutingId { get; init; }

    public required bool SendsMetadata { get; init; }

    /// <summary>The limit of parts in one message: an endless message of empty parts must not fill the memory.</summary>
    public required int MaxMessageParts { get; init; }

    /// <summary>From the connected transport to the peer's READY.</summary>
    public TimeSpan HandshakeInterval => Transport.HandshakeTimeout;

    public required HeartbeatSettings Heartbeat { get; init; }

    /// <summary>The shards that connections may use, bit n for shard n.</summary>
    public ulong ShardAffinity { get; init; }

    public required bool Immediate { get; init; }

    public required bool Conflate { get; init; }

    public required ReconnectPolicy Reconnect { get; init; }

    public bool ReconnectAfterFault { get; init; }

    public byte[]? Alias { get; init; }

    public required QueueLimits Inbound { get; init; }

    public required ConnectionSettings Connection { get; init; }

    public required TransportSettings Transport { get; init; }
}

/// <summary><paramref name="Interval"/>: zero: none are sent.</summary>
internal sealed record HeartbeatSettings(TimeSpan Interval, ushort TtlTenths, TimeSpan Timeout, bool OnlyIfSilent = false);
