using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>How a SPOT node behaves. Defaults are the native core's where it has them.</summary>
public sealed record SpotNodeOptions
{
    /// <summary>What registries list for the node's first advertised endpoint. Empty (default): 4 random bytes.</summary>
    public RoutingId RoutingId { get; init; }

    /// <summary>How many publications may wait for a loop of the node that sends and delivers them. 0 (default): they are sent and
    /// delivered on the publisher's thread.</summary>
    public int PublishQueueCapacity { get; init; }

    /// <summary>How many bytes may wait there, topics included; they count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. A
    /// publication always fits into an empty queue. Default 64 MiB.</summary>
    public long PublishQueueByteLimit { get; init; } = 64L * 1024 * 1024;

    /// <summary>What a full queue of publications does. Wait (default): TryPublish returns false, PublishAsync waits. The others accept,
    /// and count what they drop.</summary>
    public BoundedChannelFullMode PublishQueueFullMode { get; init; } = BoundedChannelFullMode.Wait;

    /// <summary>A publication waits, or is refused, while a node that wants it is at its high-water mark. False (default): that node misses
    /// it, which its peer statistics count.</summary>
    public bool NoDrop { get; init; }

    /// <summary>The host that is advertised where the bound endpoint has a wildcard. Null (default): the first address of this machine that
    /// leads out of it, or 127.0.0.1.</summary>
    /// <exception cref="ArgumentException">It is neither a name nor an address: it has a transport or a port, is empty, or nobody can
    /// connect to it. An IPv6 address needs no brackets.</exception>
    public string? AdvertiseHost { get; init => field = AdvertisedEndpoint.CheckedHost(value); }

    /// <summary>Between two heartbeats of a registration. Default 5 s. Keep it well below the lease time of the registries, 15 s by
    /// default.</summary>
    public TimeSpan HeartbeatInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a registry may take to answer; after that the connection to it is made anew. Default 5 s.</summary>
    public TimeSpan AckTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>After so much silence of a node this one asks whether it is there. Default 1 s; zero: never, as in the native core. Nothing
    /// is asked of nodes that are connected to this one: one that does not read only misses messages.</summary>
    /// <remarks>docs/protocol.md section 14 says when heartbeats are sent, and how often to nodes of which there are more than
    /// 1,000.</remarks>
    public TimeSpan PeerHeartbeatInterval { get; init; } = ServiceHeartbeats.Interval;

    /// <summary>How long a node may leave that unanswered; then it is connected anew. Null (default): 3 s, and 5 min in the Development
    /// environment of a host.</summary>
    public TimeSpan? PeerHeartbeatTimeout { get; init; }

    /// <summary>Of how much silence such a node, also a native one, may take this one for gone. Null (default): 15 s, or the timeout if
    /// that is longer. Longer than <see cref="PeerHeartbeatInterval"/>.</summary>
    public TimeSpan? PeerHeartbeatTtl { get; init; }

    /// <summary>How long a connection that works stays when its node was taken out of a <see cref="StaticDirectory"/>, or has left a
    /// registry of Net.Zlink by word: it unregistered, or <see cref="Registry.Remove"/> removed it. Default 5 s; the native core cuts it at
    /// once.</summary>
    public TimeSpan RemovedEndpointTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a connection that works stays when its node is not listed any more and nobody says that it has left: registries
    /// may have lost it. Default 15 s, the lease time of registries.</summary>
    public TimeSpan ForgottenEndpointTimeout { get; init; } = TimeSpan.FromSeconds(15);

    /// <summary>Which endpoints of directories are connected to. <see cref="SpotNode.GetPeers"/> says why one is not, and the log does
    /// once. <see cref="SpotNode.Connect"/> is not asked about.</summary>
    public DirectoryEndpointOptions DirectoryEndpoints { get; init; } = new();

    /// <summary>Most nodes that are dialled at a time. A quarter is kept for those that were never tried, and a quarter for those that were
    /// connected. While others wait, one that does not answer has 1 s, and more with each attempt. Default 64.</summary>
    /// <remarks>The pauses between attempts grow with the number of nodes that fail; those of <see cref="ConfigureSubscriber"/> do not
    /// apply.</remarks>
    public int MaxConcurrentDials { get; init; } = 64;

    /// <summary>Changes the options of the socket that other nodes connect to, before it is made: TLS, limits, linger time.</summary>
    public Action<PubOptions>? ConfigurePublisher { get; init; }

    /// <summary>Changes the options of the socket that is connected to other nodes, before it is made: TLS, limits, heartbeats.</summary>
    public Action<SubOptions>? ConfigureSubscriber { get; init; }

    /// <summary>Changes the options of the connections to registries: TLS, heartbeats. Called once for each connection that is
    /// made.</summary>
    public Action<DealerOptions>? ConfigureRegistryConnection { get; init; }

    internal void Validate()
    {
        DirectoryEndpoints.Validate();
        GatewayOptions.CheckPositive(HeartbeatInterval, nameof(HeartbeatInterval));
        GatewayOptions.CheckPositive(AckTimeout, nameof(AckTimeout));
        GatewayOptions.CheckCount(PublishQueueCapacity, least: 0, nameof(PublishQueueCapacity));
        GatewayOptions.CheckCount(PublishQueueByteLimit, least: 1, nameof(PublishQueueByteLimit));
        GatewayOptions.CheckDefined(PublishQueueFullMode, nameof(PublishQueueFullMode));
        GatewayOptions.CheckTime(PeerHeartbeatInterval, nameof(PeerHeartbeatInterval));
        GatewayOptions.CheckTime(RemovedEndpointTimeout, nameof(RemovedEndpointTimeout));
        GatewayOptions.CheckTime(ForgottenEndpointTimeout, nameof(ForgottenEndpointTimeout));
        GatewayOptions.CheckCount(MaxConcurrentDials, least: 1, nameof(MaxConcurrentDials));
    }
}

/// <summary>The queue of a subscriber.</summary>
public sealed record SpotSubscriberOptions
{
    /// <summary>How many messages may wait. Default 100,000, as the native core has it.</summary>
    public int Capacity { get; init; } = 100_000;

    /// <summary>How many bytes may wait, topics included. A message always fits into an empty queue. Default 64 MiB.</summary>
    public long ByteLimit { get; init; } = 64 * 1024 * 1024;

    /// <summary>What is dropped when the queue is full. Default: the message that arrives.</summary>
    public SpotOverflow Overflow { get; init; }
}
