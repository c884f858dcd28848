namespace Net.Zlink.Services;

/// <summary>How a receiver behaves. Defaults are the native core's where it has them. Copied when the receiver is made.</summary>
public sealed class ServiceReceiverOptions
{
    // What the native receiver has for both directions.
    private const int HighWaterMark = 1_000_000;

    private RoutingId _madeUpId = RandomRoutingId.Make(zeros: 1);

    /// <summary>Options with their defaults.</summary>
    public ServiceReceiverOptions() => Socket = new RouterOptions
    {
        RoutingId = _madeUpId,
        SendHighWaterMark = HighWaterMark,
        ReceiveHighWaterMark = HighWaterMark,
        Linger = TimeSpan.FromSeconds(5), // Replies that were accepted before the end get this long to leave.
    };

    /// <summary>The options of the socket that gateways connect to: TLS, limits. Unlike a ROUTER's defaults: marks of 1,000,000, as in the
    /// native core, and a linger time of 5 s. <see cref="RouterOptions.OnDuplicateRoutingId"/> is the receiver's own.</summary>
    /// <remarks>Its routing id is what registries list for the first advertised endpoint, if it is set. Otherwise the socket has 5 random
    /// bytes, and each endpoint is listed with an id made of its text, which survives a restart on the same port.</remarks>
    public RouterOptions Socket { get; private set; }

    /// <summary>The options of the connections to registries, each of which is a socket of its own: TLS, WebSocket. Unlike a DEALER's
    /// defaults: a heartbeat every 4 s, a linger time of 1 s, and pauses from 200 ms up to 5 s between attempts.
    /// <see cref="ZmpSocketOptions.RoutingId"/> and <see cref="ZmpSocketOptions.Immediate"/> are the receiver's own.</summary>
    public DealerOptions RegistrySocket { get; private set; } = RegistryConnection.Defaults();

    /// <summary>The host that is advertised where the bound endpoint has a wildcard: a name or an address, without transport and port. An
    /// IPv6 address needs no brackets. Null (default): the first address of this machine that leads out of it, or 127.0.0.1.</summary>
    public string? AdvertiseHost { get; set; }

    /// <summary>Between two heartbeats of a registration. Default 5 s. Keep it well below the lease time of the registries, 15 s by
    /// default.</summary>
    public TimeSpan HeartbeatInterval { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long a registry may take to answer; after that the connection to it is made anew. Default 5 s.</summary>
    public TimeSpan AckTimeout { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>Whether <see cref="ServiceReceiver.ServeAsync"/> begins each handler as work of its own on the thread pool. False
    /// (default): on
    /// the thread that received the request, which costs least, but a handler that blocks holds all others up. True: a handler that blocks
    /// holds one thread of the pool. Receivers of Net.Zlink.Extensions.Hosting have true.</summary>
    public bool RunHandlersOnPool { get; set; }

    /// <summary>How many bytes of requests <see cref="ServiceReceiver.ServeAsync"/> reads ahead of its handlers, beside the limit of 1,024
    /// requests. They count in <see cref="ZlinkContextOptions.QueuedByteLimit"/>, too. What comes behind them waits in the socket and then
    /// at the gateways. One batch of up to 64 requests may exceed it where larger ones come than before. Default 16 MiB.</summary>
    public long ReadAheadByteLimit { get; set; } = 16 * 1024 * 1024;

    /// <summary>Checks the values.</summary>
    /// <exception cref="ArgumentException">One is out of its range, or <see cref="AdvertiseHost"/> is neither a name nor an address, or
    /// nobody can connect to it. The message names the property and says what it takes.</exception>
    public void Validate()
    {
        AdvertisedEndpoint.CheckHost(AdvertiseHost);
        OptionRange.TimeAboveZero(HeartbeatInterval);
        OptionRange.TimeAboveZero(AckTimeout);
        OptionRange.InRange(ReadAheadByteLimit, 1);
    }

    /// <summary>Whether an id is what was made up here, and not given by the application.</summary>
    internal bool IsMadeUp(RoutingId id) => id.Equals(_madeUpId);

    internal ServiceReceiverOptions ValidCopy()
    {
        Validate();
        var copy = (ServiceReceiverOptions)MemberwiseClone();
        copy.Socket = Socket.Copy();
        copy.RegistrySocket = RegistrySocket.Copy();
        if (IsMadeUp(Socket.RoutingId))
        {
            copy.Socket.RoutingId = copy._madeUpId = RandomRoutingId.Make(zeros: 1); // Each receiver of these options has its own.
        }

        return copy;
    }
}
