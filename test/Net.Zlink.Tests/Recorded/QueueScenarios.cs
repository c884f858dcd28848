using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>What queues hold, drop and deliver.</summary>
internal static class QueueScenarios
{
    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["a receiver at its high-water mark is not read until its reader catches up"] = ReceiverFull,
            ["a sender at its high-water mark waits until its peer reads"] = SenderFull,
            ["a byte limit holds a sender as a high-water mark does"] = ByteLimit,
            ["two peers are read in turns"] = Fair,
            ["a dealer sends to its peers in turns"] = Rotation,
            ["what lingers is delivered"] = Linger,
            ["what lingers too long is dropped"] = LingerTooLong,
            ["what lingers for a peer that comes back is delivered"] = LingerForReturn,
            ["messages of a lost connection are reported"] = Loss,
            ["a conflating dealer keeps the last message"] = Conflate,
            ["a message of several parts whose connection ends in its middle is dropped"] = CutMessage,
        };

    private static void ReceiverFull(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { ReceiveHighWaterMark = 2 }));
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { SendHighWaterMark = 3 }, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Connect(dealer, log.Endpoint("r"));
        SendNumbers(log, dealer, 10);
        log.Look(router);
        log.ReceiveAll(router);
        log.Look(router);
        SendNumbers(log, dealer, 3);
        log.ReceiveAll(router);
    }

    private static void SenderFull(ScenarioLog log)
    {
        (RouterSocket router, DealerSocket dealer, MemoryLink link) = Stalled(log, new DealerOptions { SendHighWaterMark = 3 });
        SendNumbers(log, dealer, 6);
        Task waiting = dealer.SendAsync("waited"u8.ToArray(), Guard.Token).AsTask();
        log.Do("the peer takes everything", () => link.Dialling.Room = long.MaxValue);
        log.Await(waiting);
        log.ReceiveAll(router);
    }

    private static void ByteLimit(ScenarioLog log)
    {
        (RouterSocket router, DealerSocket dealer, MemoryLink link) = Stalled(log, new DealerOptions { SendByteLimit = 2_000 });
        for (int i = 0; i < 5; i++)
        {
            log.Do("dealer sends 1,000 bytes", () => dealer.TrySend(new byte[1_000]));
        }

        log.Do("the peer takes everything", () => link.Dialling.Room = long.MaxValue);
        log.ReceiveAll(router);
    }

    private static void Fair(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        foreach (string id in (string[])["A", "B", "C"])
        {
            DealerSocket dealer = log.Add(id, log.Context.CreateDealer(Dials(new DealerOptions(), id)));
            log.Connect(dealer, log.Endpoint("r"));
            SendNumbers(log, dealer, 3);
        }

        log.ReceiveAll(router);
    }

    private static void Rotation(ScenarioLog log)
    {
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { SendHighWaterMark = 2 }, "D")));
        var links = new List<MemoryLink>();
        var routers = new List<RouterSocket>();
        foreach (string name in (string[])["r1", "r2", "r3"])
        {
            RouterSocket router = log.Add(name, log.Context.CreateRouter());
            routers.Add(router);
            log.Do($"{name} binds", () => router.Bind(log.Endpoint(name)));
            links.Add(log.Connect(dealer, log.Endpoint(name)));
        }

        SendNumbers(log, dealer, 6);
        routers.ForEach(log.ReceiveAll);
        log.Do("r2 takes nothing", () => links[1].Dialling.Room = 0);
        SendNumbers(log, dealer, 9);
        log.Look(dealer);
        log.Do("the connection to r1 is reset", links[0].Reset);
        SendNumbers(log, dealer, 4);
        log.Do("r2 takes everything", () => links[1].Dialling.Room = long.MaxValue);
        routers.ForEach(log.ReceiveAll);
    }

    private static void Linger(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { Linger = 5 * Second }, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("r"));
        log.Do("the peer takes nothing", () => link.Dialling.Room = 0);
        SendNumbers(log, dealer, 3);
        log.Do("dealer ends", dealer.Dispose);
        log.Pass(4);
        log.Do("the peer takes everything", () => link.Dialling.Room = long.MaxValue);
        log.ReceiveAll(router);
    }

    private static void LingerTooLong(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { Linger = 5 * Second }, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("r"));
        log.Do("the peer takes nothing", () => link.Dialling.Room = 0);
        SendNumbers(log, dealer, 3);
        log.Do("dealer ends", dealer.Dispose);
        log.Pass(5);
        log.Pass(10);
        log.ReceiveAll(router);
    }

    private static void LingerForReturn(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { Linger = 5 * Second }, "A")));
        log.Do("dealer connects", () => dealer.Connect(log.Endpoint("r")));
        SendNumbers(log, dealer, 3);
        log.Do("dealer ends", dealer.Dispose);
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        log.Pass(0.1);
        log.Dialled(log.Endpoint("r"));
        log.ReceiveAll(router);
    }

    private static void Loss(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions(), "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("r"));
        log.Do("nothing is carried", () => link.IsHeld = true);
        log.Do("router sends", () => router.To("A"u8).TrySend("on its way"u8));
        log.Do("dealer's peer takes nothing", () => link.Accepting.Room = 0);
        log.Do("router sends", () => router.To("A"u8).TrySend("written in part or not at all"u8));
        log.Do("the connection is reset", link.Reset);
        log.Do("router sends without a peer", () => router.To("A"u8).TrySend("nowhere to go"u8));
    }

    private static void Conflate(ScenarioLog log)
    {
        DealerSocket bound = log.Add("bound", log.Context.CreateDealer(new DealerOptions { Conflate = true }));
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(new DealerOptions { Conflate = true }, "A")));
        log.Do("bound binds", () => bound.Bind(log.Endpoint("d")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("d"));
        SendNumbers(log, dealer, 3);
        log.ReceiveAll(bound);
        log.Do("the peer takes nothing", () => link.Dialling.Room = 0);
        SendNumbers(log, dealer, 5);
        log.Do("the peer takes everything", () => link.Dialling.Room = long.MaxValue);
        log.ReceiveAll(bound);
    }

    private static void CutMessage(ScenarioLog log)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter(new RouterOptions { RoutingIdText = "R" }));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryPeer peer = log.Play("peer", log.Endpoint("r"));
        log.Write(peer, [.. HandshakeScenarios.Greeting, .. ZmpFixture.Frame(0, "whole"u8), .. ZmpFixture.Frame(1, "first"u8)]);
        log.Write(peer, ZmpFixture.Frame(1, "second"u8));
        log.Do("it ends", peer.EndSending);
        log.ReceiveAll(router);
    }

    /// <summary>The router's side takes nothing.</summary>
    private static (RouterSocket Router, DealerSocket Dealer, MemoryLink Link) Stalled(ScenarioLog log, DealerOptions options)
    {
        RouterSocket router = log.Add("router", log.Context.CreateRouter());
        DealerSocket dealer = log.Add("dealer", log.Context.CreateDealer(Dials(options, "A")));
        log.Do("router binds", () => router.Bind(log.Endpoint("r")));
        MemoryLink link = log.Connect(dealer, log.Endpoint("r"));
        log.Do("the peer takes nothing", () => link.Dialling.Room = 0);
        return (router, dealer, link);
    }

    private static void SendNumbers(ScenarioLog log, DuplexSocket socket, int count)
    {
        for (int i = 1; i <= count; i++)
        {
            byte[] number = Encoding.ASCII.GetBytes(i.ToString(CultureInfo.InvariantCulture));
            log.Do($"send {i}", () => socket.TrySend(number));
        }
    }
}
