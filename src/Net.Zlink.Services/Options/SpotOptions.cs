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

    /// <summary>What a full queue of publications does. Wait (default): TryPublish returns false, PublishAsync waits. The others accept,
    /// and count what they drop.</summary>
    public BoundedChannelFullMode PublishQueueFullMode { get; init; } = BoundedChannelFullMode.Wait;

    /// <summary>A publication waits, or is refused, while a node that wants it is at its high-water mark. False (default): that node misses
    /// it, which its peer statistics count.</summary>
    public bool NoDrop { get; init; }

    /// <summary>The host that is advertised where the bound endpoint has a wildcard. Null (default): the first address of this machine that
    /// leads out of it, or 127.0.0.1.</summary>
    public string? AdvertiseHost { get; init; }

    /// <summary>Between two heartbeats of a registration. Default 5 s. Keep it well below the lease time of the registries, 15 s by
    /// default.</summary>
    public TimeSpan HeartbeatInterval { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a registry may take to answer; after that the connection to it is made anew. Default 5 s.</summary>
    public TimeSpan AckTimeout { get; init; } = TimeSpan.FromSeconds(5);

    /// <summary>Changes the options of the socket that other nodes connect to, before it is made: TLS, limits, linger time.</summary>
    public Action<PubOptions>? ConfigurePublisher { get; init; }

    /// <summary>Changes the options of the socket that is connected to other nodes, before it is made: TLS, limits, heartbeats.</summary>
    public Action<SubOptions>? ConfigureSubscriber { get; init; }

    /// <summary>Changes the options of the connections to registries: TLS, heartbeats. Called once for each connection that is
    /// made.</summary>
    public Action<DealerOptions>? ConfigureRegistryConnection { get; init; }
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
