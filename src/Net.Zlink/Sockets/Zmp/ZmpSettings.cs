using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <summary>The options of one endpoint of a ZMP socket, as they were when it was bound or connected.</summary>
internal sealed record ZmpSettings
{
    public required ZmpSocketType Type { get; init; }

    /// <summary>What HELLO announces: 1 to 255 bytes.</summary>
    public required byte[] RoutingId { get; init; }

    /// <summary>READY carries Socket-Type (and Identity).</summary>
    public required bool SendsMetadata { get; init; }

    /// <summary>Largest frame body accepted; negative: whatever an array can hold.</summary>
    public required long MaxMessageSize { get; init; }

    /// <summary>Most parts of one message: a peer that never ends a message must not fill the memory with empty parts.</summary>
    public required int MaxMessageParts { get; init; }

    /// <summary>From the transport being up to the peer's READY; zero: no limit.</summary>
    public required TimeSpan HandshakeInterval { get; init; }

    public required HeartbeatSettings Heartbeat { get; init; }

    /// <summary>Which shards connections may belong to, bit n being shard n; zero: all.</summary>
    public ulong ShardAffinity { get; init; }

    /// <summary>A connecting pipe exists only while its connection does.</summary>
    public required bool Immediate { get; init; }

    /// <summary>Only the newest message of a pipe is kept.</summary>
    public required bool Conflate { get; init; }

    public required ReconnectPolicy Reconnect { get; init; }

    /// <summary>Connect again also after a fault that ends an endpoint for good otherwise.</summary>
    public bool ReconnectAfterFault { get; init; }

    /// <summary>The name of the next connect's peer, for ROUTER.</summary>
    public byte[]? Alias { get; init; }

    public required QueueLimits Inbound { get; init; }

    public required QueueLimits Outbound { get; init; }

    public required ConnectionSettings Connection { get; init; }

    public required TransportSettings Transport { get; init; }
}

/// <summary>The heartbeat options of one endpoint.</summary>
/// <param name="Interval">Between two heartbeats; zero: none are sent.</param>
/// <param name="TtlTenths">What is announced, in tenths of a second.</param>
/// <param name="Timeout">How long after a heartbeat something must come in; zero: for ever.</param>
internal sealed record HeartbeatSettings(TimeSpan Interval, ushort TtlTenths, TimeSpan Timeout);
