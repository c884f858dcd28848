using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Ports;
using Net.Zlink.Services;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Makes the sockets of a pattern with our library: all in one context, as the native programs do it.</summary>
internal sealed class ManagedProgram : IDisposable
{
    private const string Topic = "bench";

    private static readonly byte[] ServerId = "ROUTER1"u8.ToArray();

    private readonly ZlinkContext _context = new();
    private readonly Certificates? _certificates;
    private readonly PatternCase _what;
    private readonly IPatternRun _run;

    private ManagedProgram(PatternCase what, IPatternRun run)
    {
        _what = what;
        _run = run;
        _certificates = Certificates.For(what.Transport);
    }

    /// <param name="what">What is measured.</param>
    /// <param name="run">How.</param>
    /// <param name="batch">Send in batches, where a pattern does so.</param>
    /// <exception cref="NotInThisBuildException">The transport is refused.</exception>
    public static void Run(PatternCase what, IPatternRun run, bool batch = false)
    {
        using var program = new ManagedProgram(what, run);
        switch (what.Pattern)
        {
            case PatternNames.Pair:
                program.RunDuplex(static context => context.CreatePair(), hasWayBack: true);
                break;
            case PatternNames.DealerDealer:
                program.RunDuplex(static context => context.CreateDealer(), what.Clients == 1);
                break;
            case PatternNames.PubSub:
                program.RunPubSub();
                break;
            case PatternNames.DealerRouter:
                program.RunDealerRouter();
                break;
            case PatternNames.Stream:
                program.RunStream();
                break;
            case PatternNames.Gateway or PatternNames.GatewayRequest:
                program.RunGateway(batch);
                break;
            case PatternNames.Spot:
                program.RunSpot(batch);
                break;
            default:
                program.RunRouters();
                break;
        }
    }

    public void Dispose()
    {
        _context.Dispose();
        _certificates?.Dispose();
    }

    private static byte[] ClientId(int client) =>
        System.Text.Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"CLIENT_{client}"));

    private static RouterOptions RouterOptions(byte[] id) => new() { RoutingId = id, Mandatory = true };

    private void RunDuplex(Func<ZlinkContext, DuplexSocket> newSocket, bool hasWayBack)
    {
        DuplexSocket server = newSocket(_context);
        DuplexSocket[] clients = Connected(server, _ => newSocket(_context));
        Measure(new TowardsServer<DuplexPort, DuplexPort>(
            new DuplexPort(server), [.. clients.Select(static client => new DuplexPort(client))], hasWayBack), [server, .. clients]);
    }

    private void RunPubSub()
    {
        // Every message is waited for, so none may be dropped: beyond its limits this publisher waits. The native one has no limit in
        // bytes, and none of its counts reaches its mark.
        PubSocket publisher = _context.CreatePub(new PubOptions { NoDrop = true });
        SubSocket[] subscribers = Connected(publisher, _ =>
        {
            SubSocket subscriber = _context.CreateSub();
            subscriber.Subscribe("");
            return subscriber;
        });
        Measure(new FromServer<PubPort, SubPort>(
            new PubPort(publisher), [.. subscribers.Select(static subscriber => new SubPort(subscriber))]), [publisher, .. subscribers]);
    }

    private void RunDealerRouter()
    {
        RouterSocket router = _context.CreateRouter();
        DealerSocket[] dealers = Connected(router, client => _context.CreateDealer(new DealerOptions { RoutingId = ClientId(client) }));
        Measure(new TowardsServer<RouterPort, DuplexPort>(
            new RouterPort(router, []), [.. dealers.Select(static dealer => new DuplexPort(dealer))], hasWayBack: true),
            [router, .. dealers]);
    }

    private void RunRouters()
    {
        RouterSocket server = _context.CreateRouter(RouterOptions(ServerId));
        RouterSocket[] clients = Connected(server, client => _context.CreateRouter(RouterOptions(ClientId(client))));
        if (_what.Pattern is not PatternNames.RouterRouterPoll)
        {
            Measure(new TowardsServer<RouterPort, RouterPort>(
                new RouterPort(server, []), [.. clients.Select(static client => new RouterPort(client, ServerId))], hasWayBack: true),
                [server, .. clients]);
            return;
        }

        var pollers = new List<SocketPoller>();
        try
        {
            Measure(new TowardsServer<PolledRouterPort,
                PolledRouterPort>(Polled(server, []), [.. clients.Select(client => Polled(client, ServerId))], hasWayBack: true),
                [server, .. clients]);
        }
        finally
        {
            pollers.ForEach(static poller => poller.Dispose());
        }

        PolledRouterPort Polled(RouterSocket socket, byte[] peer)
        {
            var poller = new SocketPoller();
            pollers.Add(poller);
            poller.Add(socket, PollEvents.In);
            return new PolledRouterPort(socket, peer, poller);
        }
    }

    private void RunStream()
    {
        StreamSocket server = _context.CreateStream(StreamOptions());
        UseAsServer(server.Options);
        string endpoint = Bound(server.Bind);
        var ports = new StreamPort[_what.Clients];
        for (int i = 0; i < ports.Length; i++)
        {
            StreamSocket client = _context.CreateStream(StreamOptions());
            UseAsClient(client.Options);
            ports[i] = new StreamPort(client, client.ConnectAsync(endpoint).AsTask().GetAwaiter().GetResult());
        }

        _run.Measure(new TowardsServer<StreamPort, StreamPort>(new StreamPort(server, 0), ports, hasWayBack: true),
            () => [server.Describe()]);
    }

    private void RunGateway(bool batch)
    {
        using var services = new ManagedServices(_context, _what.Clients, Bound, UseAsServer, UseAsClient);
        if (_what.Pattern is PatternNames.GatewayRequest)
        {
            services.MeasureRequests(_run, _what.Size);
        }
        else
        {
            services.MeasureFlood(_run, batch);
        }
    }

    /// <summary>A node that publishes, and one with all subscribers.</summary>
    private void RunSpot(bool batch)
    {
        var options = new SpotNodeOptions { PublisherSocket = { NoDrop = true } };
        UseAsServer(options.PublisherSocket);
        UseAsClient(options.SubscriberSocket);
        using var publishing = new SpotNode(_context, options);
        using var subscribing = new SpotNode(_context, options);
        subscribing.Connect(Bound(publishing.Bind));
        var subscribers = new SpotSubscriberPort[_what.Clients];
        for (int i = 0; i < subscribers.Length; i++)
        {
            // Every message is waited for, so none may be dropped.
            SpotSubscriber subscriber = subscribing.CreateSubscriber(
                new SpotSubscriberOptions { Capacity = int.MaxValue, ByteLimit = long.MaxValue });
            subscriber.Subscribe(Topic);
            subscribers[i] = new SpotSubscriberPort(subscriber);
        }

        _run.Measure(
            new FromServer<SpotPublisherPort, SpotSubscriberPort>(
                new SpotPublisherPort(publishing.CreatePublisher(Topic), batch), subscribers, subscribers.Length == 1 && !batch ? 1 : 0),
            () => [publishing.Describe(), subscribing.Describe()]);
    }

    private StreamOptions StreamOptions()
    {
        var options = new StreamOptions();
        return options.MaxMessageSize >= _what.Size ? options : new StreamOptions { MaxMessageSize = _what.Size };
    }

    private void UseAsServer(SocketOptions options)
    {
        if (_certificates is { } certificates)
        {
            options.Tls.CertificateFile = certificates.CertificateFile;
            options.Tls.KeyFile = certificates.KeyFile;
        }
    }

    private void UseAsClient(SocketOptions options)
    {
        if (_certificates is { } certificates)
        {
            options.Tls.CaFile = certificates.CertificateFile;
            options.Tls.HostName = Certificates.Host;
            options.Tls.TrustSystem = false;
        }
    }

    /// <summary>Binds the server and connects clients to it.</summary>
    private T[] Connected<T>(ZmpSocket server, Func<int, T> newClient)
        where T : ZmpSocket
    {
        UseAsServer(server.Options);
        string endpoint = Bound(server.Bind);
        T[] clients = [.. Enumerable.Range(0, _what.Clients).Select(newClient)];
        foreach (T client in clients)
        {
            UseAsClient(client.Options);
            client.Connect(endpoint);
        }

        Settling.Rest();
        return clients;
    }

    private string Bound(Func<string, string> bind)
    {
        try
        {
            return bind(Endpoints.Of(_what.Transport));
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.ProtocolNotSupported or ZlinkError.NotSupported or ZlinkError.NotCompatible)
        {
            throw new NotInThisBuildException($"not in this build: {e.Message}");
        }
    }

    private void Measure<TEnds>(TEnds ends, ZmpSocket[] sockets)
        where TEnds : struct, IPatternEnds =>
        _run.Measure(ends, () => sockets.Select(static socket =>
            $"{socket.Describe()} can send: {socket.CanSend}, can receive: {socket.CanReceive}"));
}
