namespace Net.Zlink.Services;

/// <summary>How a receiver behaves. Defaults are the native core's where it has them.</summary>
public sealed record ReceiverOptions
{
    /// <summary>What the receiver's socket calls itself, and what registries list for its first advertised endpoint. Empty (default): the
    /// socket has 5 random bytes, and each endpoint is listed with an id made of its text, which survives a restart on the same port. An id
    /// that <see cref="ConfigureSocket"/> or the socket's options set counts as given, too.</summary>
    public RoutingId RoutingId { get; init; }

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

    /// <summary>Changes the options of the socket that gateways connect to, before it is made: TLS, limits, linger time.</summary>
    public Action<RouterOptions>? ConfigureSocket { get; init; }

    /// <summary>Changes the options of the connections to registries: TLS, heartbeats. Called once for each connection that is
    /// made.</summary>
    public Action<DealerOptions>? ConfigureRegistryConnection { get; init; }

    /// <summary>Whether <see cref="Receiver.ServeAsync"/> begins each handler as work of its own on the thread pool. False (default): on
    /// the thread that received the request, which costs least, but a handler that blocks holds all others up. True: a handler that blocks
    /// holds one thread of the pool. Receivers of Net.Zlink.Extensions.Hosting have true.</summary>
    public bool RunHandlersOnPool { get; init; }

    /// <summary>How many bytes of requests <see cref="Receiver.ServeAsync"/> reads ahead of its handlers, beside the limit of 1,024
    /// requests. They count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. What comes behind them waits in the socket and then
    /// at the gateways. One batch of up to 64 requests may exceed it where larger ones come than before. Default 16 MiB.</summary>
    public long ReadAheadByteLimit { get; init; } = 16 * 1024 * 1024;
}
