using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>How connections begin, end and come again.</summary>
internal static class ConnectionScenarios
{
    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["a dealer asks and a router answers, and the dealer ends"] = Ask,
            ["each connecting type reconnects after its connection was reset"] = Reconnect,
            ["a dealer dials a listener that comes later"] = DialEarly,
            ["a dealer that does not reconnect gives up"] = GiveUp,
            ["an endpoint is disconnected and connected again"] = Disconnect,
            ["a listener is unbound with and without its peers"] = Unbind,
            ["a peer is disconnected by the application"] = DisconnectPeer,
            ["heartbeats keep a connection and their absence ends it"] = Heartbeat,
            ["a heartbeat's ttl runs out"] = Ttl,
            ["a pair accepts one peer at a time"] = Pair,
        };

    private static void Ask(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Connect(dealer, log.Endpoint("r"));
        log.Do("dealer sends", () => dealer.TrySend("question"u8));
        log.ReceiveAll(router);
        log.Do("router answers", () => router.To("A"u8).TrySend("answer"u8));
        log.ReceiveAll(dealer);
        log.Do("router sends to an unknown id", () => router.To("B"u8).TrySend("lost"u8));
        log.Do("dealer ends", dealer.Dispose);
    }

    private static void Reconnect(ScenarioLog log)
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
            MemoryLink link = log.Connect(connecting, endpoint);
            for (int i = 0; i < 2; i++)
            {
                log.Do($"the connection of {name} is reset", link.Reset);
                log.Pass(0.1);
                link = log.Dialled(endpoint);
            }
        }
    }

    private static void DialEarly(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        log.Do("dealer sends", () => dealer.TrySend("early"u8));
        foreach (double pause in (double[])[0.1, 0.2, 0.4, 0.8, 1])
        {
            log.Pass(pause);
        }

        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Pass(1);
        log.Dialled(log.Endpoint("r"));
        log.ReceiveAll(router);
    }

    private static void GiveUp(ScenarioLog log)
    {
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.Zero }));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        log.Pass(10);
    }

    private static void Disconnect(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Connect(dealer, log.Endpoint("r"));
        log.Do("dealer sends", () => dealer.TrySend("first"u8));
        log.Do("dealer disconnects", () => dealer.Disconnect(log.Endpoint("r")));
        log.ReceiveAll(router);
        log.Do("dealer sends without a peer", () => dealer.TrySend("second"u8));
        log.Connect(dealer, log.Endpoint("r"));
        log.Do("dealer sends again", () => dealer.TrySend("third"u8));
        log.ReceiveAll(router);
    }

    private static void Unbind(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        foreach (bool keepPeers in (bool[])[true, false])
        {
            string endpoint = log.Endpoint(keepPeers ? "kept" : "ended");
            string id = keepPeers ? "K" : "E";
            DealerSocket dealer = log.Add(id, log.Context.CreateDealer(Dials(new DealerOptions(), id)));
            log.Do($"router binds {endpoint}", () => router.Bind(endpoint));
            log.Connect(dealer, endpoint);
            log.Do($"router unbinds {endpoint}", () => router.Unbind(endpoint, keepPeers));
            log.Do($"{id} sends", () => dealer.TrySend("still there"u8));
            log.ReceiveAll(router);
        }
    }

    private static void DisconnectPeer(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Connect(dealer, log.Endpoint("r"));
        log.Do("router sends", () => router.To("A"u8).TrySend("last"u8));
        log.Do("router disconnects the peer", () => router.Disconnect(router.GetPeers()[0]));
        log.ReceiveAll(dealer);
        log.Pass(0.1);
        log.Dialled(log.Endpoint("r"));
        log.Do("router aborts the peer", () => router.Disconnect(router.GetPeers()[0], abort: true));
    }

    private static void Heartbeat(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(
            Dials(new DealerOptions { HeartbeatInterval = Second, HeartbeatTimeout = 3 * Second }, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("r"));
        log.Pass(10);
        log.Do("nothing is carried any more", () => link.IsHeld = true);
        log.Pass(4);
        log.Do("the router hears of the end", link.Reset);
    }

    private static void Ttl(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R" }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer peer = log.Play("peer", log.Endpoint("r"));
        log.Write(peer, HandshakeScenarios.Greeting);
        log.Write(peer, Convert.FromHexString("5A0102000000000402000A00")); // A second.
        log.Pass(0.9);
        log.Write(peer, Convert.FromHexString("5A0102000000000402000A00"));
        log.Pass(1.1);
    }

    private static void Pair(ScenarioLog log)
    {
        PairSocket bound = log.Add("bound", log.Context.CreatePair());
        PairSocket first = log.Add("first", log.Context.CreatePair(Dials(new PairOptions(), "1")));
        PairSocket second = log.Add("second", log.Context.CreatePair(Dials(new PairOptions(), "2")));
        log.Do("bound binds", () => bound.Bind(log.Endpoint("p")));
        log.Connect(first, log.Endpoint("p"));
        log.Connect(second, log.Endpoint("p"));
        log.Pass(0.25);
        log.Do("second sends", () => second.TrySend("waits"u8));
        log.Do("first ends", first.Dispose);
        log.Pass(0.1);
        log.Dialled(log.Endpoint("p"));
        log.ReceiveAll(bound);
    }
}
