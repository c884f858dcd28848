using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>Registries in a full mesh over real sockets.</summary>
public sealed class RegistryClusterTests
{
    [Theory]
    [InlineData(2, "tcp")]
    [InlineData(3, "tcp")]
    [InlineData(5, "tcp")]
    [InlineData(3, "inproc")]
    public async Task What_registers_at_one_registry_is_listed_by_all_and_goes_from_all(int nodes, string transport)
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry[] registries = Mesh(fixture, nodes, transport);
        ListFollower[] followers = [.. registries.Select(fixture.Follow)];
        List<Support.RegistryClient> clients = [];
        for (int i = 0; i < nodes; i++)
        {
            clients.Add(fixture.Connect(registries[i], $"r{i}"));
            Assert.Equal($"0 e{i} ", await clients[i].AskAsync(Register("s", $"e{i}", (uint)i + 1)));
        }

        string all = string.Join("; ", Enumerable.Range(0, nodes).Select(static i => $"1/s e{i} id=r{i} w={i + 1}"));
        foreach (ListFollower follower in followers)
        {
            await follower.UntilAsync(all);
        }

        for (int i = 0; i < nodes; i++)
        {
            await clients[i].SendAsync(Unregister("s", $"e{i}"));
        }

        foreach (ListFollower follower in followers)
        {
            await follower.UntilAsync("");
        }
    }

    [Fact]
    public async Task A_registry_with_peers_sends_its_own_entries_in_front_of_all_under_one_number_and_one_without_sends_only_all()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry[] registries = Mesh(fixture, 2, "tcp");
        ListFollower follower = fixture.Follow(registries[0]);
        Assert.Equal(["6 of 1, 0: ", "5 of 1, 0: "], [await follower.ReadAsync(), await follower.ReadAsync()]);
        Assert.Equal("0 b ", await fixture.Connect(registries[1], "y").AskAsync(Register("s", "b")));
        Assert.Equal(["6 of 1, 1: ", "5 of 1, 1: 1/s b id=y w=1"], [await follower.ReadAsync(), await follower.ReadAsync()]);
        Assert.Equal("0 a ", await fixture.Connect(registries[0], "x").AskAsync(Register("s", "a")));
        Assert.Equal(["6 of 1, 2: 1/s a id=x w=1", "5 of 1, 2: 1/s a id=x w=1; 1/s b id=y w=1"],
            [await follower.ReadAsync(), await follower.ReadAsync()]);

        registries[0].RemovePeer(registries[1].PublisherEndpoint);
        Assert.Equal("5 of 1, 3: 1/s a id=x w=1", await follower.ReadAsync());
    }

    [Fact]
    public async Task The_periodic_list_has_a_new_number_only_where_there_are_peers()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry[] registries = Mesh(fixture, 2, "tcp");
        ServiceRegistry alone = fixture.Start(static options => options.Id = 9);
        (ListFollower peer, ListFollower lone) = (fixture.Follow(registries[0]), fixture.Follow(alone));
        await peer.ReadAsync();
        await peer.ReadAsync();
        Assert.Equal("5 of 9, 0: ", await lone.ReadAsync());
        await fixture.AdvanceAsync(clock, TimeSpan.FromSeconds(30));
        Assert.Equal(["6 of 1, 1: ", "5 of 1, 1: "], [await peer.ReadAsync(), await peer.ReadAsync()]);
        Assert.Equal("5 of 9, 0: ", await lone.ReadAsync());
    }

    [Fact]
    public async Task The_entries_of_a_registry_that_died_stay_for_a_lease_and_its_return_is_believed_at_once()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry[] registries = Mesh(fixture, 2, "tcp");
        ListFollower follower = fixture.Follow(registries[0]);
        Assert.Equal("0 b ", await fixture.Connect(registries[1], "y").AskAsync(Register("s", "b")));
        await follower.UntilAsync("1/s b id=y w=1");
        (string publisher, string router) = (registries[1].PublisherEndpoint, registries[1].RouterEndpoint);
        await registries[1].DisposeAsync().Guarded();
        await Guard.UntilAsync(() => registries[0].GetSnapshot().Peers is [{ IsConnected: false }], "the connection to the peer ends");
        await fixture.AdvanceAsync(clock, TimeSpan.FromSeconds(15));
        Assert.Single(registries[0].GetSnapshot().Entries);
        await fixture.AdvanceAsync(clock, RegistryState.LongestTick * 2);
        await follower.UntilAsync("");

        ServiceRegistry again = fixture.Start(options =>
        {
            options.Id = 2;
            options.InitialSequence = 0;
            options.PublisherEndpoint = publisher;
            options.RouterEndpoint = router;
            options.Peers = [registries[0].PublisherEndpoint];
        });
        Assert.Equal("0 c ", await fixture.Connect(again, "z").AskAsync(Register("s", "c")));
        await fixture.AdvanceAsync(clock, TimeSpan.FromSeconds(1)); // The time of a reconnection.
        await follower.UntilAsync("1/s c id=z w=1");
    }

    [Fact]
    public async Task A_registry_that_is_its_own_peer_lists_nothing_twice_and_reports_no_conflict()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(static options => options.Id = 1);
        registry.AddPeer(registry.PublisherEndpoint);
        await using IAsyncEnumerator<RegistryEvent> events = registry.WatchAsync(Guard.Token).GetAsyncEnumerator(Guard.Token);
        ListFollower follower = fixture.Follow(registry);
        Support.RegistryClient client = fixture.Connect(registry, "x");
        Assert.Equal("0 a ", await client.AskAsync(Register("s", "a")));
        await follower.UntilAsync("1/s a id=x w=1");
        await client.SendAsync(Unregister("s", "a"));
        await follower.UntilAsync("");
        Assert.True(await events.MoveNextAsync().Guarded());
        Assert.Equal(RegistryEventType.Registered, events.Current.Type);
        Assert.True(await events.MoveNextAsync().Guarded());
        Assert.Equal(RegistryEventType.Unregistered, events.Current.Type);
    }

    [Fact]
    public async Task Two_registries_of_one_number_say_so()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry first = fixture.Start(static options => options.Id = 1);
        ServiceRegistry second = fixture.Start(static options => options.Id = 1);
        await using IAsyncEnumerator<RegistryEvent> events = second.WatchAsync(Guard.Token).GetAsyncEnumerator(Guard.Token);
        second.AddPeer(first.PublisherEndpoint);
        Assert.True(await events.MoveNextAsync().Guarded());
        Assert.Equal((RegistryEventType.IdConflict, 1u), (events.Current.Type, events.Current.RegistryId));
    }

    [Fact]
    public async Task A_subscriber_without_room_for_both_lists_of_a_pair_is_disconnected_and_the_others_see_every_change()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry peer = fixture.Start(static options => options.Id = 2);
        ServiceRegistry registry = fixture.Start(options =>
        {
            options.Id = 1;
            options.Peers = [peer.PublisherEndpoint];
            (options.PublisherSocket.SendByteLimit, options.PublisherSocket.SendBufferSize) = (100_000, 4096);
        });
        ListFollower follower = fixture.Follow(registry);
        using RawPeer silent = await RawPeer.ConnectAsync(registry.PublisherEndpoint, receiveBuffer: 4096);
        await silent.SendAsync(Convert.FromHexString("5a0102000000000401020161" + "5a0102000000000104" + "5a01080000000000"));
        await Guard.UntilAsync(() => registry.GetSnapshot().Subscribers == 2, "both are there");
        Support.RegistryClient client = fixture.Connect(registry, "x");
        string endpoint = new('e', 250);
        for (int i = 0; registry.GetSnapshot().Subscribers == 2; i++)
        {
            Assert.True(i < 1000, "it is never disconnected");
            Assert.StartsWith("0 ", await client.AskAsync(Register("s", $"{endpoint}{i % 50:00}", (uint)i + 1)), StringComparison.Ordinal);
        }

        Assert.StartsWith("0 ", await client.AskAsync(Register("last", "e")), StringComparison.Ordinal);
        while (!(await follower.ReadServicesAsync()).StartsWith("1/last e", StringComparison.Ordinal))
        {
        }
    }

    private static ServiceRegistry[] Mesh(RegistryFixture fixture, int nodes, string transport)
    {
        bool isInproc = string.Equals(transport, "inproc", StringComparison.Ordinal);
        ServiceRegistry[] registries =
        [
            .. Enumerable.Range(1, nodes).Select(id => fixture.Start(options =>
            {
                options.Id = (uint)id;
                options.PublisherEndpoint = isInproc ? $"inproc://pub{id}" : options.PublisherEndpoint;
                options.RouterEndpoint = isInproc ? $"inproc://router{id}" : options.RouterEndpoint;
            })),
        ];
        foreach (ServiceRegistry registry in registries)
        {
            foreach (ServiceRegistry other in registries.Where(other => other != registry))
            {
                registry.AddPeer(other.PublisherEndpoint);
            }
        }

        return registries;
    }
}
