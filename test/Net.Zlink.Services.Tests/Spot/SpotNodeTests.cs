using System.Diagnostics.Metrics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>What a node and its subscribers do, seen by their user.</summary>
public class SpotNodeTests
{
    [Fact]
    public async Task A_subscriber_gets_one_copy_however_many_of_its_subscriptions_match()
    {
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber subscriber = subscribing.CreateSubscriber();
        subscriber.Subscribe("zone:1");
        subscriber.Subscribe("zone:1");
        subscriber.SubscribePrefix("zone:");
        subscriber.SubscribePattern("zo*");
        subscriber.SubscribePrefix("");
        await scene.UntilFilteredAsync(publishing, subscriber, "zone:1");
        Assert.True(publishing.TryPublish("zone:1", "once"u8));
        Assert.True(publishing.TryPublish("zone:2", "end"u8));
        Assert.Equal(("zone:1", "once"), await SpotScene.ReceiveAsync(subscriber));
        Assert.Equal(("zone:2", "end"), await SpotScene.ReceiveAsync(subscriber));
        Assert.Equal(4, subscribing.GetStatistics().Filters);
        subscriber.Dispose();
        Assert.Equal(0, subscribing.GetStatistics().Filters);
    }

    [Fact]
    public async Task A_batch_is_published_and_received_in_order_at_home_and_at_a_peer()
    {
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber[] subscribers = [publishing.CreateSubscriber(), publishing.CreateSubscriber(), subscribing.CreateSubscriber()];
        Array.ForEach(subscribers, static subscriber => subscriber.Subscribe("batch"));
        await scene.UntilFilteredAsync(publishing, subscribers[2], "batch");
        Array.ForEach(subscribers[..2], static subscriber =>
        {
            while (subscriber.TryReceive(out SpotMessage mark))
            {
                mark.Dispose();
            }
        });
        ReadOnlyMemory<byte>[] payloads = [.. Enumerable.Range(0, 500).Select(static i => (ReadOnlyMemory<byte>)BitConverter.GetBytes(i))];
        SpotPublisher publisher = publishing.CreatePublisher("batch");
        Assert.Equal(300, publisher.PublishMany(payloads.AsSpan(0, 300)));
        await publisher.PublishManyAsync(payloads.AsMemory(300), Guard.Token).Guarded();
        SpotMessage[] batch = new SpotMessage[64];
        foreach (SpotSubscriber subscriber in subscribers)
        {
            for (int at = 0; at < payloads.Length;)
            {
                int count = await subscriber.ReceiveManyAsync(batch, Guard.Token).Guarded();
                foreach (SpotMessage message in batch.AsSpan(0, count))
                {
                    Assert.Equal((at++, subscriber != subscribers[2]), (BitConverter.ToInt32(message.Span), message.IsLocal));
                    message.Dispose();
                }
            }
        }
    }

    [Fact]
    public async Task A_message_of_a_socket_is_published_with_its_parts()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("parts");
        using var builder = new MessageBuilder();
        Message message = builder.Add("a").Add("").Add("c").ToMessage();
        Assert.True(node.TryPublish("parts", in message));
        Assert.Throws<ObjectDisposedException>(() => message.PartCount);
        using SpotMessage received = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        using SpotMessage copy = received.Copy();
        received.Dispose();
        Assert.Equal((3, "a||c"), (copy.PartCount, SpotScene.PartsOf(copy)));
        Assert.Throws<ObjectDisposedException>(() => received.Memory);
        Assert.Throws<ArgumentOutOfRangeException>(() => copy[3]);
    }

    [Theory]
    [InlineData("")]
    [InlineData(256)]
    public async Task A_topic_has_1_to_255_bytes(object length)
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        string topic = length is int count ? new string('x', count) : "";
        Assert.Throws<ArgumentException>(() => node.TryPublish(topic, "x"u8));
        Assert.Throws<ArgumentException>(() => subscriber.Subscribe(topic));
        Assert.Throws<ArgumentException>(() => subscriber.SubscribePattern(topic));
        Assert.Throws<ArgumentException>(() => subscriber.SubscribePattern("a*b"));
        Assert.Throws<ArgumentException>(() => subscriber.SubscribePattern("no asterisk"));
        string longest = new('x', 255);
        subscriber.Subscribe(longest);
        Assert.True(node.TryPublish(longest, "x"u8));
        Assert.Equal((longest, "x"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact]
    public async Task A_second_bind_of_the_same_endpoint_is_a_success_and_one_of_another_node_is_refused()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        string endpoint = node.Bind("tcp://127.0.0.1:*");
        Assert.Equal(endpoint, node.Bind(endpoint));
        Assert.NotEqual(endpoint, node.Bind("tcp://127.0.0.1:*"), StringComparer.Ordinal);
        string byName = endpoint.Replace("127.0.0.1", "*", StringComparison.Ordinal);
        Assert.Equal(ZlinkError.AddressInUse, Assert.Throws<ZlinkException>(() => scene.Create().Bind(endpoint)).Error);
        node.Unbind(endpoint);
        string wild = node.Bind(byName);
        Assert.Equal(wild, node.Bind(byName));
        Assert.Throws<ZlinkException>(() => node.Bind("no endpoint"));
        Assert.Throws<ZlinkException>(() => node.Connect("no endpoint"));
    }

    [Fact]
    public async Task What_waits_for_a_subscriber_counts_in_the_limit_of_the_context()
    {
        const int Limit = 1024 * 1024;
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        await using var node = new SpotNode(fixture.Context);
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("t");
        byte[] payload = new byte[16 * 1024];
        for (int i = 0; i < 128; i++)
        {
            Assert.True(node.TryPublish("t", payload));
        }

        SpotSubscriberStatistics counts = subscriber.GetStatistics();
        Assert.InRange(counts.QueuedBytes, Limit / 2, Limit + (128 * 1024));
        Assert.InRange(counts.Dropped, 1, 127);
        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, Limit / 2, Limit);
        while (subscriber.TryReceive(out SpotMessage message))
        {
            message.Dispose();
        }

        Assert.Equal(0, fixture.Context.GetStatistics().QueuedBytes);
        Assert.True(node.TryPublish("t", payload));
    }

    [Fact]
    public async Task A_topic_over_255_bytes_from_a_peer_is_counted_and_dropped()
    {
        await using var scene = new SpotScene();
        using PubSocket raw = scene.Context.CreatePub();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePrefix("t");
        node.Connect(raw.Bind("tcp://127.0.0.1:*"));
        await Guard.UntilAsync(() => raw.TopicCount == 1, "the filter has come");
        using var message = new MessageBuilder();
        Assert.True(raw.TrySend(message.Add(new byte[256].Select(static _ => (byte)'t').ToArray()).Add("long")));
        message.Clear();
        Assert.True(raw.TrySend(message.Add(new byte[255].Select(static _ => (byte)'t').ToArray()).Add("longest")));
        Assert.Equal((new string('t', 255), "longest"), await SpotScene.ReceiveAsync(subscriber));
        SpotNodeStatistics counts = node.GetStatistics();
        Assert.Equal((2, 1, 0), (counts.Received, counts.LongTopics, counts.Malformed));
    }

    [Fact]
    public async Task A_topic_that_is_not_remembered_is_received_with_its_text()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        for (int i = 0; i < 10_001; i++)
        {
            Assert.True(node.TryPublish($"topic:{i}", "x"u8));
        }

        subscriber.SubscribePrefix("topic:");
        Assert.True(node.TryPublish("topic:new", "x"u8));
        Assert.Equal(("topic:new", "x"), await SpotScene.ReceiveAsync(subscriber));
        using var parts = new MessageBuilder();
        await node.PublishAsync("topic:newer", parts.Add("a").Add("b"), Guard.Token).Guarded();
        Assert.Equal(("topic:newer", "a|b"), await SpotScene.ReceiveAsync(subscriber));
        SpotPublisher publisher = node.CreatePublisher("topic:newest");
        Assert.Equal(("topic:newest", 1), (publisher.Topic, publisher.PublishMany([new byte[] { (byte)'y' }])));
        Assert.Equal(("topic:newest", "y"), await SpotScene.ReceiveAsync(subscriber));
    }

    [Fact]
    public async Task A_node_that_a_directory_lists_is_connected_and_one_that_it_lists_no_more_is_disconnected()
    {
        await using var scene = new SpotScene();
        SpotNode listed = scene.Create();
        SpotNode manual = scene.Create();
        SpotNode node = scene.Create(new SpotNodeOptions { RemovedEndpointTimeout = TimeSpan.Zero });
        string listedEndpoint = listed.Bind("tcp://127.0.0.1:*");
        string manualEndpoint = manual.Bind("tcp://127.0.0.1:*");
        string own = node.Bind("tcp://127.0.0.1:*");
        var directory = new StaticDirectory();
        node.Connect(manualEndpoint);
        using IDisposable use = node.UseDirectory(directory);
        ServiceInstance At(string endpoint) => new(SpotNode.DefaultService, endpoint);
        directory.SetService(SpotNode.DefaultService,
            [At(listedEndpoint), At(own), At(manualEndpoint), At("no endpoint"),
            new ServiceInstance(SpotNode.DefaultService, "tcp://127.0.0.1:9") { RoutingId = node.RoutingId }]);
        await node.WaitForPeersAsync(2, Guard.Token).Guarded();
        Assert.Equal([.. new[] { listedEndpoint, manualEndpoint }.Order(StringComparer.Ordinal)],
            node.GetPeers().Select(static peer => peer.Endpoint).Order(StringComparer.Ordinal), StringComparer.Ordinal);
        Assert.Equal(2, node.GetPeers().Count);
        directory.SetService(SpotNode.DefaultService, []);
        await Guard.UntilAsync(() => node.GetPeers() is [{ Endpoint: var left }]
            && string.Equals(left, manualEndpoint, StringComparison.Ordinal), "the listed one is disconnected, the manual one stays");
        directory.SetService(SpotNode.DefaultService, [At(listedEndpoint), At(manualEndpoint)]);
        await node.WaitForPeersAsync(2, Guard.Token).Guarded();
        Assert.True(node.Disconnect(manualEndpoint)); // It is still listed.
        Assert.Equal(2, node.GetPeers().Count);
        use.Dispose();
        await Guard.UntilAsync(() => node.GetPeers().Count == 0, "no directory, no peers");
    }

    [Fact]
    public async Task Filters_reach_a_peer_that_comes_again()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("again");
        string endpoint;
        await using (SpotNode first = new(scene.Context))
        {
            endpoint = first.Bind("tcp://127.0.0.1:*");
            node.Connect(endpoint);
            await scene.UntilFilteredAsync(first, subscriber, "again");
        }

        await using SpotNode second = new(scene.Context);
        second.Bind(endpoint);
        await scene.UntilFilteredAsync(second, subscriber, "again");
    }

    [Fact]
    public async Task A_slow_subscriber_drops_its_own_messages_only()
    {
        int messages = SlowTests.Rounds(1_000, all: 5_000);
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber[] fast = [.. Enumerable.Range(0, 99).Select(_ => subscribing.CreateSubscriber())];
        SpotSubscriber slow = subscribing.CreateSubscriber(new SpotSubscriberOptions { Capacity = 10, Overflow = SpotOverflow.DropOldest });
        foreach (SpotSubscriber subscriber in fast.Append(slow))
        {
            subscriber.Subscribe("load");
        }

        await scene.UntilFilteredAsync(publishing, fast[0], "load");
        Task[] reading = [.. fast.Select(subscriber => Task.Run(async () =>
        {
            int next = 0;
            while (next < messages)
            {
                using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token);
                if (message.Span.Length == sizeof(int)) // The others are marks.
                {
                    Assert.Equal(next++, BitConverter.ToInt32(message.Span));
                }
            }
        }))];
        SpotPublisher publisher = publishing.CreatePublisher("load");
        for (int i = 0; i < messages; i++)
        {
            Assert.True(publisher.TryPublish(BitConverter.GetBytes(i)));
        }

        await Task.WhenAll(reading).Guarded();
        Assert.All(fast, static subscriber => Assert.Equal(0, subscriber.GetStatistics().Dropped));
        await Guard.UntilAsync(() => slow.GetStatistics().Matched >= messages, "all have passed the slow one, too");
        SpotSubscriberStatistics counts = slow.GetStatistics();
        Assert.Equal((10, counts.Matched - 10), (counts.Queued, counts.Dropped));
        for (int i = messages - 10; i < messages; i++)
        {
            using SpotMessage message = await slow.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span)); // The newest have stayed.
        }

        SpotScene.AssertCounts(subscribing.GetStatistics().Deliveries);
    }

    [Fact]
    public async Task A_handler_that_throws_gets_the_next_message_and_one_that_waits_delays_nobody()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber throwing = node.CreateSubscriber();
        SpotSubscriber waiting = node.CreateSubscriber();
        SpotSubscriber plain = node.CreateSubscriber();
        foreach (SpotSubscriber subscriber in (SpotSubscriber[])[throwing, waiting, plain])
        {
            subscriber.Subscribe("t");
        }

        int calls = 0;
        var gate = new TaskCompletionSource();
        await using IAsyncDisposable first = throwing.OnMessage((_, _) =>
            Interlocked.Increment(ref calls) == 1 ? throw new InvalidOperationException("on purpose") : ValueTask.CompletedTask);
        await using IAsyncDisposable second = waiting.OnMessage(async (_, token) => await gate.Task.WaitAsync(token));
        Assert.True(node.TryPublish("t", "1"u8));
        Assert.True(node.TryPublish("t", "2"u8));
        Assert.Equal(("t", "1"), await SpotScene.ReceiveAsync(plain));
        Assert.Equal(("t", "2"), await SpotScene.ReceiveAsync(plain));
        await Guard.UntilAsync(() => Volatile.Read(ref calls) == 2, "it is called again");
        Assert.Equal(1, node.GetStatistics().HandlerFaults);
        Assert.Throws<InvalidOperationException>(() => throwing.TryReceive(out _));
        gate.SetResult();
    }

    [Fact]
    public async Task Every_wait_ends_with_the_subscriber_the_node_or_the_context()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber disposed = node.CreateSubscriber();
        disposed.SubscribePrefix("");
        Task waits = disposed.ReceiveAsync(Guard.Token).AsTask();
        disposed.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => waits.Guarded());
        Assert.Throws<ObjectDisposedException>(() => disposed.Subscribe("x"));

        SpotSubscriber left = node.CreateSubscriber();
        left.SubscribePrefix("");
        Task all = Task.Run(async () =>
        {
            await foreach (SpotMessage message in left.ReceiveAllAsync(Guard.Token))
            {
                message.Dispose();
            }
        }, Guard.Token);
        Assert.True(node.TryPublish("x", "x"u8));
        await Guard.UntilAsync(() => left.GetStatistics().Received == 1, "one was received");
        Task peers = node.WaitForPeersAsync(1, Guard.Token).AsTask();
        await node.DisposeAsync().Guarded();
        await all.Guarded();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => peers.Guarded());
        Assert.Throws<ObjectDisposedException>(() => node.TryPublish("x", "x"u8));
        Assert.Throws<ObjectDisposedException>(() => node.CreatePublisher("x").PublishMany([new byte[1]]));
        Assert.Throws<ObjectDisposedException>(() => node.CreateSubscriber());
        Assert.Throws<ObjectDisposedException>(() => node.Bind("tcp://127.0.0.1:*"));
        Assert.Contains("SPOT node", node.Describe(), StringComparison.Ordinal);

        var context = new ZlinkContext();
        await using var other = new SpotNode(context);
        Task ends = other.CreateSubscriber().ReceiveAsync(Guard.Token).AsTask();
        await context.DisposeAsync().Guarded();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => ends.Guarded());
    }

    [Fact]
    public async Task Counts_are_shown_by_statistics_meters_and_a_description()
    {
        await using var scene = new SpotScene();
        (SpotNode publishing, SpotNode subscribing) = await scene.PairAsync();
        SpotSubscriber subscriber = subscribing.CreateSubscriber();
        subscriber.Subscribe("count");
        await scene.UntilFilteredAsync(publishing, subscriber, "count");
        Assert.True(publishing.TryPublish("count:longer", "x"u8)); // The wire knows prefixes only.
        Assert.True(publishing.TryPublish("count", "x"u8));
        await SpotScene.ReceiveAsync(subscriber);
        SpotNodeStatistics counts = subscribing.GetStatistics();
        Assert.Equal((1, 1, 1, 1), ((int)counts.Unmatched, counts.Filters, counts.Peers, counts.Subscribers));
        Assert.Equal(counts.Received - 1, counts.Deliveries.Matched);
        Assert.Equal(1, publishing.GetStatistics().Followers);
        Assert.Contains(subscribing.GetPeers()[0].Endpoint, subscribing.Describe(), StringComparison.Ordinal);

        Dictionary<string, long> measured = new(StringComparer.Ordinal);
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, l) =>
        {
            if (ReferenceEquals(instrument.Meter.Scope, scene.Context))
            {
                l.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, _) => measured[string.Join(
            ' ', tags.ToArray().Where(static tag => !tag.Key.StartsWith("messaging", StringComparison.Ordinal))
                .Select(static tag => $"{tag.Value}").Prepend(instrument.Name))] = value);
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal((counts.Received, 1, counts.Deliveries.Received, 0, 1),
            (measured["zlink.spot.received 2"], measured["zlink.spot.unmatched 2"], measured["messaging.client.consumed.messages 2"],
            measured["zlink.spot.dropped 2 subscriber"], measured["zlink.spot.peers 2"]));
        Assert.Equal(publishing.GetStatistics().Published, measured["messaging.client.sent.messages 1"]);
    }

    [Fact]
    public async Task A_node_is_connected_over_inproc_again_when_its_peer_comes_again()
    {
        await using var scene = new SpotScene();
        string endpoint = $"inproc://{Guid.NewGuid():N}";
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("again");
        node.Connect(endpoint); // Before there is anybody.
        for (int i = 0; i < 3; i++)
        {
            await using SpotNode peer = new(scene.Context);
            peer.Bind(endpoint);
            await scene.UntilFilteredAsync(peer, subscriber, "again");
        }
    }
}
