using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>To whom a node is connected, for how long, and what it says when messages may be missing.</summary>
public class SpotPeersTests
{
    private static readonly TimeSpan Step = TimeSpan.FromMilliseconds(250);

    [Fact]
    public async Task A_node_that_is_known_by_several_addresses_is_heard_once_and_by_another_one_when_the_first_ends()
    {
        await using var scene = new SpotScene();
        SpotNode publishing = scene.Create();
        string[] endpoints = [publishing.Bind("tcp://127.0.0.1:*"), publishing.Bind("tcp://127.0.0.1:*")];
        var directory = new StaticDirectory();
        directory.SetService(
            SpotNode.DefaultService, [.. endpoints.Select(static one => new ServiceInstance(SpotNode.DefaultService, one))]);
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePrefix("");
        using IDisposable use = node.UseDirectory(directory);
        node.Connect(endpoints[0].Replace("127.0.0.1", "localhost", StringComparison.Ordinal));
        await UntilOneIsConnectedAsync(node, of: 3);
        await scene.UntilFilteredAsync(publishing, subscriber, "t");
        for (int i = 0; i < 100; i++)
        {
            Assert.True(publishing.TryPublish("t", BitConverter.GetBytes(i)));
        }

        for (int i = 0; i < 100; i++)
        {
            using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal((i, null), (BitConverter.ToInt32(message.Span), message.MissedBefore));
        }

        string connected = node.GetPeers().Single(static peer => peer.IsConnected).Endpoint;
        publishing.Unbind(connected.Replace("localhost", "127.0.0.1", StringComparison.Ordinal));
        await Guard.UntilAsync(() => node.GetStatistics().Gaps == 1, "another address takes over");
        Assert.False(subscriber.TryReceive(out _));
        await scene.UntilFilteredAsync(publishing, subscriber, "t");
    }

    [Fact]
    public async Task A_node_stays_connected_by_an_address_that_is_named_no_more_while_another_of_its_addresses_is()
    {
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        SpotNode publishing = scene.Create();
        SpotNode node = scene.Create();
        string[] endpoints = [publishing.Bind("tcp://127.0.0.1:*"), publishing.Bind("tcp://127.0.0.1:*")];
        node.Connect(endpoints[0]);
        await node.WaitForPeersAsync(1, Guard.Token).Guarded();
        node.Connect(endpoints[1]);
        await UntilOneIsConnectedAsync(node, of: 2);
        Assert.True(node.Disconnect(endpoints[0]));
        Assert.Equal(endpoints[0], Assert.Single(node.GetPeers(), static peer => peer.IsConnected).Endpoint);
        Assert.True(node.Disconnect(endpoints[1]));
        await Guard.UntilAsync(() => node.GetPeers().Count == 0, "no address is named any more");
    }

    [Fact]
    public async Task Nodes_with_one_configured_routing_id_are_two_and_a_warning_says_so()
    {
        using var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        var same = new SpotNodeOptions { PublisherSocket = { RoutingId = RoutingId.FromText("same") } };
        await using var first = new SpotNode(fixture.Context, same);
        await using var second = new SpotNode(fixture.Context, same);
        await using var node = new SpotNode(fixture.Context);
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.SubscribePrefix("");
        node.Connect(first.Bind("tcp://127.0.0.1:*"));
        node.Connect(second.Bind("tcp://127.0.0.1:*"));
        await node.WaitForPeersAsync(2, Guard.Token).Guarded();
        foreach (SpotNode publishing in (SpotNode[])[first, second])
        {
            await Guard.UntilAsync(() => publishing.TryPublish("t", "x"u8) && subscriber.TryReceive(out SpotMessage one) && Done(one),
                "each of the two is heard");
        }

        await Guard.UntilAsync(() => log.TextsOf(2308).Any(),
            "a warning says it");

        static bool Done(SpotMessage message)
        {
            message.Dispose();
            return true;
        }
    }

    [Fact]
    public async Task Behind_a_reconnect_the_next_message_of_that_node_says_to_each_subscriber_what_may_be_missing()
    {
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotNode other = scene.Create();
        SpotSubscriber[] subscribers = [node.CreateSubscriber(), node.CreateSubscriber()];
        subscribers[0].Subscribe("t");
        subscribers[1].Subscribe("u");
        await using IAsyncEnumerator<SpotGap> gaps = node.WatchGapsAsync(Guard.Token).GetAsyncEnumerator(Guard.Token);
        node.Connect(other.Bind("tcp://127.0.0.1:*"));
        string endpoint;
        await using (SpotNode first = new(scene.Context))
        {
            node.Connect(endpoint = first.Bind("tcp://127.0.0.1:*"));
            await scene.UntilFilteredAsync(first, subscribers[0], "t");
            await scene.UntilFilteredAsync(other, subscribers[0], "t");
        }

        await Guard.UntilAsync(() => node.GetStatistics().Peers == 1, "it has ended");
        await using SpotNode second = new(scene.Context);
        second.Bind(endpoint);
        Assert.True(await gaps.MoveNextAsync().Guarded());
        SpotGap gap = gaps.Current;
        Assert.Equal((endpoint, 1), (gap.Endpoint, node.GetStatistics().Gaps));
        Assert.True(gap.From <= gap.Until);
        Assert.True(other.TryPublish("t", "of the other"u8));
        Assert.Null(await NextGapAsync(subscribers[0]));
        Assert.Same(gap, await FirstOfAsync(second, subscribers[0], "t"));
        Assert.Same(gap, await FirstOfAsync(second, subscribers[1], "u"));
        Assert.True(second.TryPublish("t", "x"u8));
        Assert.True(second.TryPublish("u", "x"u8));
        Assert.Null(await NextGapAsync(subscribers[0]));
        Assert.Null(await NextGapAsync(subscribers[1]));
    }

    [Fact]
    public async Task A_node_that_froze_and_came_back_at_the_same_address_is_heard_again()
    {
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        SpotNode frozen = scene.Create();
        SpotNode next = scene.Create();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("t");
        FreezingRelay relay = scene.Fixture.Own(new FreezingRelay(frozen.Bind("tcp://127.0.0.1:*")));
        node.Connect(relay.Endpoint);
        await scene.UntilFilteredAsync(frozen, subscriber, "t");
        relay.Freeze(next.Bind("tcp://127.0.0.1:*"));
        TimeSpan passed = TimeSpan.Zero;
        for (; node.GetStatistics().Peers == 1; passed += Step)
        {
            Assert.True(passed < TimeSpan.FromSeconds(6), "it is noticed within the interval and the timeout");
            await AdvanceAsync(scene, clock, Step);
        }

        for (int steps = 0; node.GetStatistics().Gaps == 0; steps++)
        {
            Assert.True(steps < 5_000, "it is connected again");
            await AdvanceAsync(scene, clock, Step); // Its dial takes as long as it takes.
        }

        SpotMessage message = default;
        await Guard.UntilAsync(() => next.TryPublish("t", "x"u8) && subscriber.TryReceive(out message), "it is heard");
        Assert.NotNull(message.MissedBefore);
        Assert.True(message.MissedBefore.Until - message.MissedBefore.From >= TimeSpan.FromSeconds(4)); // Since it was heard last.
        message.Dispose();
    }

    [Theory]
    [InlineData(false, 15)]
    [InlineData(true, 5)]
    public async Task A_connection_that_works_stays_for_a_while_when_its_endpoint_is_listed_no_more(bool isRemovedByWord, int seconds)
    {
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        SpotNode publishing = scene.Create();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("t");
        var list = new StaticDirectory();
        ServiceInstance[] listed = [new ServiceInstance(SpotNode.DefaultService, publishing.Bind("tcp://127.0.0.1:*"))];
        list.SetService(SpotNode.DefaultService, listed);
        using IDisposable use = node.UseDirectory(isRemovedByWord ? list : new OtherDirectory(list));
        await scene.UntilFilteredAsync(publishing, subscriber, "t");

        // Forgotten and listed again in time.
        list.SetService(SpotNode.DefaultService, []);
        await AdvanceAsync(scene, clock, TimeSpan.FromSeconds(seconds - 3));
        list.SetService(SpotNode.DefaultService, listed);
        await AdvanceAsync(scene, clock, TimeSpan.FromSeconds(seconds));
        Assert.True(publishing.TryPublish("t", "heard"u8));
        Assert.Equal(("t", "heard"), await SpotScene.ReceiveAsync(subscriber));
        Assert.Equal(0, node.GetStatistics().Gaps);

        list.SetService(SpotNode.DefaultService, []);
        await AssertPeerGoesAfterAsync(scene, clock, node, seconds);

        // It comes back, and messages were missed.
        list.SetService(SpotNode.DefaultService, listed);
        await node.WaitForPeersAsync(1, Guard.Token).Guarded();
        Assert.Equal(1, node.GetStatistics().Gaps);
    }

    [Theory]
    [InlineData("unregister", 5)]
    [InlineData("remove", 5)]
    [InlineData("expire", 15)]
    public async Task A_connection_outlives_its_entry_by_5_s_when_a_registry_says_that_the_node_left_and_by_15_s_when_it_vanished(
        string end, int seconds)
    {
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        var registry = scene.Fixture.Own(new ServiceRegistry(scene.Context, new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:0",
            RouterEndpoint = "tcp://127.0.0.1:0",
            HeartbeatTimeout = end is "expire" ? TimeSpan.FromSeconds(2) : TimeSpan.FromHours(1),
        }));
        registry.Start();
        using var client = new Support.RegistryClient(scene.Context, registry.RouterEndpoint, "node"u8.ToArray());
        await using var discovery = new RegistryDirectory(scene.Context, ServiceKind.SpotNode);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        SpotNode node = scene.Create();
        using IDisposable use = node.UseDirectory(discovery);
        string endpoint = scene.Create().Bind("tcp://127.0.0.1:*");
        const ushort Kind = (ushort)ServiceKind.SpotNode;
        await client.AskAsync(RegistryClient.Register(SpotNode.DefaultService, endpoint, 1, Kind)).Guarded();
        for (int steps = 0; node.GetStatistics().Peers == 0; steps++)
        {
            Assert.True(steps < 5_000, "it is connected");
            if (end is "expire")
            {
                await client.SendAsync(RegistryClient.Heartbeat(SpotNode.DefaultService, endpoint, Kind)).Guarded();
            }

            await AdvanceAsync(scene, clock, Step);
        }

        if (end is "unregister")
        {
            await client.SendAsync(RegistryClient.Unregister(SpotNode.DefaultService, endpoint, Kind)).Guarded();
        }
        else if (end is "remove")
        {
            Assert.True(registry.Remove(ServiceKind.SpotNode, SpotNode.DefaultService, endpoint));
        }

        for (int steps = 0; discovery.IsAvailable(SpotNode.DefaultService); steps++)
        {
            Assert.True(steps < 5_000, "it is listed no more");
            await AdvanceAsync(scene, clock, Step);
        }

        await AssertPeerGoesAfterAsync(scene, clock, node, seconds);
    }

    [Fact]
    public async Task An_endpoint_of_a_directory_that_is_refused_is_not_dialled_says_why_and_may_be_named_by_hand()
    {
        using var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(log: log);
        using RawListener never = fixture.Listen();
        await using var good = new SpotNode(fixture.Context);
        await using var node = new SpotNode(fixture.Context, new SpotNodeOptions
        {
            DirectoryEndpoints =
            {
                Admission = one => one.Port is 22 ? throw new IOException("no answer")
                    : !string.Equals(one.Text, never.Endpoint, StringComparison.Ordinal),
            },
        });
        string endpoint = good.Bind("tcp://127.0.0.1:*");
        var list = new StaticDirectory();
        ServiceInstance[] listed =
            [.. new[] { endpoint, never.Endpoint, "tcp://127.0.0.1:22", "tcp://169.254.169.254:80", "ipc:///tmp/none" }
                .Select(static one => new ServiceInstance(SpotNode.DefaultService, one))];
        list.SetService(SpotNode.DefaultService, listed);
        using IDisposable use = node.UseDirectory(new OtherDirectory(list));
        await node.WaitForPeersAsync(1, Guard.Token).Guarded();

        // Each is decided about, and in the log, once.
        list.SetService(SpotNode.DefaultService, [.. listed, new ServiceInstance(SpotNode.DefaultService, "tcp://127.0.0.1:9")]);
        await Guard.UntilAsync(() => node.GetPeers().Count == 6, "the second list has come");
        Assert.Equal(4, log.TextsOf(2301).Count());
        Assert.False(never.HasPending);
        Assert.Contains("Admission refused", WhyNot(never.Endpoint), StringComparison.Ordinal);
        Assert.Contains("no answer", WhyNot("tcp://127.0.0.1:22"), StringComparison.Ordinal);
        Assert.Contains("AllowLinkLocal", WhyNot("tcp://169.254.169.254:80"), StringComparison.Ordinal);
        Assert.Contains("Transports", WhyNot("ipc:///tmp/none"), StringComparison.Ordinal);

        node.Connect(never.Endpoint);
        await Guard.UntilAsync(() => never.HasPending, "what the application names is dialled");

        string? WhyNot(string at) =>
            node.GetPeers().Single(peer => string.Equals(peer.Endpoint, at, StringComparison.Ordinal)).WhyNotConnected;
    }

    [Fact]
    public async Task Of_5000_dead_nodes_few_are_dialled_at_a_time_and_one_that_lives_is_connected_at_once()
    {
        const int Dead = 5_000;
        var clock = new ManualTimeProvider();
        await using var scene = new SpotScene(clock);
        SpotNode publishing = scene.Create();
        SpotNode node = scene.Create();
        ServiceInstance[] dead = [.. Enumerable.Range(0, Dead).Select(i =>
            new ServiceInstance(SpotNode.DefaultService, $"tcp://127.1.{i / 250}.{1 + (i % 250)}:9"))];
        var directory = new StaticDirectory();
        directory.SetService(SpotNode.DefaultService, dead);
        using IDisposable use = node.UseDirectory(directory);
        Assert.Equal(Dead, node.GetPeers().Count);
        Assert.InRange(Dialled(), 0, 64);
        await AdvanceAsync(scene, clock, Step);
        Assert.InRange(Dialled(), 0, 64);
        directory.SetService(SpotNode.DefaultService,
            [.. dead, new ServiceInstance(SpotNode.DefaultService, publishing.Bind("tcp://127.0.0.1:*"))]);
        await Guard.UntilAsync(() => node.GetPeers().Count == Dead + 1, "the list has come");
        await AdvanceAsync(scene, clock, Step);
        await node.WaitForPeersAsync(1, Guard.Token).Guarded();

        int Dialled() => node.GetPeers().Count(static peer => peer.WhyNotConnected is null);
    }

    [Fact]
    public async Task What_a_node_published_before_its_end_is_received()
    {
        const int Messages = 5_000;
        await using var scene = new SpotScene();
        SpotNode node = scene.Create();
        SpotSubscriber subscriber = node.CreateSubscriber();
        subscriber.Subscribe("t");
        await using (SpotNode ending = new(scene.Context))
        {
            node.Connect(ending.Bind("tcp://127.0.0.1:*"));
            await scene.UntilFilteredAsync(ending, subscriber, "t");
            for (int i = 0; i < Messages; i++)
            {
                Assert.True(ending.TryPublish("t", BitConverter.GetBytes(i)));
            }
        }

        for (int i = 0; i < Messages; i++)
        {
            using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }
    }

    private static Task UntilOneIsConnectedAsync(SpotNode node, int of) => Guard.UntilAsync(
        () => node.GetPeers() is { } peers && peers.Count == of && peers.Count(static peer => peer.IsConnected) == 1
            && peers.Count(static peer => peer.WhyNotConnected?.StartsWith("the same node", StringComparison.Ordinal) == true) == of - 1,
        "one address is connected, and the others are spares");

    private static async Task AdvanceAsync(SpotScene scene, ManualTimeProvider clock, TimeSpan by)
    {
        for (TimeSpan passed = TimeSpan.Zero; passed < by; passed += Step)
        {
            clock.Advance(Step);
            await scene.Fixture.SettleAsync();
        }
    }

    /// <summary>The list that has it no longer was set, and comes to the node within a few steps.</summary>
    private static async Task AssertPeerGoesAfterAsync(SpotScene scene, ManualTimeProvider clock, SpotNode node, int seconds)
    {
        TimeSpan passed = TimeSpan.Zero;
        for (; node.GetPeers().Count > 0; passed += Step)
        {
            Assert.True(passed < TimeSpan.FromMinutes(1), "it is disconnected");
            await AdvanceAsync(scene, clock, Step);
        }

        Assert.InRange(passed, TimeSpan.FromSeconds(seconds - 1), TimeSpan.FromSeconds(seconds + 4));
    }

    private static async Task<SpotGap?> NextGapAsync(SpotSubscriber subscriber)
    {
        using SpotMessage message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return message.MissedBefore;
    }

    /// <summary>Publishes until the first message arrives, and drops those behind it.</summary>
    private static async Task<SpotGap?> FirstOfAsync(SpotNode publishing, SpotSubscriber subscriber, string topic)
    {
        SpotMessage first = default;
        await Guard.UntilAsync(() => publishing.TryPublish(topic, "x"u8) && subscriber.TryReceive(out first), "it is connected");
        Assert.True(publishing.TryPublish(topic, "last"u8));
        while (!string.Equals((await SpotScene.ReceiveAsync(subscriber)).Parts, "last", StringComparison.Ordinal))
        {
        }

        first.Dispose();
        return first.MissedBefore;
    }

    private sealed class OtherDirectory(IServiceDirectory inner) : IServiceDirectory
    {
        public ServiceSnapshot GetService(string service) => inner.GetService(service);

        public IAsyncEnumerable<ServiceChange> WatchAsync(string? service = null, CancellationToken cancellationToken = default) =>
            inner.WatchAsync(service, cancellationToken);
    }
}
