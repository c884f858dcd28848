using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public class DiscoveryTests
{
    [Fact]
    public async Task Changes_come_in_order_and_begin_with_what_is_there()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await registry.WaitForSubscribersAsync();
        registry.Publish(1, 1, ("a", "tcp://1", 1));
        ServiceSnapshot first = await discovery.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();
        Assert.Equal([new ServiceInstance("a", "tcp://1") { RoutingId = RoutingId.FromText("id") }], first.Instances);

        await using IAsyncEnumerator<ServiceChange> changes = discovery.WatchAsync(cancellationToken: Guard.Token)
            .GetAsyncEnumerator(Guard.Token);
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal((0, first), (changes.Current.Before.Instances.Length, changes.Current.After));
        registry.Publish(1, 2, ("a", "tcp://1", 4), ("a", "tcp://2", 1));
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal(["tcp://2"], changes.Current.Added.Select(static instance => instance.Endpoint), StringComparer.Ordinal);
        Assert.Equal(4u, Assert.Single(changes.Current.Updated).Weight);
        registry.Publish(1, 3);
        Assert.True(await changes.MoveNextAsync().Guarded());
        Assert.Equal((2, false), (changes.Current.Removed.Count(), changes.Current.After.IsAvailable));

        await discovery.DisposeAsync();
        Assert.False(await changes.MoveNextAsync().Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(
            () => discovery.WaitForAsync("a", cancellationToken: TestContext.Current.CancellationToken).Guarded());
    }

    [Fact]
    public async Task A_lost_registry_keeps_its_view_and_shows_that_it_is_lost()
    {
        await using var fixture = new ContextFixture();
        var registry = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        Assert.Throws<ZlinkException>(() => discovery.ConnectRegistry("nowhere"));
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        Assert.Equal((0u, 0ul), (discovery.GetRegistries()[0].RegistryId, discovery.GetRegistries()[0].Sequence));
        await registry.WaitForSubscribersAsync();
        registry.Publish(7, 3, ("a", "tcp://1", 1));
        await discovery.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();
        RegistryView view = Assert.Single(discovery.GetRegistries());
        Assert.Equal((registry.PublisherEndpoint, true, 7u, 3ul, 1),
            (view.Endpoint, view.IsConnected, view.RegistryId, view.Sequence, view.Services));

        registry.Dispose();
        await Guard.UntilAsync(() => discovery.GetRegistries().Any(static lost => lost is { IsConnected: false, RegistryId: 7 }),
            "the loss shows");
        Assert.Equal(1, discovery.GetInstanceCount("a"));
        Assert.Contains("not connected", discovery.Describe(), StringComparison.Ordinal);
        Assert.Contains("tcp://1", discovery.Describe(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("inproc://publisher")]
    public async Task A_restarted_registry_is_believed_whatever_its_sequence_and_what_it_lacks_goes_in_time(string endpoint)
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        await using var discovery = new RegistryDirectory(fixture.Context);
        var registry = new ScriptedRegistry(fixture.Context, publisherEndpoint: endpoint);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await registry.WaitForSubscribersAsync();
        registry.Publish(7, 30, ("a", "tcp://1", 1), ("a", "tcp://2", 1));
        await discovery.WaitForAsync("a", 2, Guard.Token).Guarded();
        registry.Dispose();
        await UntilAsync(clock, () => discovery.GetRegistries().Any(static lost => lost is { IsConnected: false, RegistryId: 7 }));

        using var next = new ScriptedRegistry(fixture.Context, publisherEndpoint: registry.PublisherEndpoint);
        await UntilAsync(clock, () => discovery.GetRegistries().Any(static view => view is { IsConnected: true }));
        await next.WaitForSubscribersAsync();
        next.Publish(7, 1, ("a", "tcp://2", 9));
        await Guard.UntilAsync(
            () =>
            {
                _ = discovery.GetRegistries(); // Behind it what is seen has set the timer, too.
                return discovery.GetService("a").Instances is [_, { Weight: 9 }];
            },
            "the new list counts");
        clock.Advance(TimeSpan.FromSeconds(15));
        await Guard.UntilAsync(
            () =>
            {
                clock.Advance(TimeSpan.FromSeconds(1)); // The end of the first connection may set the timer while the clock moves.
                return discovery.GetService("a").Instances is [{ Endpoint: "tcp://2" }];
            },
            "what is not listed anew has gone");
    }

    [Fact]
    public async Task Disconnecting_a_registry_takes_away_what_it_alone_listed()
    {
        await using var fixture = new ContextFixture();
        using var one = new ScriptedRegistry(fixture.Context);
        using var two = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(one.PublisherEndpoint);
        discovery.ConnectRegistry(two.PublisherEndpoint);
        await one.WaitForSubscribersAsync();
        await two.WaitForSubscribersAsync();
        one.Publish(1, 1, ("a", "tcp://1", 1), ("a", "tcp://2", 1));
        two.Publish(2, 1, ("a", "tcp://2", 1), ("a", "tcp://3", 1));
        await discovery.WaitForAsync("a", 3, Guard.Token).Guarded();

        Assert.True(discovery.DisconnectRegistry(one.PublisherEndpoint));
        Assert.False(discovery.DisconnectRegistry(one.PublisherEndpoint));
        Assert.Equal(["tcp://2", "tcp://3"], discovery.GetService("a").Instances.Select(static instance => instance.Endpoint),
            StringComparer.Ordinal);
    }

    [Fact]
    public async Task Subscriptions_filter_what_is_shown_and_not_what_is_received()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.Subscribe("a");
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await registry.WaitForSubscribersAsync();
        registry.Publish(1, 1, ("a", "tcp://1", 1), ("b", "tcp://2", 1));
        await discovery.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();
        Assert.Equal((false, 1), (discovery.IsAvailable("b"), discovery.GetServices().Count));

        ValueTask<ServiceSnapshot> waiting = discovery.WaitForAsync("b", cancellationToken: Guard.Token);
        discovery.Subscribe("b");
        await waiting.Guarded();
        Assert.True(discovery.Unsubscribe("a"));
        Assert.False(discovery.Unsubscribe("a"));
        Assert.False(discovery.IsAvailable("a"));
        Assert.True(discovery.Unsubscribe("b"));
        Assert.Equal(2, discovery.GetServices().Count);
    }

    [Fact]
    public async Task Many_threads_may_connect_first()
    {
        await using var fixture = new ContextFixture();
        using var registry = new ScriptedRegistry(fixture.Context, publisherEndpoint: "inproc://publisher");
        await using var discovery = new RegistryDirectory(fixture.Context);
        Parallel.For(0, 32, _ => discovery.ConnectRegistry("inproc://publisher"));
        Assert.Equal(1, registry.Subscribers);
        Assert.Single(discovery.GetRegistries());
    }

    [Fact]
    public async Task A_discovery_asks_each_registry_once_for_each_connection()
    {
        await using var fixture = new ContextFixture();
        using var one = new ScriptedRegistry(fixture.Context);
        using var two = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(one.PublisherEndpoint);
        discovery.ConnectRegistry(one.PublisherEndpoint);
        await one.WaitForSubscribersAsync();
        discovery.Subscribe("a");
        discovery.ConnectRegistry(two.PublisherEndpoint);
        await two.WaitForSubscribersAsync();
        discovery.Subscribe("b");
        one.Publish(1, 1, ("a", "tcp://1", 1));
        two.Publish(2, 1, ("b", "tcp://2", 1));
        await discovery.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();
        await discovery.WaitForAsync("b", cancellationToken: Guard.Token).Guarded();
        Assert.True(discovery.Unsubscribe("a"));
        await fixture.SettleAsync();
        Assert.Equal((0, 0), (one.TakeNotices(), two.TakeNotices()));
    }

    [Fact]
    public async Task A_list_over_a_limit_is_one_line_in_the_log_and_stands_in_the_status_and_what_was_listed_before_stays()
    {
        var clock = new ManualTimeProvider();
        var log = new RecordingLoggers();
        await using var fixture = new ContextFixture(time: clock, log: log);
        using var registry = new ScriptedRegistry(fixture.Context);
        await using var discovery = new RegistryDirectory(fixture.Context,
            options: new RegistryDirectoryOptions { Socket = { MaxMessageParts = 12 } });
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        await registry.WaitForSubscribersAsync();
        registry.Publish(1, 1, ("a", "tcp://1", 1));
        await discovery.WaitForAsync("a", cancellationToken: Guard.Token).Guarded();

        int asked = 0;
        for (int i = 0; i < 3; i++)
        {
            registry.Publish(1, 2, ("a", "tcp://1", 1), ("a", "tcp://2", 1), ("a", "tcp://3", 1));
            await UntilAsync(clock, () => discovery.GetRegistries().Any(static lost => lost is { Sequence: 1, WhyNotConnected: not null }));
            Assert.All(discovery.GetRegistries(),
                static lost => Assert.Contains("too large", lost.WhyNotConnected, StringComparison.Ordinal));
            Assert.Contains("too large", discovery.Describe(), StringComparison.Ordinal);
            await UntilAsync(clock, () => (asked += registry.TakeNotices()) > i);
        }

        Assert.Equal((1, 3), (discovery.GetInstanceCount("a"), asked));
        Assert.Single(log.TextsOf(2104));
    }

    // Reconnecting and looking at inproc peers take the clock's time.
    private static async Task UntilAsync(ManualTimeProvider clock, Func<bool> condition)
    {
        for (int i = 0; i < 200 && !condition(); i++)
        {
            clock.Advance(TimeSpan.FromMilliseconds(50));
            await Guard.UntilAsync(condition, "it happens", TimeSpan.FromMilliseconds(50))
                .ContinueWith(static _ => { }, TaskScheduler.Default);
        }

        Assert.True(condition());
    }
}
