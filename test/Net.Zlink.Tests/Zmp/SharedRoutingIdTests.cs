using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER whose peers may have one routing id, and answers by the connection that a message came by.</summary>
public sealed class SharedRoutingIdTests
{
    private static readonly byte[] Id = "same"u8.ToArray();

    public static TheoryData<string> Transports =>
        [.. SlowTests.Some(["tcp://127.0.0.1:*", "ipc://*", "inproc://shared"], every: 2)];

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Peers_with_one_routing_id_are_all_served_and_each_gets_the_answers_to_what_it_sent(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket[] dealers = [.. Enumerable.Range(0, 4).Select(_ => Dealer(fixture, endpoint))];
        for (int round = 0; round < 3; round++)
        {
            for (int i = 0; i < dealers.Length; i++)
            {
                dealers[i].Send(new[] { (byte)i });
            }

            for (int i = 0; i < dealers.Length; i++)
            {
                using Message question = await router.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(Id, question.RoutingId.ToArray());
                Assert.True(router.To(question).TrySend(question.Span).Tell(out SendFailure error), $"{error}");
            }

            for (int i = 0; i < dealers.Length; i++)
            {
                Assert.Equal([(byte)i], await NextAsync(dealers[i]));
            }
        }

        Assert.Equal(0, router.GetStatistics().RefusedConnections);
        Assert.Equal(dealers.Length, router.PeerCount);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_send_by_id_goes_to_the_newest_connection_and_to_the_one_before_it_when_that_has_ended(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket[] dealers = new DealerSocket[4];
        for (int i = 0; i < dealers.Length; i++)
        {
            dealers[i] = Dealer(fixture, endpoint);
            int there = i + 1;
            await fixture.UntilAsync(() => router.PeerCount == there);
            router.To(Id).Send([(byte)i]);
            Assert.Equal([(byte)i], await NextAsync(dealers[i]));
        }

        dealers[1].Dispose(); // In the middle: the id does not find it any more.
        await fixture.UntilAsync(() => router.PeerCount == 3);
        foreach ((int ends, int next) in new[] { (3, 2), (2, 0) })
        {
            int there = router.PeerCount - 1;
            dealers[ends].Dispose();
            await fixture.UntilAsync(() => router.PeerCount == there);
            router.To(Id).Send([(byte)(10 + next)]);
            Assert.Equal([(byte)(10 + next)], await NextAsync(dealers[next]));
            Assert.True(router.TryGetPeer(Id, out _));
        }

        dealers[0].Dispose();
        await fixture.UntilAsync(() => router.PeerCount == 0);
        Assert.False(router.To(Id).TrySend("nobody"u8).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
        Assert.False(router.TryGetPeer(Id, out _));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task An_answer_to_a_connection_that_is_over_is_refused_though_the_id_is_there_again(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket first = Dealer(fixture, endpoint);
        first.Send("question"u8);
        using Message question = await router.ReceiveAsync(Guard.Token).Guarded();
        DealerSocket second = Dealer(fixture, endpoint);
        await fixture.UntilAsync(() => router.PeerCount == 2);
        Assert.True(router.To(question).TrySend("answer"u8));
        Assert.Equal("answer", await TextAsync(first));
        first.Dispose();
        await fixture.UntilAsync(() => router.PeerCount == 1);
        Assert.False(router.To(question).TrySend("late"u8).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoPeer, error);
        Assert.Equal(ZlinkError.HostUnreachable, (
            await Assert.ThrowsAsync<ZlinkException>(
                () => router.To(question).SendAsync("late"u8.ToArray(), Guard.Token).Guarded())).Error);
        router.To(Id).Send("by id"u8);
        Assert.Equal("by id", await TextAsync(second));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_send_by_id_that_waits_for_a_full_peer_goes_to_the_newcomer(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        await StalledPeers.ConnectAsync(fixture, router, endpoint, Id);
        Task waiting = StalledPeers.FirstThatWaits(() => router.To(Id).SendAsync(Wire.Huge, Guard.Token));
        Assert.False(router.CanSendTo(Id));
        DealerSocket newcomer = Dealer(fixture, endpoint);
        await waiting.Guarded();
        Assert.Equal(Wire.Huge, await NextAsync(newcomer));
        await fixture.UntilAsync(() => router.CanSendTo(Id));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_send_by_id_that_waits_for_a_full_newest_peer_goes_to_the_older_one_when_that_ends(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket older = Dealer(fixture, endpoint);
        await fixture.UntilAsync(() => router.PeerCount == 1);
        IDisposable newest = await StalledPeers.ConnectAsync(fixture, router, endpoint, Id);
        Task waiting = StalledPeers.FirstThatWaits(() => router.To(Id).SendAsync(Wire.Huge, Guard.Token));
        newest.Dispose();
        await waiting.Guarded();
        Assert.Equal(Wire.Huge, await NextAsync(older));
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task An_answer_that_waits_holds_up_no_send_to_another_connection_of_the_same_id_and_goes_when_its_peer_reads(
        string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        IDisposable slow = await StalledPeers.ConnectAsync(fixture, router, endpoint, Id, "question");
        using Message question = await router.ReceiveAsync(Guard.Token).Guarded();
        int sent = 0;
        Task waiting = StalledPeers.FirstThatWaits(() =>
        {
            sent++;
            return router.To(question).SendAsync(Wire.Huge, Guard.Token);
        });
        Assert.False(router.To(question).TrySend("overtakes"u8).Tell(out SendFailure error));
        Assert.Equal(SendFailure.Full, error);
        DealerSocket quick = Dealer(fixture, endpoint);
        await fixture.UntilAsync(() => router.PeerCount == 2);
        router.To(Id).Send("to the newest"u8);
        Assert.Equal("to the newest", await TextAsync(quick));
        for (int i = 0; i < sent; i++)
        {
            Assert.Equal(Wire.Huge, await StalledPeers.ReadAsync(slow));
        }

        await waiting.Guarded();
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task An_answer_that_waits_fails_when_its_connection_ends_and_keeps_what_it_was_to_send(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = Router(fixture, ref endpoint);
        IDisposable slow = await StalledPeers.ConnectAsync(fixture, router, endpoint, Id, "question", "other");
        using Message question = await router.ReceiveAsync(Guard.Token).Guarded();
        using Message other = await router.ReceiveAsync(Guard.Token).Guarded();
        Task waiting = StalledPeers.FirstThatWaits(() => router.To(question).SendAsync(Wire.Huge, Guard.Token));
        Task behind = router.To(question).SendAsync(other, Guard.Token).AsTask();
        Dealer(fixture, endpoint);
        await fixture.UntilAsync(() => router.PeerCount == 2);
        slow.Dispose();
        Assert.Equal(ZlinkError.HostUnreachable, (await Assert.ThrowsAsync<ZlinkException>(() => waiting.Guarded())).Error);
        Assert.Equal(ZlinkError.HostUnreachable, (await Assert.ThrowsAsync<ZlinkException>(() => behind.Guarded())).Error);
        Assert.Equal("other"u8, other.Span);
    }

    [Fact]
    public async Task An_answer_to_a_connect_of_this_sockets_own_is_refused_once_that_connection_is_lost_and_waits_for_no_other()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions
            {
                OnDuplicateRoutingId = DuplicateRoutingId.Share,
                Linger = TimeSpan.Zero,
                ReconnectInterval = TimeSpan.FromMilliseconds(1)
            });
        RawListener listener = fixture.Listen();
        router.Connect(listener.Endpoint);
        Message question;
        using (RawPeer peer = await listener.AcceptAsync())
        {
            await peer.SendAsync((byte[])[.. Protocol.Zmp.ZmpFixture.DealerGreeting(Id),
                .. Protocol.Zmp.ZmpFixture.Frame(0, "question"u8)]);
            question = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(router.To(question).TrySend("answer"u8));
        }

        using (question)
        using (RawPeer again = await listener.AcceptAsync())
        {
            Assert.False(router.To(question).TrySend("late"u8).Tell(out SendFailure error));
            Assert.Equal(SendFailure.NoPeer, error);
            await again.SendAsync(Protocol.Zmp.ZmpFixture.DealerGreeting(Id));
            await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
            Assert.False(router.To(question).TrySend("late"u8).Tell(out error));
            Assert.Equal(SendFailure.NoPeer, error);
        }
    }

    [Fact]
    public async Task Answers_in_every_form_reach_the_connection_with_and_without_shared_ids()
    {
        foreach (DuplicateRoutingId policy in Enum.GetValues<DuplicateRoutingId>())
        {
            await using var fixture = new ContextFixture();
            string endpoint = "tcp://127.0.0.1:*";
            RouterSocket router = Router(fixture, ref endpoint, policy);
            DealerSocket dealer = Dealer(fixture, endpoint);
            dealer.Send("question"u8);
            Message question = await router.ReceiveAsync(Guard.Token).Guarded();
            using var builder = new MessageBuilder();
            builder.Add("one"u8);
            Assert.True(router.To(question).TrySend(builder));
            builder.Add("two"u8);
            await router.To(question).SendAsync(builder, Guard.Token).Guarded();
            await router.To(question).SendAsync("three"u8.ToArray(), Guard.Token).Guarded();
            await router.To(question).SendAsync(question.Copy(), Guard.Token).Guarded();
            Assert.True(router.To(question).TrySend(question));
            Assert.Throws<ObjectDisposedException>(() => question.Span.Length);
            foreach (string expected in new[] { "one", "two", "three", "question", "question" })
            {
                Assert.Equal(expected, await TextAsync(dealer));
            }
        }
    }

    [Fact]
    public async Task A_message_that_another_socket_received_or_nobody_is_no_message_to_answer()
    {
        await using var fixture = new ContextFixture();
        string endpoint = "tcp://127.0.0.1:*";
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket dealer = Dealer(fixture, endpoint);
        await fixture.UntilAsync(() => router.PeerCount == 1);
        router.To(Id).Send("x"u8);
        using Message others = await dealer.ReceiveAsync(Guard.Token).Guarded();
        Assert.Throws<ArgumentException>(() => router.To(others).TrySend("x"u8));
        Assert.Throws<ArgumentException>(() => router.To(default).TrySend("x"u8));
    }

    [Fact]
    public async Task A_name_that_this_socket_gave_has_to_be_free_and_is_found_again_when_a_peer_of_that_name_has_gone()
    {
        await using var fixture = new ContextFixture();
        string endpoint = "inproc://named-and-shared";
        RouterSocket router = Router(fixture, ref endpoint);
        DealerSocket named = fixture.Context.CreateDealer();
        router.Connect(named.Bind("inproc://named-peer"), Id);
        Assert.Equal(ZlinkError.AddressInUse, Assert.Throws<ZlinkException>(() => router.Connect("inproc://another", Id)).Error);
        DealerSocket newcomer = Dealer(fixture, endpoint);
        router.To(Id).Send("newest"u8);
        Assert.Equal("newest", await TextAsync(newcomer));
        newcomer.Dispose();
        router.To(Id).Send("named"u8);
        Assert.Equal("named", await TextAsync(named));
    }

    private static RouterSocket Router(ContextFixture fixture, ref string endpoint, DuplicateRoutingId policy = DuplicateRoutingId.Share)
    {
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions
        {
            OnDuplicateRoutingId = policy,
            Mandatory = true,
            SendHighWaterMark = 5,
            SendBufferSize = 16 * 1024,
            Linger = TimeSpan.Zero,
        });
        endpoint = router.Bind(endpoint);
        return router;
    }

    private static DealerSocket Dealer(ContextFixture fixture, string endpoint)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id, Linger = TimeSpan.Zero });
        dealer.Connect(endpoint);
        return dealer;
    }

    private static async Task<byte[]> NextAsync(DealerSocket dealer)
    {
        using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
        return message.Span.ToArray();
    }

    private static async Task<string> TextAsync(DealerSocket dealer) => System.Text.Encoding.ASCII.GetString(await NextAsync(dealer));
}
