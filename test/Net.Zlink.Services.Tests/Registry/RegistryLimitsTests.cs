using System.Globalization;
using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>What a registry may list its followers take, and lists cost no more than is allowed.</summary>
public sealed class RegistryLimitsTests
{
    // 4 + 6 x 17,000 parts: more than a message has by default.
    private const int ManyServices = 17_000;

    [Fact]
    public async Task A_list_of_more_parts_than_messages_have_by_default_reaches_discoveries_and_peers()
    {
        await using var fixture = new RegistryFixture();
        using XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { Linger = TimeSpan.Zero, Notices = SubscriptionNotices.AllSubscriptions });
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        ServiceRegistry registry = fixture.Start(options => options.Peers = [endpoint]);
        await using var direct = new RegistryDirectory(fixture.Context);
        direct.ConnectRegistry(endpoint);
        for (int i = 0; i < 2; i++)
        {
            using Message subscription = await publisher.ReceiveAsync(Guard.Token).Guarded();
        }

        using var list = new MessageBuilder();
        ListedService[] services = [.. Enumerable.Range(0, ManyServices).Select(static i => Service(i, "tcp://127.0.0.1:1"))];
        ServiceListWriter.Write(list, new ServiceListHeader(MessageIds.ServiceList, 99, 1, 0), services);
        await publisher.SendAsync(list, Guard.Token).Guarded();
        await Guard.UntilAsync(() => direct.GetServices().Count == ManyServices, "the discovery takes the list");
        await Guard.UntilAsync(() => registry.GetSnapshot().PeerLists == 1, "the peer takes the list");
        await using var behind = new RegistryDirectory(fixture.Context);
        behind.ConnectRegistry(registry.PublisherEndpoint);
        await Guard.UntilAsync(() => behind.GetServices().Count == ManyServices, "the peer's follower takes it, too");
    }

    [SlowFact]
    public async Task As_many_services_of_one_instance_as_a_registry_takes_reach_discoveries_and_peers_and_one_more_is_refused()
    {
        await using var fixture = new RegistryFixture();
        const int Most = ListLimits.MaxEntries;
        TimeSpan lease = TimeSpan.FromMinutes(10); // Nothing renews the entries, and a busy machine takes its time.
        ServiceRegistry registry = fixture.Start(options => (options.MaxEntries, options.HeartbeatTimeout) = (Most, lease));
        ServiceRegistry peer = fixture.Start(options => options.Peers = [registry.PublisherEndpoint]);
        await using var discovery = new RegistryDirectory(fixture.Context);
        discovery.ConnectRegistry(registry.PublisherEndpoint);
        Support.RegistryClient client = fixture.Connect(registry, "x");
        Task sending = Task.Run(async () =>
        {
            for (int i = 0; i < Most; i++)
            {
                await client.SendAsync(Register($"service-{i:000000}", $"tcp://192.0.2.1:{i}"));
            }
        }, Guard.Token);
        for (int i = 0; i < Most; i++)
        {
            Assert.StartsWith("0 ", await client.ReadAckAsync(), StringComparison.Ordinal);
        }

        await sending.Guarded();
        Assert.Equal("2 e registry full", await client.AskAsync(Register("one-more", "e")));
        await Guard.UntilAsync(() => discovery.GetServices().Count == Most, "the discovery sees all",
            TimeSpan.FromMinutes(3));
        // A snapshot of the peer for each look would keep it from its work.
        await using var behind = new RegistryDirectory(fixture.Context);
        behind.ConnectRegistry(peer.PublisherEndpoint);
        await Guard.UntilAsync(() => behind.GetServices().Count == Most, "the peer sees all",
            TimeSpan.FromMinutes(3));
    }

    [Fact]
    public void The_parts_that_followers_take_are_those_of_the_largest_list()
    {
        using var list = new MessageBuilder();
        ServiceListWriter.Write(list, new ServiceListHeader(MessageIds.ServiceList, 1, 1, 0), [Service(0, "e")]);
        int partsOfOne = list.Count - ServiceListHeader.FrameCount;
        Assert.Equal(ListLimits.MaxParts, ServiceListHeader.FrameCount + (partsOfOne * ListLimits.MaxEntries) + 1); // And the removals.
        Assert.Throws<ArgumentOutOfRangeException>(new ServiceRegistryOptions
        {
            PublisherEndpoint = "tcp://127.0.0.1:0",
            RouterEndpoint = "tcp://127.0.0.1:0",
            MaxEntries = ListLimits.MaxEntries + 1,
        }.Validate);
    }

    [Fact]
    public void An_entry_that_would_make_the_list_longer_than_followers_take_is_refused()
    {
        var state = new RegistryState(new RegistrySettings(1, TimeSpan.FromSeconds(15), TimeSpan.FromHours(1), ListLimits.MaxEntries), 0);
        var sender = new RegistrySender(new RoutingId(new byte[255]), "192.0.2.1");
        RegistryAck? ack;
        int count = 0;
        do
        {
            ack = state.Handle(default, new RegistryRequest(MessageIds.Register, Key($"{count:000000}{new string('s', 249)}",
                new string('e', 255))), sender);
            count++;
        }
        while (ack == RegistryAck.Done);

        Assert.Equal((RegistryAck.RegistryFull, count - 1), (ack, state.OwnCount));
        Assert.InRange(state.ByteCount, ListLimits.MaxBytes - 1000, ListLimits.MaxBytes);
    }

    [Fact]
    public void Entries_of_a_peer_beyond_the_limit_are_left_out_with_one_event_and_come_when_there_is_a_place()
    {
        var state = new RegistryState(new RegistrySettings(1, TimeSpan.FromSeconds(15), TimeSpan.FromHours(1), MaxEntries: 3), 0);
        var view = new PeerView("tcp://192.0.2.9:1");
        var sender = new RegistrySender(RoutingId.FromText("x"), "192.0.2.1");
        state.Handle(default, new RegistryRequest(MessageIds.Register, Key("own", "e")), sender);
        Take(state, view, 1, [.. Enumerable.Range(0, 4).Select(static i => Service(i, "e"))]);
        Assert.Equal(3, state.All.Length);
        Assert.Equal([RegistryEventType.ListFull], state.DequeueEvents().Select(static one => one.Type)
            .Where(static type => type is not (RegistryEventType.Learned or RegistryEventType.Registered or RegistryEventType.PeerUp)));
        Assert.Equal(RegistryAck.RegistryFull, state.Handle(default, new RegistryRequest(MessageIds.Register, Key("more", "e")), sender));
        state.Handle(default, new RegistryRequest(MessageIds.Unregister, Key("own", "e")), sender);
        state.Tick(RegistryState.ShortestTick);
        Assert.Equal("service-0 service-1 service-2", string.Join(" ", state.All.Select(static service => service.Key.Name)));
        Take(state, view, 2, [Service(3, "e")]);
        Assert.Equal("service-3", Assert.Single(state.All).Key.Name.ToString());
    }

    [Fact]
    public async Task Changes_wait_while_the_last_list_takes_its_time_at_the_rate_and_the_latest_state_is_sent()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start(static options => (options.Id, options.MaxBroadcastBytesPerSecond) = (7, 100));
        ListFollower lists = fixture.Follow(registry);
        Assert.Equal("5 of 7, 0: ", await lists.ReadAsync());
        Support.RegistryClient client = fixture.Connect(registry, "x");
        await client.AskAsync(Register("s", "a"));
        Assert.Equal("5 of 7, 1: 1/s a id=x w=1", await lists.ReadAsync());
        await client.AskAsync(Register("s", "b"));
        await client.AskAsync(Register("s", "c"));
        Assert.Equal(2, registry.GetSnapshot().ListsSent);
        clock.Advance(TimeSpan.FromSeconds(3)); // Of about 130 bytes.
        Assert.Equal("5 of 7, 3: 1/s a id=x w=1; 1/s b id=x w=1; 1/s c id=x w=1", await lists.ReadAsync());
    }

    [Fact]
    public async Task A_client_that_subscribes_again_and_again_gets_few_lists()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start();
        using RawPeer raw = await RawPeer.ConnectAsync(registry.PublisherEndpoint);
        await raw.SendAsync(Convert.FromHexString("5a0102000000000401020161" + "5a0102000000000104"));
        await raw.SendAsync(Enumerable.Repeat(Convert.FromHexString("5a01080000000000"), 1_000).SelectMany(static one => one).ToArray());
        await Guard.UntilAsync(() => registry.GetSnapshot() is { ListsSent: 1, Subscribers: 1 }, "it has its list");
        await fixture.Follow(registry).ReadAsync();
        Assert.InRange(registry.GetSnapshot().ListsSent, 2, 3);
        clock.Advance(TimeSpan.FromMilliseconds(100));
        await Guard.UntilAsync(() => registry.GetSnapshot().ListsSent >= 3, "it gets one more");
        await fixture.Follow(registry).ReadAsync();
        Assert.InRange(registry.GetSnapshot().ListsSent, 4, 6);
    }

    private static EntryKey Key(string service, string endpoint) =>
        new(new ServiceKey(1, new ServiceText(service)), new ServiceText(endpoint));

    private static ListedService Service(int number, string endpoint) => new(
        new ServiceKey(1, new ServiceText(string.Create(CultureInfo.InvariantCulture, $"service-{number}"))),
        [new ListedInstance(new ServiceText(endpoint), RoutingId.FromText("x"), 1)]);

    private static void Take(RegistryState state, PeerView view, ulong sequence, ListedService[] services)
    {
        var header = new ServiceListHeader(MessageIds.RegistrySync, 2, sequence, (uint)services.Length);
        Assert.True(state.WantsList(default, view, header));
        state.TakeList(default, view, header, new(services.ToDictionary(static one => one.Key)));
    }
}
