using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>How a SPOT node behaves. Defaults are the native core's where it has them. Copied when the node is made.</summary>
public sealed class SpotNodeOptions
{
    /// <summary>What registries list for the node's first advertised endpoint. Empty (default): 4 random bytes.</summary>
    public RoutingId RoutingId { get; set; }

    /// <summary>How many publications may wait for a loop of the node that sends and delivers them. 0 (default): they are sent and
    /// delivered on the publisher's thread.</summary>
    public int PublishQueueCapacity { get; set; }

    /// <summary>How many bytes may wait there, topics included; they count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. A
    /// publication always fits into an empty queue. Default 64 MiB.</summary>
    public long PublishQueueByteLimit { get; set; } = 64L * 1024 * 1024;

    /// <summary>What a full queue of publications does. Wait (default): TryPublish returns false, PublishAsync waits. The others accept,
    /// and count what they drop.</summary>
    public BoundedChannelFullMode PublishQueueFullMode { get; set; } = BoundedChannelFullMode.Wait;

    /// <inheritdoc cref="ServiceReceiverOptions.AdvertiseHost"/>
    public string? AdvertiseHost { get; set; }

    /// <summary>Between two heartbeats of a registration. Default 5 s. Keep it well below the lease time of the registries, 15 s by
    /// default.</summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a registry may take to answer; after that the connection to it is made anew. Default 5 s.</summary>
    public TimeSpan AckTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a connection that works stays when its node was taken out of a <see cref="StaticDirectory"/>, or has left a
    /// registry of Net.Zlink by word: it unregistered, or <see cref="ServiceRegistry.Remove"/> removed it. Default 5 s; the native core
    /// cuts it at once.</summary>
    public TimeSpan RemovedEndpointTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a connection that works stays when its node is not listed any more and nobody says that it has left: registries
    /// may have lost it. Default 15 s, the lease time of registries.</summary>
    public TimeSpan ForgottenEndpointTimeout { get; set; } = TimeSpan.FromSeconds(15);

    /// <summary>Which endpoints of directories are connected to. <see cref="SpotNode.GetPeers"/> says why one is not, and the log does
    /// once. <see cref="SpotNode.Connect"/> is not asked about.</summary>
    public DirectoryEndpointOptions DirectoryEndpoints { get; private set; } = new();

    /// <summary>Most nodes that are dialled at a time. A quarter is kept for those that were never tried, and a quarter for those that were
    /// connected. While others wait, one that does not answer has 1 s, and more with each attempt. Default 64.</summary>
    /// <remarks>The pauses between attempts grow with the number of nodes that fail; those of <see cref="SubscriberSocket"/> do not
    /// apply.</remarks>
    public int MaxConcurrentDials { get; set; } = 64;

    /// <summary>The options of the socket that other nodes connect to: TLS, limits. Unlike a PUB's defaults: a linger time of 5 s. With
    /// <see cref="PubOptions.NoDrop"/> a publication waits, or is refused, while a node that wants it is at its high-water mark. Without
    /// it that node misses it, which its peer statistics count.</summary>
    public PubOptions PublisherSocket { get; private set; } = new() { Linger = TimeSpan.FromSeconds(5) };

    /// <summary>The options of the socket that is connected to other nodes: TLS, limits, heartbeats. Unlike a SUB's defaults: after 1 s of
    /// a node's silence this one asks whether it is there (zero: never, as in the native core). A node that leaves that unanswered for 3
    /// s, and 5 min in the Development environment of a host, is connected anew. Of 15 s of silence, or the timeout if that is longer, a
    /// node may take this one for gone.</summary>
    /// <remarks>Nothing is asked of nodes that are connected to this one: one that does not read only misses messages. docs/protocol.md
    /// section 14 says when heartbeats are sent, and how often to nodes of which there are more than 1,000.</remarks>
    public SubOptions SubscriberSocket { get; private set; } = ServiceHeartbeats.Defaults(new SubOptions());

    /// <inheritdoc cref="ServiceReceiverOptions.RegistrySocket"/>
    public DealerOptions RegistrySocket { get; private set; } = RegistryConnection.Defaults();

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is out of its range, or <see cref="AdvertiseHost"/> is neither a name nor an address, or
    /// nobody can connect to it. The message names the property and says what it takes.</exception>
    public void Validate()
    {
        OptionRange.InRange(PublishQueueCapacity, 0);
        OptionRange.InRange(PublishQueueByteLimit, 1);
        OptionRange.Defined(PublishQueueFullMode);
        AdvertisedEndpoint.CheckHost(AdvertiseHost);
        OptionRange.TimeAboveZero(HeartbeatInterval);
        OptionRange.TimeAboveZero(AckTimeout);
        OptionRange.Time(RemovedEndpointTimeout, mayBeInfinite: true);
        OptionRange.Time(ForgottenEndpointTimeout, mayBeInfinite: true);
        OptionRange.InRange(MaxConcurrentDials, 1);
        DirectoryEndpoints.Validate();
    }

    internal SpotNodeOptions ValidCopy()
    {
        Validate();
        var copy = (SpotNodeOptions)MemberwiseClone();
        copy.RoutingId = RoutingId.IsEmpty ? RandomRoutingId.Make(zeros: 0) : RoutingId.Copy();
        copy.DirectoryEndpoints = DirectoryEndpoints.Copy();
        copy.PublisherSocket = PublisherSocket.Copy();
        copy.SubscriberSocket = ServiceHeartbeats.Completed(SubscriberSocket.Copy());
        copy.RegistrySocket = RegistrySocket.Copy();
        return copy;
    }
}

/// <summary>The queue of a subscriber. Copied when the subscriber is made.</summary>
public sealed class SpotSubscriberOptions
{
    /// <summary>How many messages may wait. Default 100,000, as the native core has it.</summary>
    public int Capacity { get; set; } = 100_000;

    /// <summary>How many bytes may wait, topics included. A message always fits into an empty queue. Default 64 MiB.</summary>
    public long ByteLimit { get; set; } = 64 * 1024 * 1024;

    /// <summary>What is dropped when the queue is full. Default: the message that arrives.</summary>
    public SpotOverflow Overflow { get; set; }

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentOutOfRangeException">One is out of its range; the message names the property and says what it
    /// takes.</exception>
    public void Validate()
    {
        OptionRange.InRange(Capacity, 1);
        OptionRange.InRange(ByteLimit, 1);
        OptionRange.Defined(Overflow);
    }

    internal SpotSubscriberOptions ValidCopy()
    {
        Validate();
        return (SpotSubscriberOptions)MemberwiseClone();
    }
}
