using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The native core's core/tests/spot/test_spot_pubsub_basic.cpp, test by test with its values, "spot" taken for a publisher and a
/// subscriber. Where it sleeps, these wait for what it sleeps for.</summary>
public class SpotPubsubBasicTests
{
    [Fact(DisplayName = "test_spot_local_pubsub")]
    public async Task A_local_subscriber_receives_a_publication()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("chat:room1:msg");
        Assert.True(node.TryPublish("chat:room1:msg", "hello"u8));
        using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("chat:room1:msg", 1, 5, "hello"), (message.Topic, message.PartCount, message.Memory.Length, message.GetString()));
    }

    [Fact(DisplayName = "test_spot_pattern_subscribe")]
    public async Task A_pattern_receives_the_topics_that_begin_with_it()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePattern("zone:12:*");
        Assert.True(node.TryPublish("zone:12:state", "ok"u8));
        Assert.Equal(("zone:12:state", "ok"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact(DisplayName = "test_spot_publish_no_subscribers")]
    public async Task A_publication_without_subscribers_is_accepted()
    {
        await using var scene = new SpotScene();
        Assert.True(scene.Create().TryPublish("metrics:cpu", "42"u8));
    }

    [Fact(DisplayName = "test_spot_multipart_publish")]
    public async Task Parts_arrive_in_order()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("multi");
        using var parts = new MessageBuilder();
        Assert.True(node.TryPublish("multi", parts.Add("one").Add("two")));
        Assert.Equal(0, parts.Count);
        Assert.Equal(("multi", "one|two"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact(DisplayName = "test_spot_peer_pubsub")]
    public Task A_peer_over_inproc_receives_a_publication() => SpotPeers.ExchangeAsync("inproc://spot-peer-basic", "peer:topic", "pong");

    [Theory(DisplayName = "test_spot_peer_ipc, _tcp, _ws, _tls, _wss")]
    [InlineData("ipc")]
    [InlineData("tcp")]
    [InlineData("ws")]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task A_peer_receives_a_publication(string transport) => SpotPeers.ExchangeOverAsync(transport);

    [Fact(DisplayName = "test_spot_multi_publisher")]
    public Task A_node_receives_from_two_peers() => SpotPeers.ExchangeWithTwoAsync("basic");

    [Fact(DisplayName = "test_spot_unsubscribe")]
    public async Task An_unsubscribed_topic_is_not_received()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("unsub");
        Assert.True(node.TryPublish("unsub", "msg1"u8));
        Assert.Equal(("unsub", "msg1"), await SpotScene.ReceiveAsync(subscriber));
        Assert.True(subscriber.Unsubscribe("unsub"));
        Assert.True(node.TryPublish("unsub", "msg2"u8));
        Assert.False(subscriber.TryReceive(out _));
    }

    [Fact(DisplayName = "test_spot_mmorpg_zone_adjacency_scale")]
    public Task Every_zone_receives_its_neighbours_on_one_node() => SpotZones.RunAsync(nodes: 1, width: 16, height: 16);

    [Fact(DisplayName = "test_spot_mmorpg_zone_adjacency_scale_multi_node_discovery")]
    public Task Every_zone_receives_its_neighbours_on_four_nodes() => SpotZones.RunAsync(nodes: 4, width: 12, height: 12);

    [Fact(DisplayName = "test_spot_discovery_auto_peer_connect")]
    public async Task Two_nodes_of_a_registry_find_each_other()
    {
        await using var scene = new SpotScene();
        await using ServiceRegistry registry = SpotZones.Start(scene, "auto");
        await using RegistryDirectory discovery = SpotZones.Discover(scene, "auto");
        SpotNode a = await SpotZones.AddAsync(scene, discovery, "auto", "spot-field-auto");
        SpotNode b = await SpotZones.AddAsync(scene, discovery, "auto", "spot-field-auto");
        SpotSubscriber subscriberA = a.CreateSubscriber();
        SpotSubscriber subscriberB = b.CreateSubscriber();
        subscriberA.Subscribe("zone:auto:test");
        subscriberB.Subscribe("zone:auto:test");
        Assert.Equal(2, (await discovery.WaitForAsync("spot-field-auto", 2, Guard.Token).Guarded()).Instances.Length);
        await a.WaitForPeersAsync(1, Guard.Token).Guarded();
        await b.WaitForPeersAsync(1, Guard.Token).Guarded();
        await scene.Fixture.UntilAsync(() => TryCross(a, "from-a", subscriberB));
        await scene.Fixture.UntilAsync(() => TryCross(b, "from-b", subscriberA));
    }

    [Fact(DisplayName = "test_spot_node_setsockopt")]
    public async Task Sockets_have_the_options_of_the_node_as_they_were_when_it_was_made()
    {
        await using var scene = new SpotScene();
        var options = new SpotNodeOptions
        {
            PublisherSocket = { RoutingId = RoutingId.FromText("pub") },
            SubscriberSocket = { RoutingId = RoutingId.FromText("sub") },
        };
        SpotNode node = scene.Create(options);
        options.PublisherSocket.RoutingId = RoutingId.FromText("later");
        SubSocket listening = scene.Fixture.Own(scene.Context.CreateSub());
        listening.Connect(node.Bind("tcp://127.0.0.1:0"));
        PubSocket publishing = scene.Fixture.Own(scene.Context.CreatePub());
        node.Connect(publishing.Bind("tcp://127.0.0.1:0"));
        await scene.Fixture.UntilAsync(() => listening.GetPeers().Any(static peer => peer.RoutingId == RoutingId.FromText("pub"))
            && publishing.GetPeers().Any(static peer => peer.RoutingId == RoutingId.FromText("sub")));
    }

    private static bool TryCross(SpotNode from, string text, SpotSubscriber to)
    {
        Assert.True(from.TryPublish("zone:auto:test", SpotScene.Bytes(text)));
        while (to.TryReceive(out SpotMessage message))
        {
            using (message)
            {
                if (!message.IsLocal && string.Equals(message.GetString(), text, StringComparison.Ordinal))
                {
                    return true;
                }
            }
        }

        return false;
    }
}
