using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>Peers that have one routing id, and names that this side gives.</summary>
internal static class RoutingIdScenarios
{
    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["a newcomer waits for a holder that answers"] = log => Silent(log, answers: true),
            ["a newcomer replaces a holder that is silent"] = log => Silent(log, answers: false),
            ["a newcomer with an id in use is refused"] = log => Second(log, DuplicateRoutingId.Refuse),
            ["a newcomer replaces the holder of its id"] = log => Second(log, DuplicateRoutingId.Replace),
            ["two peers share an id"] = log => Second(log, DuplicateRoutingId.Share),
            ["a dialled connection whose id was taken over is dialled again when the id is free"] = TakeOver,
            ["a router gives a name to what it connects to"] = Name,
            ["peers without an id have one drawn"] = Draw,
        };

    private static void Silent(ScenarioLog log, bool answers)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R" }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer holder = log.Play("holder", log.Endpoint("r"));
        log.Write(holder, HandshakeScenarios.Greeting);
        MemoryPeer newcomer = log.Play("newcomer", log.Endpoint("r"));
        log.Write(newcomer, [.. HandshakeScenarios.Greeting, .. ZmpFixture.Frame(0, "early"u8)]);
        log.Pass(1);
        if (answers)
        {
            log.Write(holder, ZmpFixture.Control("0300"));
        }

        log.Pass(1.5);
        log.ReceiveAll(router);
        log.Do("router sends", () => router.To("A"u8).TrySend("to whom"u8));
    }

    private static void Second(ScenarioLog log, DuplicateRoutingId rule)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(
            new RouterOptions { RoutingIdText = "R", OnDuplicateRoutingId = rule }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer holder = log.Play("holder", log.Endpoint("r"));
        log.Write(holder, [.. HandshakeScenarios.Greeting, .. ZmpFixture.Frame(0, "of the holder"u8)]);
        MemoryPeer newcomer = log.Play("newcomer", log.Endpoint("r"));
        log.Write(newcomer, [.. HandshakeScenarios.Greeting, .. ZmpFixture.Frame(0, "of the newcomer"u8)]);
        log.ReceiveAll(router);
        log.Do("router sends", () => router.To("A"u8).TrySend("to whom"u8));
        log.Do("newcomer ends", newcomer.EndSending);
        log.Do("router sends", () => router.To("A"u8).TrySend("who is left"u8));
        log.Do("holder ends", holder.EndSending);
        log.Do("router sends", () => router.To("A"u8).TrySend("nobody"u8));
    }

    private static void TakeOver(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(
            Dials(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Replace }, "R")));
        DealerSocket far = log.Add("far", log.Context.CreateDealer(new DealerOptions { RoutingIdText = "B" }));
        log.HidesPauses = true;
        log.Do("far binds", () => far.Bind(log.Endpoint("far")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Connect(router, log.Endpoint("far"));
        MemoryPeer near = log.Play("near", log.Endpoint("r"));
        log.Write(near, ZmpFixture.DealerGreeting("B"u8));
        log.Pass(1);
        log.Do("router sends", () => router.To("B"u8).TrySend("for near"u8));
        log.Do("near ends", near.EndSending);
        log.Await(router, SocketEventTypes.ConnectRetried);
        log.Pass(0.2); // Its pause is random: at most this.
        log.Dialled(log.Endpoint("far"));
        log.Do("router sends", () => router.To("B"u8).TrySend("for far"u8));
        log.ReceiveAll(far);
    }

    private static void Name(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(Dials(new RouterOptions(), "R")));
        DealerSocket far = log.Add("far", log.Context.CreateDealer(new DealerOptions { RoutingIdText = "B" }));
        log.Do("far binds", () => far.Bind(log.Endpoint("far")));
        log.Do("router connects under a name", () => router.Connect(log.Endpoint("far"), RoutingId.FromText("name")));
        MemoryLink link = log.Dialled(log.Endpoint("far"));
        log.Do("router sends to the name", () => router.To("name"u8).TrySend("first"u8));
        log.ReceiveAll(far);
        log.Do("far sends", () => far.TrySend("back"u8));
        log.ReceiveAll(router);
        log.Do("router sends to the id", () => router.To("B"u8).TrySend("no"u8));
        log.Do("the connection is reset", link.Reset);
        log.Pass(0.1);
        log.Dialled(log.Endpoint("far"));
        log.Do("router sends again", () => router.To("name"u8).TrySend("again"u8));
        log.ReceiveAll(far);
    }

    private static void Draw(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        foreach (string name in (string[])["first", "second"])
        {
            DealerSocket dealer = log.Add(name, log.Context.CreateDealer(Dials(new DealerOptions())));
            log.Connect(dealer, log.Endpoint("r"));
            log.Do($"{name} sends", () => dealer.TrySend("hello"u8));
        }

        log.ReceiveAll(router);
    }
}
