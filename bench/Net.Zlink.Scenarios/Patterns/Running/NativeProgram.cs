using System.Globalization;
using System.Text;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Makes the sockets of a pattern with the native library, with the same options as ours.</summary>
internal sealed class NativeProgram : IDisposable
{
    // EINVAL, EPROTONOSUPPORT and EOPNOTSUPP as Linux numbers them, and the library's own "not compatible".
    private static readonly int[] Refusals = [22, 93, 95, 156_384_764];

    private static readonly byte[] ServerId = "ROUTER1"u8.ToArray();

    private readonly nint _context = NativeFunctions.zlink_ctx_new();
    private readonly List<NativeSocket> _sockets = [];
    private readonly Certificates? _certificates;
    private readonly PatternCase _what;

    private NativeProgram(PatternCase what)
    {
        _what = what;
        _certificates = Certificates.For(what.Transport);
    }

    /// <exception cref="NotInThisBuildException">The transport is refused.</exception>
    public static void Run(PatternCase what, IPatternRun run)
    {
        using var program = new NativeProgram(what);
        switch (what.Pattern)
        {
            case PatternNames.Pair:
                program.RunPlain(NativeSocketType.Pair, NativeSocketType.Pair, hasWayBack: true, run);
                break;
            case PatternNames.DealerDealer:
                program.RunPlain(NativeSocketType.Dealer, NativeSocketType.Dealer, what.Clients == 1, run);
                break;
            case PatternNames.PubSub:
                program.RunPubSub(run);
                break;
            case PatternNames.DealerRouter:
                program.RunDealerRouter(run);
                break;
            case PatternNames.Stream:
                program.RunStream(run);
                break;
            case PatternNames.Gateway or PatternNames.GatewayRequest:
                program.RunGateway(run);
                break;
            case PatternNames.Spot:
                program.RunSpot(run);
                break;
            default:
                program.RunRouters(run);
                break;
        }
    }

    public void Dispose()
    {
        _sockets.ForEach(static socket => socket.Dispose());
        _ = NativeFunctions.zlink_ctx_term(_context);
        _certificates?.Dispose();
    }

    private static byte[] ClientId(int client) => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"CLIENT_{client}"));

    private static void Measure<TEnds>(TEnds ends, IPatternRun run)
        where TEnds : struct, IPatternEnds => run.Measure(ends, static () => ["native sockets: nothing to tell"]);

    private NativeSocket Make(NativeSocketType type)
    {
        var socket = new NativeSocket(_context, type);
        _sockets.Add(socket);
        return socket;
    }

    private void RunPlain(NativeSocketType serverType, NativeSocketType clientType, bool hasWayBack, IPatternRun run)
    {
        NativeSocket server = Make(serverType);
        NativePort[] clients = [.. Connected(server, _ => Make(clientType)).Select(static client => new NativePort(client))];
        Measure(new TowardsServer<NativePort, NativePort>(new NativePort(server), clients, hasWayBack), run);
    }

    private void RunPubSub(IPatternRun run)
    {
        NativeSocket publisher = Make(NativeSocketType.Pub);
        NativePort[] subscribers =
        [
            .. Connected(publisher, _ =>
            {
                NativeSocket subscriber = Make(NativeSocketType.Sub);
                subscriber.Set(NativeOption.Subscribe, []);
                return subscriber;
            }).Select(static subscriber => new NativePort(subscriber)),
        ];
        Measure(new FromServer<NativePort, NativePort>(new NativePort(publisher), subscribers), run);
    }

    private void RunDealerRouter(IPatternRun run)
    {
        NativeSocket router = Make(NativeSocketType.Router);
        NativePort[] dealers = [.. Connected(router, client => WithId(Make(NativeSocketType.Dealer), ClientId(client)))
            .Select(static dealer => new NativePort(dealer))];
        Measure(new TowardsServer<NativeRoutedPort, NativePort>(new NativeRoutedPort(router, [], poll: false), dealers, hasWayBack: true),
            run);
    }

    private void RunRouters(IPatternRun run)
    {
        bool poll = _what.Pattern is PatternNames.RouterRouterPoll;
        NativeSocket server = Mandatory(WithId(Make(NativeSocketType.Router), ServerId));
        NativeSocket[] clients = Connected(server, client => Mandatory(WithId(Make(NativeSocketType.Router), ClientId(client))));
        Measure(new TowardsServer<NativeRoutedPort,
            NativeRoutedPort>(new NativeRoutedPort(server, [], poll),
            [.. clients.Select(client => new NativeRoutedPort(client, ServerId, poll))], hasWayBack: true), run);
    }

    private void RunStream(IPatternRun run)
    {
        NativeSocket server = Make(NativeSocketType.Stream);
        string endpoint = Bound(server);
        var clients = new NativeRoutedPort[_what.Clients];
        for (int i = 0; i < clients.Length; i++)
        {
            NativeSocket client = Make(NativeSocketType.Stream);
            Connect(client, endpoint);
            TakeConnectEvent(server);
            clients[i] = new NativeRoutedPort(client, TakeConnectEvent(client), poll: false);
        }

        Measure(new TowardsServer<NativeRoutedPort,
            NativeRoutedPort>(new NativeRoutedPort(server, [], poll: false), clients, hasWayBack: true), run);
    }

    private void RunGateway(IPatternRun run)
    {
        if (_what.Clients > 1)
        {
            throw new NotInThisBuildException("natively measured with one receiver only");
        }

        using var services = new NativeServices(_context, Bound, _certificates);
        if (_what.Pattern is PatternNames.GatewayRequest)
        {
            services.MeasureRequests(run, _what.Size);
        }
        else
        {
            services.MeasureFlood(run);
        }
    }

    private void RunSpot(IPatternRun run)
    {
        // A native node does not tell which port the system chose.
        string endpoint = _what.Transport is PatternNames.Inproc ? Endpoints.Of(PatternNames.Inproc)
            : _what.Transport is "ipc" ? $"ipc://{Path.Combine(Path.GetTempPath(), Path.GetRandomFileName())}"
            : string.Create(CultureInfo.InvariantCulture, $"{_what.Transport}://127.0.0.1:{FreePort.Find()}");
        nint publishing = NativeFunctions.zlink_spot_node_new(_context);
        nint subscribing = NativeFunctions.zlink_spot_node_new(_context);
        if (_certificates is { } certificates)
        {
            Check(NativeFunctions.zlink_spot_node_set_tls_server(publishing, certificates.CertificateFile, certificates.KeyFile));
            Check(NativeFunctions.zlink_spot_node_set_tls_client(subscribing, certificates.CertificateFile, Certificates.Host, 0));
        }

        Try(() => Check(NativeFunctions.zlink_spot_node_bind(publishing, endpoint)));
        Check(NativeFunctions.zlink_spot_node_connect_peer_pub(subscribing, endpoint));
        nint publisher = NativeFunctions.zlink_spot_pub_new(publishing);
        nint[] subscribers = [.. Enumerable.Range(0, _what.Clients).Select(_ => NativeFunctions.zlink_spot_sub_new(subscribing))];
        Array.ForEach(subscribers, static subscriber => Check(NativeFunctions.zlink_spot_sub_subscribe(subscriber, "bench")));
        Settling.Rest();
        Measure(new FromServer<NativeSpotPublisherPort, NativeSpotSubscriberPort>(
            new NativeSpotPublisherPort(publisher),
            [.. subscribers.Select(static subscriber => new NativeSpotSubscriberPort(subscriber))],
            subscribers.Length == 1 ? 1 : 0), run);
        for (int i = 0; i < subscribers.Length; i++)
        {
            Check(NativeFunctions.zlink_spot_sub_destroy(ref subscribers[i]));
        }

        Check(NativeFunctions.zlink_spot_pub_destroy(ref publisher));
        Check(NativeFunctions.zlink_spot_node_destroy(ref publishing));
        Check(NativeFunctions.zlink_spot_node_destroy(ref subscribing));
    }

    private static void Check(int result) => NativeSocket.Check(result, "SPOT");

    private static byte[] TakeConnectEvent(NativeSocket socket)
    {
        var last = new LastId();
        last.Length = socket.Receive(last.Bytes);
        byte[] what = new byte[1];
        return socket.Receive(what) == 1 && what[0] == 1 ? last.Bytes[..last.Length].ToArray()
            : throw new InvalidOperationException("A native STREAM socket began with something else than a connect event.");
    }

    private static NativeSocket WithId(NativeSocket socket, byte[] id)
    {
        socket.Set(NativeOption.RoutingId, id);
        return socket;
    }

    private static NativeSocket Mandatory(NativeSocket router)
    {
        router.Set(NativeOption.RouterMandatory, 1);
        return router;
    }

    private NativeSocket[] Connected(NativeSocket server, Func<int, NativeSocket> newClient)
    {
        string endpoint = Bound(server);
        NativeSocket[] clients = [.. Enumerable.Range(0, _what.Clients).Select(newClient)];
        foreach (NativeSocket client in clients)
        {
            Connect(client, endpoint);
        }

        Settling.Rest();
        return clients;
    }

    private void Connect(NativeSocket client, string endpoint)
    {
        if (_certificates is { } certificates)
        {
            client.Set(NativeOption.TlsCa, certificates.CertificateFile);
            client.Set(NativeOption.TlsHostName, Certificates.Host);
            client.Set(NativeOption.TlsTrustSystem, 0);
        }

        Try(() => client.Connect(endpoint));
    }

    private string Bound(NativeSocket server)
    {
        if (_certificates is { } certificates)
        {
            server.Set(NativeOption.TlsCert, certificates.CertificateFile);
            server.Set(NativeOption.TlsKey, certificates.KeyFile);
        }

        string endpoint = Endpoints.Of(_what.Transport);
        string bound = endpoint;
        Try(() => bound = server.Bind(endpoint));
        return _what.Transport is PatternNames.Inproc ? endpoint : bound;
    }

    private static void Try(Action action)
    {
        try
        {
            action();
        }
        catch (NativeException e) when (Refusals.Contains(e.Error))
        {
            throw new NotInThisBuildException($"the native library refuses: {e.Message}");
        }
    }
}
