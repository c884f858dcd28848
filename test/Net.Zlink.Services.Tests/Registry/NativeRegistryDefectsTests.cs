using Net.Zlink.Services.Tests.Support;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Services.Tests.Support.RegistryClient;

namespace Net.Zlink.Services.Tests;

/// <summary>What the native registry does wrong, and ours not; what concerns peers alone is in <see cref="RegistryViewsTests"/>, malformed
/// lists in <see cref="ServiceListTests"/>.</summary>
public sealed class NativeRegistryDefectsTests
{
    [Fact]
    public async Task Heartbeats_by_a_second_connection_with_the_same_routing_id_keep_the_entry_and_unregister_by_a_third_removes_it()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient requests = fixture.Connect(registry, "recv-1");
        Assert.Equal("0 e ", await requests.AskAsync(Register("s", "e")));
        Support.RegistryClient heartbeats = fixture.Connect(registry, "recv-1");
        for (int i = 1; i <= 4; i++)
        {
            await heartbeats.SendAsync(Heartbeat("s", "e"));
            await Guard.UntilAsync(() => registry.GetSnapshot().Requests == i + 1, "the heartbeat is read");
            await fixture.AdvanceAsync(clock, TimeSpan.FromSeconds(5));
        }

        Assert.Single(registry.GetSnapshot().Entries);
        // The answer goes by the connection that asked, not by the newest.
        Assert.Equal("0 e ", await requests.AskAsync(UpdateWeight("s", "e", 5)));
        await fixture.Connect(registry, "recv-1").SendAsync(Unregister("s", "e"));
        await Guard.UntilAsync(() => registry.GetSnapshot().Entries.Count == 0, "the entry is removed");
    }

    [Fact]
    public async Task An_entry_expires_after_its_lease_and_not_at_its_end()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start();
        Assert.Equal("0 e ", await fixture.Connect(registry, "x").AskAsync(Register("s", "e")));
        await fixture.AdvanceAsync(clock, TimeSpan.FromSeconds(15));
        Assert.Single(registry.GetSnapshot().Entries);
        await fixture.AdvanceAsync(clock, RegistryState.LongestTick);
        await Guard.UntilAsync(() => registry.GetSnapshot() is { Entries.Count: 0, ExpiredEntries: 1 }, "the entry expires");
    }

    [Fact]
    public async Task Expiry_comes_under_an_inflow_that_never_ends()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient client = fixture.Connect(registry, "x");
        Assert.Equal("0 e ", await client.AskAsync(Register("s", "e")));
        using var ended = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        Task inflow = Task.Run(
            async () =>
            {
                for (long sent = 1; !ended.IsCancellationRequested; sent++)
                {
                    await client.SendAsync(Heartbeat("s", "nobody"));
                    if (sent % 1_000 == 0)
                    {
                        // The registry never finds its queue empty, and the end of the test has no 300,000 messages to clear away.
                        await Guard.UntilAsync(() => sent - registry.GetSnapshot().Requests < 20_000, "requests are read");
                    }
                }
            },
            Guard.Token);
        while (registry.GetSnapshot().ExpiredEntries == 0)
        {
            Assert.True(clock.Elapsed < TimeSpan.FromMinutes(1), "the entry does not expire");
            clock.Advance(RegistryState.ShortestTick);
            // Several batches, so that the tick has been dealt with: two at once would be a pause of the registry.
            long behindTick = registry.GetSnapshot().Requests + 4096;
            await Guard.UntilAsync(() => registry.GetSnapshot().Requests >= behindTick, "requests are read");
        }

        await ended.CancelAsync();
        await inflow.Guarded();
    }

    [Fact]
    public async Task A_thousand_registrations_in_a_burst_share_a_few_lists()
    {
        const int Count = 1000;
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ServiceRegistry registry = fixture.Start(static options => options.MinBroadcastInterval = TimeSpan.FromMilliseconds(10));
        ListFollower[] followers = [.. Enumerable.Range(0, 10).Select(_ => fixture.Follow(registry))];
        foreach (ListFollower follower in followers)
        {
            await follower.ReadAsync();
        }

        Support.RegistryClient client = fixture.Connect(registry, "x");
        for (int i = 0; i < Count; i++)
        {
            await client.SendAsync(Register("s", $"e{i:0000}"));
        }

        for (int i = 0; i < Count; i++)
        {
            Assert.Equal($"0 e{i:0000} ", await client.ReadAckAsync());
        }

        clock.Advance(TimeSpan.FromMilliseconds(10));
        string all = string.Join("; ", Enumerable.Range(0, Count).Select(static i => $"1/s e{i:0000} id=x w=1"));
        foreach (ListFollower follower in followers)
        {
            await follower.UntilAsync(all);
        }

        Assert.InRange(registry.GetSnapshot().ListsSent, followers.Length + 1, followers.Length + 3);
    }

    [Fact]
    public async Task A_new_subscriber_gets_the_list_alone()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(static options => options.Id = 7);
        ListFollower first = fixture.Follow(registry);
        Assert.Equal("5 of 7, 0: ", await first.ReadAsync());
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal("5 of 7, 0: ", await fixture.Follow(registry).ReadAsync());
        }

        Assert.Equal("0 e ", await fixture.Connect(registry, "x").AskAsync(Register("s", "e")));
        Assert.Equal("5 of 7, 1: 1/s e id=x w=1", await first.ReadAsync());
    }

    [Fact]
    public async Task A_subscriber_whose_topic_matches_no_list_gets_none()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(static options => options.Id = 7);
        ListFollower other = fixture.Follow(registry.PublisherEndpoint, "x");
        await Guard.UntilAsync(() => registry.GetSnapshot().Subscribers == 1, "it is connected");
        Assert.Equal("5 of 7, 0: ", await fixture.Follow(registry.PublisherEndpoint, "\u0005").ReadAsync());
        Assert.Equal((1, false), (registry.GetSnapshot().ListsSent, other.Socket.TryReceive(out _)));
    }

    [Fact]
    public async Task Start_says_that_an_endpoint_is_taken_and_may_be_called_again()
    {
        await using var fixture = new RegistryFixture();
        using DealerSocket holder = fixture.Context.CreateDealer();
        string taken = holder.Bind("tcp://127.0.0.1:0");
        await using var registry = new ServiceRegistry(fixture.Context,
            new ServiceRegistryOptions { PublisherEndpoint = "tcp://127.0.0.1:0", RouterEndpoint = taken });
        Assert.Equal(ZlinkError.AddressInUse, Assert.Throws<ZlinkException>(registry.Start).Error);
        Assert.Throws<InvalidOperationException>(registry.GetSnapshot);
        holder.Unbind(taken);
        await Guard.UntilAsync(
            () =>
            {
                try
                {
                    registry.Start();
                    return true;
                }
                catch (ZlinkException)
                {
                    return false; // The listener has not let the port go yet.
                }
            },
            "the port is free");
        Assert.Equal(taken, registry.RouterEndpoint);
        Assert.Throws<InvalidOperationException>(registry.Start);
    }

    [Fact]
    public void The_number_0_which_the_wire_shows_as_1_is_refused()
    {
        using var context = new ZlinkContext();
        Assert.Throws<ArgumentOutOfRangeException>(
            () => new ServiceRegistry(
                context, new ServiceRegistryOptions { PublisherEndpoint = "inproc://p", RouterEndpoint = "inproc://r", Id = 0 }));
    }

    [Fact]
    public async Task The_end_of_a_registry_does_not_wait_for_peers_that_read_nothing()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start(static options => options.Id = 7);
        using RawPeer silent = await RawPeer.ConnectAsync(registry.PublisherEndpoint, receiveBuffer: 4096);
        await silent.SendAsync(Convert.FromHexString("5a0102000000000401020161" + "5a0102000000000104" + "5a01080000000000"));
        Support.RegistryClient client = fixture.Connect(registry, "x");
        for (int i = 0; i < 300; i++)
        {
            Assert.StartsWith("0 ", await client.AskAsync(Register("s", $"{new string('e', 250)}{i:000}")), StringComparison.Ordinal);
        }

        long started = TimeProvider.System.GetTimestamp();
        await registry.DisposeAsync().Guarded();
        Assert.True(TimeProvider.System.GetElapsedTime(started) < TimeSpan.FromSeconds(10), "it took longer than ten times its linger");
    }

    [Fact]
    public void The_end_of_a_registry_waits_a_second_at_most_for_peers_that_do_not_end_their_side()
    {
        // A process that is stopped ends nothing; by default each connection waits 5 s for that.
        var options = new ServiceRegistryOptions { PublisherEndpoint = "inproc://p", RouterEndpoint = "inproc://r" };
        SocketOptions[] sockets = [options.PublisherSocket, options.RouterSocket, options.PeerSocket];
        Assert.Equal([1.0, 1.0, 1.0], sockets.Select(static socket => socket.CloseTimeout.TotalSeconds));
    }

    [Fact]
    public async Task A_request_of_a_client_that_has_gone_disturbs_no_other_one()
    {
        await using var fixture = new RegistryFixture();
        ServiceRegistry registry = fixture.Start();
        Support.RegistryClient gone = fixture.Connect(registry, "x");
        gone.Socket.Options.Linger = TimeSpan.FromSeconds(5); // Its request is to arrive.
        await gone.SendAsync(Register("s", "gone"));
        gone.Dispose();
        Assert.Equal("0 e ", await fixture.Connect(registry, "x").AskAsync(Register("s", "e")));
    }

    [Fact]
    public async Task With_a_fixed_number_the_first_list_begins_at_the_clock_so_that_a_restart_is_believed()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new RegistryFixture(clock);
        ulong first = fixture.Start(static options => (options.Id, options.InitialSequence) = (7, null)).GetSnapshot().Sequence;
        Assert.Equal((ulong)clock.GetUtcNow().ToUnixTimeMilliseconds() << 20, first);
        clock.Advance(TimeSpan.FromMilliseconds(1));
        Assert.True(fixture.Start(static options => (options.Id, options.InitialSequence) = (7, null)).GetSnapshot().Sequence > first);
        Assert.Equal(0ul, fixture.Start(static options => options.InitialSequence = null).GetSnapshot().Sequence);
    }
}
