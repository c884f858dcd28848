using System.Text;
using Net.Zlink.Tests.Support;
using static Net.Zlink.Tests.Recorded.Scenarios;

namespace Net.Zlink.Tests.Recorded;

/// <summary>Publishers, their subscribers and what these subscribe to.</summary>
internal static class PublisherScenarios
{
    public static readonly IReadOnlyDictionary<string, Action<ScenarioLog>> All =
        new Dictionary<string, Action<ScenarioLog>>(StringComparer.Ordinal)
        {
            ["a subscriber gets what it subscribed to, before and after a reconnect"] = Subscribe,
            ["an XPUB gets the first and the last subscription"] = log => Notices(log, SubscriptionNotices.FirstAndLast),
            ["an XPUB gets all subscriptions"] = log => Notices(log, SubscriptionNotices.All),
            ["a publisher drops for a subscriber that does not read"] = Drop,
            ["a publisher that does not drop waits"] = NoDrop,
            ["a conflating publisher keeps the last message for a slow subscriber"] = Conflate,
            ["a subscriber gets a welcome and messages that do not match"] = Welcome,
        };

    private static void Subscribe(ScenarioLog log)
    {
        PubSocket pub = log.Add("pub", log.Context.CreatePub());
        SubSocket sub = log.Add("sub", log.Context.CreateSub(Dials(new SubOptions(), "S")));
        log.Do("sub subscribes to a", () => sub.Subscribe("a"));
        log.Do("pub binds", () => pub.Bind(log.Endpoint("p")));
        MemoryLink link = log.Connect(sub, log.Endpoint("p"));
        Publish(log, pub, "a1", "b1");
        log.Do("sub subscribes to b", () => sub.Subscribe("b"));
        Publish(log, pub, "a2", "b2");
        log.Do("sub unsubscribes from a", () => sub.Unsubscribe("a"));
        Publish(log, pub, "a3", "b3");
        log.ReceiveAll(sub);
        log.Do("the connection is reset", link.Reset);
        Publish(log, pub, "b4");
        log.Pass(0.1);
        log.Dialled(log.Endpoint("p"));
        Publish(log, pub, "a5", "b5");
        log.ReceiveAll(sub);
    }

    private static void Notices(ScenarioLog log, SubscriptionNotices notices)
    {
        XPubSocket xpub = log.Add("xpub", log.Context.CreateXPub(new XPubOptions { Notices = notices }));
        log.Do("xpub binds", () => xpub.Bind(log.Endpoint("x")));
        var subs = new List<SubSocket>();
        foreach (string id in (string[])["S", "T"])
        {
            SubSocket sub = log.Add(id, log.Context.CreateSub(Dials(new SubOptions(), id)));
            subs.Add(sub);
            log.Connect(sub, log.Endpoint("x"));
            log.Do($"{id} subscribes to a", () => sub.Subscribe("a"));
            log.ReceiveAll(xpub);
        }

        XSubSocket xsub = log.Add("xsub", log.Context.CreateXSub(Dials(new XSubOptions(), "X")));
        log.Connect(xsub, log.Endpoint("x"));
        log.Do("xsub subscribes to b", () => xsub.TrySend([1, (byte)'b']));
        log.Do("xsub subscribes to b again", () => xsub.TrySend([1, (byte)'b']));
        log.Do("xsub sends upstream", () => xsub.TrySend("up"u8));
        log.Do("xsub unsubscribes from b", () => xsub.TrySend([0, (byte)'b']));
        log.Do("xsub unsubscribes from c", () => xsub.TrySend([0, (byte)'c']));
        log.ReceiveAll(xpub);
        log.Do("S unsubscribes from a", () => subs[0].Unsubscribe("a"));
        log.ReceiveAll(xpub);
        log.Do("T ends", subs[1].Dispose);
        log.ReceiveAll(xpub);
    }

    private static void Drop(ScenarioLog log)
    {
        PubSocket pub = log.Add("pub", log.Context.CreatePub(new PubOptions { SendHighWaterMark = 2 }));
        (SubSocket quick, MemoryLink _) = Subscriber(log, pub, "quick");
        (SubSocket slow, MemoryLink link) = Subscriber(log, pub, "slow");
        log.Do("slow takes nothing", () => link.Accepting.Room = 0);
        Publish(log, pub, "a1", "a2", "a3", "a4", "a5");
        log.Look(pub);
        log.Do("slow takes everything", () => link.Accepting.Room = long.MaxValue);
        Publish(log, pub, "a6");
        log.ReceiveAll(quick);
        log.ReceiveAll(slow);
    }

    private static void NoDrop(ScenarioLog log)
    {
        PubSocket pub = log.Add("pub", log.Context.CreatePub(new PubOptions { SendHighWaterMark = 2, NoDrop = true }));
        (SubSocket quick, MemoryLink _) = Subscriber(log, pub, "quick");
        (SubSocket slow, MemoryLink link) = Subscriber(log, pub, "slow");
        log.Do("slow takes nothing", () => link.Accepting.Room = 0);
        Publish(log, pub, "a1", "a2", "a3", "a4");
        Task waiting = pub.SendAsync("a waited"u8.ToArray(), Guard.Token).AsTask();
        log.Do("slow takes everything", () => link.Accepting.Room = long.MaxValue);
        log.Await(waiting);
        log.ReceiveAll(quick);
        log.ReceiveAll(slow);
    }

    private static void Conflate(ScenarioLog log)
    {
        PubSocket pub = log.Add("pub", log.Context.CreatePub(new PubOptions { Conflate = true }));
        (SubSocket slow, MemoryLink link) = Subscriber(log, pub, "slow");
        log.Do("slow takes nothing", () => link.Accepting.Room = 0);
        Publish(log, pub, "a1", "a2", "a3", "a4");
        log.Do("slow takes everything", () => link.Accepting.Room = long.MaxValue);
        log.ReceiveAll(slow);
    }

    private static void Welcome(ScenarioLog log)
    {
        PubSocket pub = log.Add("pub", log.Context.CreatePub(
            new PubOptions { WelcomeMessage = "a welcome"u8.ToArray(), InvertMatching = true }));
        (SubSocket sub, MemoryLink _) = Subscriber(log, pub, "sub", new SubOptions { InvertMatching = true });
        Publish(log, pub, "a1", "b1");
        log.ReceiveAll(sub);
    }

    private static (SubSocket Sub, MemoryLink Link) Subscriber(
        ScenarioLog log, PubSocket pub, string name, SubOptions? options = null)
    {
        SubSocket sub = log.Add(name, log.Context.CreateSub(Dials(options ?? new SubOptions(), name)));
        log.Do($"pub binds for {name}", () => pub.Bind(log.Endpoint(name)));
        log.Do($"{name} subscribes to a", () => sub.Subscribe("a"));
        return (sub, log.Connect(sub, log.Endpoint(name)));
    }

    private static void Publish(ScenarioLog log, PubSocket pub, params string[] messages)
    {
        foreach (string message in messages)
        {
            log.Do($"publish {message}", () => pub.TrySend(Encoding.ASCII.GetBytes(message)));
        }
    }
}
