using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>Defects of the native core's SPOT, S1 to S9, that ours must not have.</summary>
public class NativeSpotDefectsTests
{
    private static readonly TimeSpan HeartbeatInterval = TimeSpan.FromSeconds(5);
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(500);

    [Fact]
    public async Task S1_A_node_is_registered_at_every_registry_and_each_gets_each_heartbeat()
    {
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        ScriptedRegistry[] registries = [.. Enumerable.Range(0, 4).Select(_ => scene.Fixture.Own(new ScriptedRegistry(scene.Context)))];
        SpotNode node = scene.Create();
        string endpoint = node.Bind("tcp://127.0.0.1:*");
        Array.ForEach(registries, registry => node.ConnectRegistry(registry.RouterEndpoint));
        ServiceRegistration registration = node.Register();
        await Guard.UntilAsync(() => registration.GetRegistries().Count(static status => status.State == RegistrationState.Registered) == 4,
            "all four have accepted");
        for (int beat = 1; beat <= 4; beat++)
        {
            // In steps that the connections have dealt with: their own heartbeats, of 2 s, must not find the clock far ahead.
            for (TimeSpan passed = TimeSpan.Zero; passed < HeartbeatInterval; passed += Step)
            {
                clock.Advance(Step);
                await scene.Fixture.SettleAsync();
            }

            await Guard.UntilAsync(
                () =>
                {
                    clock.Advance(TimeSpan.Zero); // A timer that a link has set behind the step may be due at once.
                    return registries.All(registry => registry.Requests.Count(
                        seen => string.Equals(seen, $"HEARTBEAT spot-node {endpoint}", StringComparison.Ordinal)) >= beat);
                },
                $"each registry gets heartbeat {beat}");
        }

        Assert.All(registries, registry => Assert.Equal($"REGISTER spot-node {endpoint} 1", registry.Requests.First()));
        Assert.All(registries, registry => Assert.Equal(node.RoutingId, registry.Senders.First()));
    }

    [Fact]
    public async Task S2_Heartbeats_handlers_and_peers_go_on_under_a_flood()
    {
        await using var scene = new SpotScene();
        var registry = scene.Fixture.Own(new ScriptedRegistry(scene.Context));
        (SpotNode publishing, SpotNode flooded) = await scene.PairAsync(
            subscribing: new SpotNodeOptions { HeartbeatInterval = TimeSpan.FromMilliseconds(100) });
        SpotSubscriber subscriber = flooded.CreateSubscriber(new SpotSubscriberOptions { Capacity = 100 });
        subscriber.SubscribePrefix("");
        int handled = 0;
        SpotSubscriber quiet = flooded.CreateSubscriber();
        quiet.Subscribe("quiet");
        await using IAsyncDisposable handler = quiet.OnMessage((_, _) =>
        {
            Interlocked.Increment(ref handled);
            return ValueTask.CompletedTask;
        });
        await scene.UntilFilteredAsync(publishing, subscriber, "flood");
        string endpoint = flooded.Bind("tcp://127.0.0.1:*");
        using var stop = new CancellationTokenSource();
        Task flood = Task.Run(() =>
        {
            byte[] payload = new byte[64];
            for (int i = 0; !stop.IsCancellationRequested; i++)
            {
                publishing.TryPublish("flood", payload);
                if (i % 1_000 == 0)
                {
                    publishing.TryPublish("quiet", payload);
                }
            }
        }, Guard.Token);
        flooded.ConnectRegistry(registry.RouterEndpoint);
        await flooded.RegisterAsync(cancellationToken: Guard.Token).Guarded();
        await registry.WaitForAsync($"HEARTBEAT spot-node {endpoint}", 10);
        await Guard.UntilAsync(() => Volatile.Read(ref handled) > 2, "the handler is called");
        SpotNode late = scene.Create();
        flooded.Connect(late.Bind("tcp://127.0.0.1:*"));
        await flooded.WaitForPeersAsync(2, Guard.Token).Guarded();
        await stop.CancelAsync();
        await flood.Guarded();
        SpotScene.AssertCounts(subscriber.GetStatistics());
    }

    [Fact]
    public async Task S3_A_remote_message_needs_no_sleep_of_a_loop()
    {
        // The native loop sleeps 1 ms behind each burst. Ours has no clock in that way: with one that stands still all arrives.
        await using var scene = new SpotScene(new ManualTimeProvider());
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber subscriber = subscribing.CreateSubscriber();
        subscriber.Subscribe("ping");
        await scene.UntilFilteredAsync(publishing, subscriber, "ping");
        for (int i = 0; i < 1_000; i++)
        {
            Assert.True(publishing.TryPublish("ping", BitConverter.GetBytes(i)));
            using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }
    }

    [Fact]
    public async Task S4_Subscriptions_and_peers_change_from_many_threads_under_load()
    {
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotNode other = scene.Create();
        string otherEndpoint = other.Bind("tcp://127.0.0.1:*");
        SpotSubscriber steady = subscribing.CreateSubscriber();
        steady.Subscribe("steady");
        await scene.UntilFilteredAsync(publishing, steady, "steady");
        Task[] changing = [.. Enumerable.Range(0, 4).Select(thread => Task.Run(() =>
        {
            for (int i = 0; i < 200; i++)
            {
                using SpotSubscriber subscriber = subscribing.CreateSubscriber();
                subscriber.SubscribePrefix("st");
                subscriber.Subscribe($"own:{thread}:{i}");
                subscribing.Connect(otherEndpoint);
                subscribing.Disconnect(otherEndpoint);
            }
        }))];
        const int Messages = 20_000;
        Task publish = Task.Run(() =>
        {
            for (int i = 0; i < Messages; i++)
            {
                Assert.True(publishing.TryPublish("steady", BitConverter.GetBytes(i)));
            }
        }, Guard.Token);
        for (int i = 0; i < Messages; i++)
        {
            using SpotMessage message = await steady.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span)); // Once, in order, nothing between is missing.
        }

        await Task.WhenAll([publish, .. changing]).Guarded();
        Assert.Equal(1, subscribing.GetStatistics().Filters);
        Assert.Equal(1, subscribing.GetStatistics().Subscribers);
    }

    [Fact]
    public async Task S5_Queued_publications_of_one_thread_keep_their_order()
    {
        // A switch from queued to direct, by which later publications overtake natively, cannot be written.
        await using var scene = new SpotScene();
        SpotNode node = scene.Create(new SpotNodeOptions { PublishQueueCapacity = 16 });
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("order");
        for (int i = 0; i < 1_000; i++)
        {
            await node.PublishAsync("order", BitConverter.GetBytes(i), Guard.Token).Guarded();
        }

        for (int i = 0; i < 1_000; i++)
        {
            using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }
    }

    [Fact]
    public async Task S6_A_publication_that_fails_for_a_full_peer_has_been_delivered_to_nobody()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create(new SpotNodeOptions { PublisherSocket = { NoDrop = true, SendHighWaterMark = 1 } });
        SpotSubscriber local = node.CreateSubscriber();
        local.Subscribe("full");
        SubSocket slow = scene.Fixture.Own(scene.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 }));
        slow.Subscribe("full");
        slow.Connect(node.Bind($"inproc://{Guid.NewGuid():N}"));
        await Guard.UntilAsync(() => node.GetStatistics().Followers == 1, "the peer is connected");
        int accepted = 0;
        while (node.TryPublish("full", BitConverter.GetBytes(accepted)))
        {
            accepted++;
        }

        using var parts = new MessageBuilder();
        parts.Add("kept");
        Assert.False(node.TryPublish("full", parts));
        Assert.Equal(1, parts.Count);
        Assert.Equal(0, node.CreatePublisher("full").PublishMany([BitConverter.GetBytes(-1), BitConverter.GetBytes(-2)]));
        using var patience = new CancellationTokenSource();
        Task waits = node.PublishAsync("full", BitConverter.GetBytes(-3), patience.Token).AsTask();
        Assert.False(waits.IsCompleted);
        await patience.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waits.Guarded());

        // The next one waits for room and is delivered once, everywhere.
        Task next = node.PublishAsync("full", BitConverter.GetBytes(accepted), Guard.Token).AsTask();
        for (int i = 0; i <= accepted; i++)
        {
            using Message remote = await slow.ReceiveAsync(Guard.Token).Guarded();
            using SpotMessage message = await local.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal((i, i), (BitConverter.ToInt32(message.Span), BitConverter.ToInt32(remote[1].Span)));
        }

        await next.Guarded();
        Assert.False(local.TryReceive(out _));
        Assert.Equal((accepted + 1, 4), (node.GetStatistics().Published, node.GetStatistics().Refused));
    }

    [Fact]
    public async Task S7_The_end_of_one_registration_leaves_the_others()
    {
        await using var scene = new SpotScene();
        var registry = scene.Fixture.Own(new ScriptedRegistry(scene.Context));
        SpotNode node = scene.Create();
        string endpoint = node.Bind("tcp://127.0.0.1:*");
        ServiceRegistration early = node.Register("early"); // Without a registry: it goes on trying.
        node.ConnectRegistry(registry.RouterEndpoint);
        ServiceRegistration second = await node.RegisterAsync("second", cancellationToken: Guard.Token).Guarded();
        await registry.WaitForAsync($"REGISTER early {endpoint} 1");
        await early.DisposeAsync().Guarded();
        await registry.WaitForAsync($"UNREGISTER early {endpoint}");
        Assert.Equal(RegistrationState.Registered, second.State);
        Assert.DoesNotContain($"UNREGISTER second {endpoint}", registry.Requests, StringComparer.Ordinal);
        ServiceRegistration again = await node.RegisterAsync("early", cancellationToken: Guard.Token).Guarded(); // Natively this hangs.
        Assert.Equal(RegistrationState.Registered, again.State);
    }

    [Theory]
    [InlineData("*")]
    [InlineData("")]
    public async Task S8_A_subscription_of_everything_is_asked_of_the_peers(string text)
    {
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber subscriber = subscribing.CreateSubscriber();
        if (text.Length == 0)
        {
            subscriber.SubscribePrefix("");
        }
        else
        {
            subscriber.SubscribePattern(text);
        }

        await scene.UntilFilteredAsync(publishing, subscriber, "any:topic");
        Assert.True(publishing.TryPublish("another", "x"u8));
        Assert.Equal(("another", "x"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact]
    public async Task S9_A_topic_with_a_NUL_and_one_of_255_bytes_arrive_whole()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        PubSocket other = scene.Fixture.Own(scene.Context.CreatePub());
        node.Connect(other.Bind("tcp://127.0.0.1:*"));
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePrefix("t");
        await Guard.UntilAsync(() => other.TopicCount == 1, "the filter has arrived");
        foreach (string topic in (string[])["t\0rest", "t" + new string('x', 254), "t\u00fc"])
        {
            using var message = new MessageBuilder();
            other.Send(message.Add(topic).Add("payload"), Guard.Limit);
            using SpotMessage received = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal((topic, Encoding.UTF8.GetByteCount(topic), "payload"),
                (received.Topic, received.TopicBytes.Length, received.GetString()));
        }

        // A topic without a part, and an empty one, are no publications.
        subscriber.SubscribePrefix("");
        await Guard.UntilAsync(() => other.TopicCount == 2, "the filter has arrived");
        other.Send("t"u8, Guard.Limit);
        using var empty = new MessageBuilder();
        other.Send(empty.Add("").Add("payload"), Guard.Limit);
        other.Send(empty.Add("t").Add(""), Guard.Limit);
        using SpotMessage last = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(("t", 1, 0), (last.Topic, last.PartCount, last.Memory.Length));
        Assert.Equal(2, node.GetStatistics().Malformed);
    }
}
