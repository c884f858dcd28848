using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>Peers that do not come so far, or break the protocol later.</summary>
internal static class HandshakeScenarios
{
    public static readonly byte[] Greeting = ZmpFixture.DealerGreeting("A"u8);

    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["handshakes that fail at a listener"] = Accept,
            ["handshakes that fail at a dialer"] = Dial,
            ["a peer breaks the protocol after its handshake"] = Break,
            ["messages beyond the limits end their connection"] = Limit,
            ["connections beyond the limit are refused"] = MaxConnections,
        };

    private static void Accept(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(
            new RouterOptions { RoutingIdText = "R", HandshakeInterval = 3 * Second }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        (string Name, byte[] Bytes)[] peers =
        [
            ("http", "GET / HTTP/1.1\r\n\r\n"u8.ToArray()),
            ("wrong type", ZmpFixture.Greeting((byte)ZmpSocketType.Sub)),
            ("unknown type", ZmpFixture.Greeting(77)),
            ("wrong version", ZmpFixture.Hex("5AFF020000000003 010500")),
            ("data first", ZmpFixture.Frame(0, "x"u8)),
            ("error", ZmpFixture.Frame(2, [5, (byte)ZmpErrorCode.InvalidMagic, 0])),
            ("second HELLO", [.. Greeting, .. Greeting]),
        ];
        foreach ((string name, byte[] bytes) in peers)
        {
            log.Write(log.Play(name, log.Endpoint("r")), bytes);
        }

        MemoryPeer leaving = log.Play("one that leaves", log.Endpoint("r"));
        log.Write(leaving, Greeting.AsSpan(0, 5));
        log.Do("it leaves", leaving.EndSending);
        MemoryPeer lost = log.Play("one that is lost", log.Endpoint("r"));
        log.Do("it is lost", lost.Reset);
        log.Play("one that is silent", log.Endpoint("r"));
        log.Pass(3);
    }

    private static void Dial(ScenarioLog log)
    {
        MemoryTransport.MemoryListener listener = log.Listen(log.Endpoint("r"));
        DealerOptions options = Dials(new DealerOptions { HandshakeInterval = 3 * Second, ReconnectAfterFault = false }, "D");
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(options));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        log.Take("one that is silent", listener);
        log.Pass(3);
        log.Pass(0.1);
        MemoryPeer leaving = log.Take("one that leaves", listener);
        log.Do("it leaves", leaving.EndSending);
        log.Pass(0.2);
        MemoryPeer timing = log.Take("one that reports a timeout", listener);
        log.Write(timing, [.. ZmpFixture.Hex(ZmpFixture.Hello), .. ZmpFixture.Frame(2, [5, (byte)ZmpErrorCode.HandshakeTimeout, 0])]);
        log.Pass(0.2);
        log.Write(log.Take("one of another type", listener), ZmpFixture.Greeting((byte)ZmpSocketType.Pub));
    }

    private static void Break(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R" }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        string[] breaches =
        [
            "5A01FF0000000000", // Flags that nobody knows.
            "5B01000000000000", // Another magic byte.
            "5A010200000000017F", // A control type that nobody knows.
            "5A01020000000002" + "0500", // An ERROR that is too short.
            "5A01000000000003" + "61", // Not to its end.
        ];
        foreach (string breach in breaches)
        {
            MemoryPeer peer = log.Play(breach, log.Endpoint("r"));
            log.Write(peer, Greeting);
            log.Write(peer, [.. ZmpFixture.Frame(0, "before"u8), .. Convert.FromHexString(breach)]);
            log.Do("it ends", peer.EndSending);
            log.ReceiveAll(router);
        }
    }

    private static void Limit(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(
            new RouterOptions { RoutingIdText = "R", MaxMessageSize = 100, MaxMessageParts = 3 }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer large = log.Play("large", log.Endpoint("r"));
        log.Write(large, [.. Greeting, .. ZmpFixture.Frame(0, new byte[100])]);
        log.Write(large, Convert.FromHexString("5A01000000000065"));
        log.ReceiveAll(router);
        MemoryPeer parts = log.Play("many parts", log.Endpoint("r"));
        log.Write(parts, [.. Greeting, .. ZmpFixture.Frame(1, "1"u8), .. ZmpFixture.Frame(1, "2"u8), .. ZmpFixture.Frame(0, "3"u8)]);
        log.ReceiveAll(router);
        log.Write(parts, [.. ZmpFixture.Frame(1, "1"u8), .. ZmpFixture.Frame(1, "2"u8), .. ZmpFixture.Frame(1, "3"u8)]);
        log.Write(parts, ZmpFixture.Frame(0, "4"u8));
        log.ReceiveAll(router);
    }

    private static void MaxConnections(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R", MaxConnections = 1 }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer first = log.Play("first", log.Endpoint("r"));
        log.Write(first, Greeting);
        log.Play("second", log.Endpoint("r"));
        log.Do("first ends", first.EndSending);
        log.Write(log.Play("third", log.Endpoint("r")), Greeting);
    }
}
