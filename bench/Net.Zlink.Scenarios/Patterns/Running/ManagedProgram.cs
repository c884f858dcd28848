using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns.Ports;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Makes the sockets of a pattern with our library: all in one context, as the native programs do it.</summary>
internal static class ManagedProgram
{
    private static readonly byte[] ServerId = "ROUTER1"u8.ToArray();

    /// <exception cref="NotInThisBuildException">The transport is refused.</exception>
    public static void Run(PatternCase what, IPatternRun run)
    {
        using var context = new ZlinkContext();
        switch (what.Pattern)
        {
            case PatternNames.Pair:
                RunDuplex(what, context.CreatePair(), () => context.CreatePair(), hasWayBack: true, run);
                break;
            case PatternNames.DealerDealer:
                RunDuplex(what, context.CreateDealer(), () => context.CreateDealer(), what.Clients == 1, run);
                break;
            case PatternNames.PubSub:
                RunPubSub(what, context, run);
                break;
            case PatternNames.DealerRouter:
                RunDealerRouter(what, context, run);
                break;
            case PatternNames.Stream:
                RunStream(what, context, run);
                break;
            default:
                RunRouters(what, context, run);
                break;
        }
    }

    private static byte[] ClientId(int client) => System.Text.Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"CLIENT_{client}"));

    private static RouterOptions RouterOptions(byte[] id) => new() { RoutingId = id, Mandatory = true };

    private static void RunDuplex(PatternCase what, DuplexSocket server, Func<DuplexSocket> newClient, bool hasWayBack, IPatternRun run)
    {
        DuplexSocket[] clients = Connected(what, server, _ => newClient());
        Measure(new TowardsServer<DuplexPort, DuplexPort>(new DuplexPort(server), [.. clients.Select(static client => new DuplexPort(client))], hasWayBack), run, [server, .. clients]);
    }

    private static void RunPubSub(PatternCase what, ZlinkContext context, IPatternRun run)
    {
        // Every message is waited for, so none may be dropped: beyond its limits this publisher waits. The native one has no limit in bytes, and none of its counts reaches its mark.
        PubSocket publisher = context.CreatePub(new PubOptions { NoDrop = true });
        SubSocket[] subscribers = Connected(what, publisher, _ =>
        {
            SubSocket subscriber = context.CreateSub();
            subscriber.Subscribe("");
            return subscriber;
        });
        Measure(new FromServer<PubPort, SubPort>(new PubPort(publisher), [.. subscribers.Select(static subscriber => new SubPort(subscriber))]), run, [publisher, .. subscribers]);
    }

    private static void RunDealerRouter(PatternCase what, ZlinkContext context, IPatternRun run)
    {
        RouterSocket router = context.CreateRouter();
        DealerSocket[] dealers = Connected(what, router, client => context.CreateDealer(new DealerOptions { RoutingId = ClientId(client) }));
        Measure(new TowardsServer<RouterPort, DuplexPort>(new RouterPort(router, []), [.. dealers.Select(static dealer => new DuplexPort(dealer))], hasWayBack: true), run, [router, .. dealers]);
    }

    private static void RunRouters(PatternCase what, ZlinkContext context, IPatternRun run)
    {
        RouterSocket server = context.CreateRouter(RouterOptions(ServerId));
        RouterSocket[] clients = Connected(what, server, client => context.CreateRouter(RouterOptions(ClientId(client))));
        if (what.Pattern is not PatternNames.RouterRouterPoll)
        {
            Measure(new TowardsServer<RouterPort, RouterPort>(new RouterPort(server, []), [.. clients.Select(static client => new RouterPort(client, ServerId))], hasWayBack: true), run, [server, .. clients]);
            return;
        }

        var pollers = new List<Poller>();
        try
        {
            Measure(new TowardsServer<PolledRouterPort, PolledRouterPort>(Polled(server, []), [.. clients.Select(client => Polled(client, ServerId))], hasWayBack: true), run, [server, .. clients]);
        }
        finally
        {
            pollers.ForEach(static poller => poller.Dispose());
        }

        PolledRouterPort Polled(RouterSocket socket, byte[] peer)
        {
            var poller = new Poller();
            pollers.Add(poller);
            poller.Add(socket, PollEvents.In);
            return new PolledRouterPort(socket, peer, poller);
        }
    }

    private static void RunStream(PatternCase what, ZlinkContext context, IPatternRun run)
    {
        StreamSocket server = context.CreateStream(StreamOptionsFor(what));
        string endpoint = Bound(what, server.Bind);
        var ports = new StreamPort[what.Clients];
        for (int i = 0; i < ports.Length; i++)
        {
            StreamSocket client = context.CreateStream(StreamOptionsFor(what));
            ports[i] = new StreamPort(client, client.ConnectAsync(endpoint).AsTask().GetAwaiter().GetResult());
        }

        var ends = new TowardsServer<StreamPort, StreamPort>(new StreamPort(server, 0), ports, hasWayBack: true);
        ends.AwaitConnection();
        run.Measure(ends, () => [server.GetStatistics().ToString()]);
    }

    private static StreamOptions StreamOptionsFor(PatternCase what) => new() { MaxMessageSize = Math.Max(new StreamOptions().MaxMessageSize, what.Size) };

    /// <summary>Binds the server and connects clients to it.</summary>
    private static T[] Connected<T>(PatternCase what, ZlinkSocket server, Func<int, T> newClient)
        where T : ZlinkSocket
    {
        string endpoint = Bound(what, server.Bind);
        T[] clients = [.. Enumerable.Range(0, what.Clients).Select(newClient)];
        foreach (T client in clients)
        {
            client.Connect(endpoint);
        }

        Settling.Rest();
        return clients;
    }

    private static string Bound(PatternCase what, Func<string, string> bind)
    {
        try
        {
            return bind(Endpoints.Of(what.Transport));
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.ProtocolNotSupported or ZlinkError.NotSupported or ZlinkError.NotCompatible)
        {
            throw new NotInThisBuildException($"{what.Transport} for {what.Pattern} is not in this build: {e.Message}");
        }
    }

    private static void Measure<TEnds>(TEnds ends, IPatternRun run, ZlinkSocket[] sockets)
        where TEnds : struct, IPatternEnds
    {
        ends.AwaitConnection();
        run.Measure(ends, () => sockets.Select(static socket => $"{socket.GetStatistics()} can send: {socket.CanSend}, can receive: {socket.CanReceive}; {string.Join("; ", socket.GetPeers())}"));
    }
}
