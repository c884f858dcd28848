using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>How connections begin, end and come again.</summary>
internal static class ConnectionScenarios
{
    public static readonly IReadOnlyDictionary<string, Func<ScenarioLog, Task>> All =
        new Dictionary<string, Func<ScenarioLog, Task>>(StringComparer.Ordinal)
        {
            ["a dealer asks and a router answers, and the dealer ends"] = AskAsync,
            ["each connecting type reconnects after its connection was reset"] = ReconnectAsync,
            ["a dealer dials a listener that comes later"] = DialEarlyAsync,
            ["a dealer that does not reconnect gives up"] = GiveUpAsync,
            ["an endpoint is disconnected and connected again"] = DisconnectAsync,
            ["a listener is unbound with and without its peers"] = UnbindAsync,
            ["a peer is disconnected by the application"] = DisconnectPeerAsync,
            ["heartbeats keep a connection and their absence ends it"] = HeartbeatAsync,
            ["a heartbeat's ttl runs out"] = TtlAsync,
            ["a pair accepts one peer at a time"] = PairAsync,
        };

    private static async Task AskAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        await log.ConnectAsync(dealer, log.Endpoint("r"));
        log.Do("dealer sends", () => dealer.TrySend("question"u8));
        log.ReceiveAll(router);
        log.Do("router answers", () => router.To("A"u8).TrySend("answer"u8));
        log.ReceiveAll(dealer);
        log.Do("router sends to an unknown id", () => router.To("B"u8).TrySend("lost"u8));
        log.Do("dealer ends", dealer.Dispose);
    }

    private static async Task ReconnectAsync(ScenarioLog log)
    {
        (string Name, ZmpSocket Bound, ZmpSocket Connecting)[] pairs =
        [
            ("pair", log.Context.CreatePair(), log.Context.CreatePair(Dials(new PairOptions(), "P"))),
            ("dealer", log.Context.CreateRouter(), log.Context.CreateDealer(Dials(new DealerOptions(), "D"))),
            ("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "B" }),
                log.Context.CreateRouter(Dials(new RouterOptions(), "R"))),
            ("sub", log.Context.CreatePub(), log.Context.CreateSub(Dials(new SubOptions(), "S"))),
            ("xsub", log.Context.CreateXPub(), log.Context.CreateXSub(Dials(new XSubOptions(), "X"))),
        ];
        foreach ((string name, ZmpSocket bound, ZmpSocket connecting) in pairs)
        {
            string endpoint = log.Endpoint(name);
            log.Add($"bound for {name}", bound);
            log.Add(name, connecting);
            log.Do($"bound for {name} binds", () => bound.Bind(endpoint));
            MemoryLink link = await log.ConnectAsync(connecting, endpoint);
            for (int i = 0; i < 2; i++)
            {
                log.Do($"the connection of {name} is reset", link.Reset);
                await log.UntilAsync(connecting, SocketEventTypes.ConnectRetried, i + 1);
                log.Pass(0.1);
                link = await log.DialledAsync(endpoint);
            }
        }
    }

    private static async Task DialEarlyAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried);
        log.Do("dealer sends", () => dealer.TrySend("early"u8));
        foreach ((int attempt, double pause) in new[] { 0.1, 0.2, 0.4, 0.8, 1 }.Index())
        {
            log.Pass(pause);
            await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried, attempt + 2);
        }

        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Pass(1);
        await log.DialledAsync(log.Endpoint("r"));
        log.ReceiveAll(router);
    }

    private static async Task GiveUpAsync(ScenarioLog log)
    {
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.Zero }));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        await log.UntilAsync(dealer, SocketEventTypes.ConnectGivenUp);
        log.Pass(10);
    }

    private static async Task DisconnectAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        await log.ConnectAsync(dealer, log.Endpoint("r"));
        log.Do("dealer sends", () => dealer.TrySend("first"u8));
        log.Do("dealer disconnects", () => dealer.Disconnect(log.Endpoint("r")));
        log.ReceiveAll(router);
        log.Do("dealer sends without a peer", () => dealer.TrySend("second"u8));
        await log.ConnectAsync(dealer, log.Endpoint("r"));
        log.Do("dealer sends again", () => dealer.TrySend("third"u8));
        log.ReceiveAll(router);
    }

    private static async Task UnbindAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        foreach (bool keepPeers in (bool[])[true, false])
        {
            string endpoint = log.Endpoint(keepPeers ? "kept" : "ended");
            string id = keepPeers ? "K" : "E";
            DealerSocket dealer = log.Add(id, log.Context.CreateDealer(Dials(new DealerOptions(), id)));
            log.Do($"router binds {endpoint}", () => router.Bind(endpoint));
            await log.ConnectAsync(dealer, endpoint);
            log.Do($"router unbinds {endpoint}", () => router.Unbind(endpoint, keepPeers));
            if (!keepPeers)
            {
                await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried);
            }

            log.Do($"{id} sends", () => dealer.TrySend("still there"u8));
            log.ReceiveAll(router);
        }
    }

    private static async Task DisconnectPeerAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        await log.ConnectAsync(dealer, log.Endpoint("r"));
        log.Do("router sends", () => router.To("A"u8).TrySend("last"u8));
        log.Do("router disconnects the peer", () => router.Disconnect(router.GetPeers()[0]));
        await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried);
        log.ReceiveAll(dealer);
        log.Pass(0.1);
        await log.DialledAsync(log.Endpoint("r"));
        log.Do("router aborts the peer", () => router.Disconnect(router.GetPeers()[0], abort: true));
        await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried, count: 2);
    }

    private static async Task HeartbeatAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(
            Dials(new DealerOptions { HeartbeatInterval = Second, HeartbeatTimeout = 3 * Second }, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = await log.ConnectAsync(dealer, log.Endpoint("r"));
        log.Pass(10);
        log.Do("nothing is carried any more", () => link.IsHeld = true);
        log.Pass(4);
        await log.UntilAsync(dealer, SocketEventTypes.ConnectRetried);
        log.Do("the router hears of the end", link.Reset);
    }

    private static Task TtlAsync(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R" }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer peer = log.Play("peer", log.Endpoint("r"));
        log.Write(peer, HandshakeScenarios.Greeting);
        log.Write(peer, Convert.FromHexString("5A0102000000000402000A00")); // A second.
        log.Pass(0.9);
        log.Write(peer, Convert.FromHexString("5A0102000000000402000A00"));
        log.Pass(1.1);
        return Task.CompletedTask;
    }

    private static async Task PairAsync(ScenarioLog log)
    {
        PairSocket bound = log.Add("bound", log.Context.CreatePair());
        PairSocket first = log.Add("first", log.Context.CreatePair(Dials(new PairOptions(), "1")));
        PairSocket second = log.Add("second", log.Context.CreatePair(Dials(new PairOptions(), "2")));
        log.Do("bound binds", () => bound.Bind(log.Endpoint("p")));
        await log.ConnectAsync(first, log.Endpoint("p"));
        await log.ConnectAsync(second, log.Endpoint("p"));
        log.Pass(0.25);
        await log.UntilAsync(second, SocketEventTypes.ConnectRetried);
        log.Do("second sends", () => second.TrySend("waits"u8));
        log.Do("first ends", first.Dispose);
        log.Pass(0.1);
        await log.DialledAsync(log.Endpoint("p"));
        log.ReceiveAll(bound);
    }
}
