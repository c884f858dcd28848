using System.Text;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Services;

/// <summary>SPOT nodes, native and ours, do together what they do among themselves.</summary>
public sealed class SpotTests
{
    private const int Flood = 100_000;

    [NativeTheory]
    [InlineData(PeerKind.Native, PeerKind.Managed, PeerKind.Native)]
    [InlineData(PeerKind.Native, PeerKind.Managed, PeerKind.Managed)]
    [InlineData(PeerKind.Managed, PeerKind.Native, PeerKind.Native)]
    [InlineData(PeerKind.Managed, PeerKind.Native, PeerKind.Managed)]
    [InlineData(PeerKind.Managed, PeerKind.Managed, PeerKind.Native)]
    public void Nodes_of_a_registry_find_each_other_and_exchange_publications(
        PeerKind firstKind, PeerKind secondKind, PeerKind registryKind)
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(registryKind);
        using ISpotRole first = Make(firstKind, scene.NewEndpoint());
        using ISpotRole second = Make(secondKind, scene.NewEndpoint());
        first.Join(registry);
        second.Join(registry);
        foreach ((ISpotRole from, ISpotRole to) in new[] { (first, second), (second, first) })
        {
            ExchangeTopics(from, to);
        }
    }

    [NativeTheory]
    [InlineData(PeerKind.Native, PeerKind.Managed, false)]
    [InlineData(PeerKind.Native, PeerKind.Managed, true)]
    [InlineData(PeerKind.Managed, PeerKind.Native, false)]
    [InlineData(PeerKind.Managed, PeerKind.Native, true)]
    public async Task A_hundred_thousand_publications_arrive_in_order(PeerKind publisherKind, PeerKind subscriberKind, bool isQueued)
    {
        using var scene = new ServiceScene();
        using ISpotRole publisher = Make(publisherKind, scene.NewEndpoint(), isQueued);
        using ISpotRole subscriber = Make(subscriberKind, scene.NewEndpoint());
        subscriber.ConnectPeer(publisher.Endpoint);
        subscriber.Subscribe("flood");
        UntilFiltered(publisher, subscriber, "flood");
        Task publishing = Limits.OnThread(() =>
        {
            for (int i = 0; i < Flood; i++)
            {
                publisher.Publish("flood", BitConverter.GetBytes(i));
            }
        });
        for (int i = 0; i < Flood; i++)
        {
            Assert.Equal(i, BitConverter.ToInt32(Receive(subscriber).Parts[0]));
        }

        await publishing.Guarded();
    }

    [NativeTheory]
    [InlineData(PeerKind.Native, PeerKind.Managed)]
    [InlineData(PeerKind.Managed, PeerKind.Native)]
    public void Subscriptions_reach_a_node_that_comes_again(PeerKind publisherKind, PeerKind subscriberKind)
    {
        using var scene = new ServiceScene();
        string endpoint = scene.NewEndpoint();
        using ISpotRole subscriber = Make(subscriberKind, scene.NewEndpoint());
        subscriber.ConnectPeer(endpoint);
        subscriber.Subscribe("again");
        for (int i = 0; i < 2; i++)
        {
            using ISpotRole publisher = Make(publisherKind, endpoint);
            UntilFiltered(publisher, subscriber, "again");
        }
    }

    [NativeTheory]
    [InlineData(TestTransport.Ipc)]
    [InlineData(TestTransport.Ws)]
    public void Publications_cross_other_transports(TestTransport transport)
    {
        using var scene = new ServiceScene(transport);
        using ISpotRole native = Make(PeerKind.Native, scene.NewEndpoint());
        using ISpotRole managed = Make(PeerKind.Managed, scene.NewEndpoint());
        native.ConnectPeer(managed.Endpoint);
        managed.ConnectPeer(native.Endpoint);
        foreach ((ISpotRole from, ISpotRole to) in new[] { (native, managed), (managed, native) })
        {
            to.Subscribe("topic");
            UntilFiltered(from, to, "topic");
        }
    }

    [NativeTheory]
    [InlineData(PeerKind.Native)]
    [InlineData(PeerKind.Managed)]
    public void A_node_of_ours_stays_registered_and_leaves_at_its_end(PeerKind registryKind)
    {
        using var scene = new ServiceScene();
        IRegistryRole registry = scene.AddRegistry(
            registryKind, scene.NewRegistryPlan() with { HeartbeatTimeout = TimeSpan.FromSeconds(6) });
        using var context = new NativeContext();
        using var discovery = new NativeDiscovery(context, 2);
        discovery.ConnectRegistry(registry.Publisher);
        ISpotRole node = Make(PeerKind.Managed, scene.NewEndpoint());
        node.Join(registry);
        Limits.Until("it is listed", () => discovery.GetReceivers("spot-node").Length == 1);
        Assert.Equal(4, discovery.GetReceivers("spot-node")[0].RoutingId.Length);
        Assert.False(
            Limits.HappensWithin(TimeSpan.FromSeconds(8), () => discovery.GetReceivers("spot-node").Length == 0), "it was dropped");
        node.Dispose();
        Limits.Until("it has left", () => discovery.GetReceivers("spot-node").Length == 0);
    }

    private static ISpotRole Make(PeerKind kind, string endpoint, bool isQueued = false) => kind is PeerKind.Native
        ? new NativeSpotRole(endpoint, isQueued) : new ManagedSpotRole(endpoint, isQueued);

    private static void ExchangeTopics(ISpotRole from, ISpotRole to)
    {
        string longest = new('t', 255);
        to.Subscribe(longest);
        to.Subscribe("exact");
        to.Subscribe("exact"); // Counted once: it is held already.
        to.SubscribePattern("zone:*");
        UntilFiltered(from, to, "zone:mark");

        from.Publish("exact:longer", "matched on the wire, dropped by the node"u8.ToArray());
        from.Publish("other", "no subscription"u8.ToArray());
        (string Topic, byte[][] Parts)[] expected =
        [
            ("exact", ["one"u8.ToArray()]), ("zone:12", ["a"u8.ToArray(), [], "c"u8.ToArray()]), (longest, [[]]),
            ("zone:", [new byte[100_000]]),
        ];
        foreach ((string topic, byte[][] parts) in expected)
        {
            from.Publish(topic, parts);
        }

        foreach ((string topic, byte[][] parts) in expected)
        {
            (string Topic, byte[][] Parts) came = Receive(to);
            Assert.Equal(topic, came.Topic);
            Assert.Equal(parts, came.Parts);
        }

        to.Unsubscribe("exact");
        to.SubscribePattern("ex*"); // Its filter is another one; that of the topic has been cancelled.
        UntilFiltered(from, to, "exit");
        to.Unsubscribe("ex*");
        to.Unsubscribe("zone:*");
        to.Unsubscribe(longest);
        to.Subscribe("end");
        UntilFiltered(from, to, "end");
        from.Publish("exact", "cancelled"u8.ToArray());
        from.Publish("zone:12", "cancelled"u8.ToArray());
        from.Publish("end", "end"u8.ToArray());
        Assert.Equal("end", Receive(to).Topic);
        to.Unsubscribe("end");
    }

    private static (string Topic, byte[][] Parts) Receive(ISpotRole subscriber)
    {
        (string Topic, byte[][] Parts)? came = null;
        if ((came = subscriber.TryReceive()) is null)
        {
            Limits.Until("a publication arrives", () => (came = subscriber.TryReceive()) is not null);
        }

        return came!.Value;
    }

    /// <summary>Publishes until the subscriber gets it, and receives all of that: its filter has arrived.</summary>
    private static void UntilFiltered(ISpotRole from, ISpotRole to, string topic)
    {
        byte[] mark = Guid.NewGuid().ToByteArray();
        Limits.Until($"the filter of {topic} arrives", () =>
        {
            from.Publish(topic, mark);
            return to.TryReceive() is not null;
        });
        byte[] last = Encoding.UTF8.GetBytes("last");
        from.Publish(topic, last);
        while (!Receive(to).Parts[0].AsSpan().SequenceEqual(last))
        {
        }
    }
}
