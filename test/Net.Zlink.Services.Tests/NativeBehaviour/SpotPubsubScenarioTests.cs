using System.Threading.Channels;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The native core's core/tests/spot/test_spot_pubsub_scenario.cpp, test by test with its values. Where it sleeps, these wait for
/// what it sleeps for. EBUSY does not occur: receives wait side by side.</summary>
public class SpotPubsubScenarioTests
{
    [Theory(DisplayName = "test_spot_peer_ipc, _tcp, _ws, _tls, _wss")]
    [InlineData("ipc")]
    [InlineData("tcp")]
    [InlineData("ws")]
    [InlineData("tls")]
    [InlineData("wss")]
    public Task A_peer_receives_a_publication(string transport) => SpotPeers.ExchangeOverAsync(transport);

    [Fact(DisplayName = "test_spot_multi_publisher")]
    public Task A_node_receives_from_two_peers() => SpotPeers.ExchangeWithTwoAsync("scenario");

    [Fact(DisplayName = "test_spot_sub_handler_basic")]
    public async Task A_handler_gets_topic_and_parts()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "zone:auto:test");
        var called = new TaskCompletionSource<(int, int, string)>();
        IAsyncDisposable handler = subscriber.OnMessage((message, _) =>
        {
            called.TrySetResult((message.Topic.Length, message.PartCount, message.GetString()));
            return ValueTask.CompletedTask;
        });
        Assert.True(node.TryPublish("zone:auto:test", "ping"u8));
        Assert.Equal((14, 1, "ping"), await called.Task.Guarded());
        await handler.DisposeAsync().Guarded();
    }

    [Fact(DisplayName = "test_spot_sub_handler_recv_conflict")]
    public async Task A_receive_beside_a_handler_is_refused()
    {
        await using var scene = new SpotScene();
        (_, SpotSubscriber subscriber) = Local(scene, "handler:conflict");
        await using IAsyncDisposable handler = subscriber.OnMessage(static (_, _) => ValueTask.CompletedTask);
        Assert.Throws<InvalidOperationException>(() => subscriber.TryReceive(out _));
        await Assert.ThrowsAsync<InvalidOperationException>(async () => await subscriber.ReceiveAsync(Guard.Token));
        Assert.Throws<InvalidOperationException>(() => subscriber.OnMessage(static (_, _) => ValueTask.CompletedTask));
    }

    [Fact(DisplayName = "test_spot_sub_handler_clear_barrier")]
    public async Task A_disposed_handler_is_called_no_more_and_messages_can_be_received()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "clear:barrier");
        int calls = 0;
        IAsyncDisposable handler = subscriber.OnMessage((_, _) =>
        {
            Interlocked.Increment(ref calls);
            return ValueTask.CompletedTask;
        });
        Assert.True(node.TryPublish("clear:barrier", "first"u8));
        await Guard.UntilAsync(() => Volatile.Read(ref calls) == 1, "the handler is called");
        await handler.DisposeAsync().Guarded();
        Assert.True(node.TryPublish("clear:barrier", "second"u8));
        Assert.Equal(("clear:barrier", "second"), await SpotScene.ReceiveAsync(subscriber));
        Assert.Equal(1, calls);
    }

    [Fact(DisplayName = "test_spot_sub_handler_clear_inside_callback")]
    public async Task A_handler_can_be_disposed_inside_of_its_call()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "clear:inside");
        IAsyncDisposable? handler = null;
        var assigned = new TaskCompletionSource();
        var cleared = new TaskCompletionSource();
        int calls = 0;
        handler = subscriber.OnMessage(async (_, _) =>
        {
            Interlocked.Increment(ref calls);
            await assigned.Task;
            await handler!.DisposeAsync();
            cleared.TrySetResult();
        });
        assigned.SetResult();
        Assert.True(node.TryPublish("clear:inside", "first"u8));
        await cleared.Task.Guarded();
        Assert.True(node.TryPublish("clear:inside", "second"u8));
        await handler.DisposeAsync().Guarded();
        Assert.Equal(("clear:inside", "second"), await SpotScene.ReceiveAsync(subscriber));
        Assert.Equal(1, calls);
    }

    [Fact(DisplayName = "test_spot_sub_recv_concurrent_ebusy")]
    public async Task Two_receives_wait_side_by_side_and_are_served_in_order()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "recv:busy:test");
        Task<(string, string)> first = SpotScene.ReceiveAsync(subscriber);
        Task<(string, string)> second = SpotScene.ReceiveAsync(subscriber);
        Assert.False(subscriber.TryReceive(out _));
        Assert.True(node.TryPublish("recv:busy:test", "pong"u8));
        Assert.Equal(("recv:busy:test", "pong"), await first);
        Assert.False(second.IsCompleted);
        Assert.True(node.TryPublish("recv:busy:test", "pong2"u8));
        Assert.Equal(("recv:busy:test", "pong2"), await second);
    }

    [Fact(DisplayName = "test_spot_sub_set_handler_while_recv_ebusy")]
    public async Task A_handler_is_refused_while_a_receive_waits()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "recv:busy:test");
        Task<(string, string)> waiting = SpotScene.ReceiveAsync(subscriber);
        Assert.Throws<InvalidOperationException>(() => subscriber.OnMessage(static (_, _) => ValueTask.CompletedTask));
        Assert.True(node.TryPublish("recv:busy:test", "pong"u8));
        Assert.Equal(("recv:busy:test", "pong"), await waiting);
        await subscriber.OnMessage(static (_, _) => ValueTask.CompletedTask).DisposeAsync().Guarded();
    }

    [Fact(DisplayName = "test_spot_pub_async_mode_local_delivery")]
    public async Task A_queued_publication_reaches_a_local_subscriber()
    {
        await using var scene = new SpotScene();
        (SpotNode node, SpotSubscriber subscriber) = Local(scene, "pub:async:test", new SpotNodeOptions { PublishQueueCapacity = 1024 });
        Assert.True(node.TryPublish("pub:async:test", "pong"u8));
        Assert.Equal(("pub:async:test", "pong"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact(DisplayName = "test_spot_pub_async_setsockopt_validation")]
    public async Task A_capacity_below_zero_and_an_unknown_mode_are_refused()
    {
        await using var fixture = new ContextFixture();
        Assert.Throws<ArgumentOutOfRangeException>(
            () => new SpotNode(fixture.Context, new SpotNodeOptions { PublishQueueCapacity = -1 }));
        Assert.Throws<ArgumentOutOfRangeException>(() => new SpotNode(fixture.Context,
            new SpotNodeOptions { PublishQueueCapacity = 8, PublishQueueFullMode = (BoundedChannelFullMode)7 }));
        foreach (BoundedChannelFullMode mode in Enum.GetValues<BoundedChannelFullMode>())
        {
            await new SpotNode(fixture.Context, new SpotNodeOptions { PublishQueueCapacity = 8, PublishQueueFullMode = mode })
                .DisposeAsync().Guarded();
        }
    }

    [Theory(DisplayName = "test_spot_pub_async_queue_full_eagain, _drop")]
    [InlineData(BoundedChannelFullMode.Wait, false)]
    [InlineData(BoundedChannelFullMode.DropWrite, true)]
    public async Task A_full_queue_of_publications_refuses_or_drops_the_newest(BoundedChannelFullMode mode, bool isAccepted)
    {
        // The native handler holds up the loop of its node. Ours does not; a peer that does not read holds it up with NoDrop.
        await using var scene = new SpotScene();
        SpotNode node = scene.Create(new SpotNodeOptions
        {
            PublishQueueCapacity = 1,
            PublishQueueFullMode = mode,
            PublisherSocket = { NoDrop = true, SendHighWaterMark = 1 },
        });
        SubSocket slow = scene.Fixture.Own(scene.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 }));
        slow.Subscribe("pub:async");
        slow.Connect(node.Bind($"inproc://{Guid.NewGuid():N}"));
        await Guard.UntilAsync(() => node.GetStatistics() is { Followers: 1 }, "the peer is connected");
        if (isAccepted)
        {
            do
            {
                Assert.True(node.TryPublish("pub:async", "x"u8));
                await Task.Yield();
            }
            while (node.GetStatistics().PublishDropped < 3);
        }
        else
        {
            while (node.GetStatistics().Refused < 3)
            {
                node.TryPublish("pub:async", "x"u8);
                await Task.Yield();
            }
        }

        SpotNodeStatistics counts = node.GetStatistics();
        Assert.Equal((isAccepted ? 0 : 3, isAccepted ? 3 : 0), (counts.Refused, counts.PublishDropped));
        for (long left = counts.Published - counts.PublishDropped; left > 0; left--)
        {
            using Message arrived = await slow.ReceiveAsync(Guard.Token).Guarded(); // Released, the loop goes on.
        }
    }

    [Fact(DisplayName = "test_spot_mmorpg_zone_adjacency_scale")]
    public Task Every_zone_receives_its_neighbours_on_one_node() => SpotZones.RunAsync(nodes: 1, width: 16, height: 16);

    [Fact(DisplayName = "test_spot_mmorpg_zone_adjacency_scale_multi_node_discovery")]
    public Task Every_zone_receives_its_neighbours_on_four_nodes() => SpotZones.RunAsync(nodes: 4, width: 24, height: 24);

    private static (SpotNode Node, SpotSubscriber Subscriber) Local(SpotScene scene, string topic, SpotNodeOptions? options = null)
    {
        SpotNode node = scene.Create(options);
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe(topic);
        return (node, subscriber);
    }
}
