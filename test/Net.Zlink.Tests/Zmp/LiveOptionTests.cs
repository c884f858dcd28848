using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Options that act at once.</summary>
public sealed class LiveOptionTests
{
    [Fact]
    public async Task A_raised_mark_of_a_PAIR_takes_more_at_once()
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 2, Linger = TimeSpan.Zero });
        pair.Connect(RawListener.NobodyListens());
        Assert.Equal(2, Fill(pair));
        pair.Options.SendHighWaterMark = 100;
        Assert.Equal(98, Fill(pair));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_raised_mark_lets_a_waiting_send_in(bool isPair)
    {
        await using var fixture = new ContextFixture();
        DuplexSocket socket = isPair ? fixture.Context.CreatePair() : fixture.Context.CreateDealer();
        socket.Options.SendHighWaterMark = 4;
        socket.Options.Linger = TimeSpan.Zero;
        socket.Connect(RawListener.NobodyListens());
        Fill(socket);
        Task sending = socket.SendAsync(new byte[] { 1 }, Guard.Token).AsTask();
        socket.Options.SendHighWaterMark = 6;
        await sending.Guarded();
    }

    [Fact]
    public async Task A_mark_that_is_raised_by_one_lets_one_more_in_for_each_of_several_peers()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { SendHighWaterMark = 10, Linger = TimeSpan.Zero });
        dealer.Connect(RawListener.NobodyListens());
        dealer.Connect(RawListener.NobodyListens());
        Assert.Equal(2 * 10, Fill(dealer));
        Task<int> sending = dealer.SendManyAsync(
            new ReadOnlyMemory<byte>[] { new byte[1], new byte[1], new byte[1], new byte[1] }, Guard.Token).AsTask();
        dealer.Options.SendHighWaterMark = 11;
        Assert.False(sending.IsCompleted);
        dealer.Options.SendHighWaterMark = 12;
        Assert.Equal(4, await sending.Guarded());
    }

    [Fact]
    public async Task A_raised_mark_of_a_reader_that_receives_nothing_lets_its_peer_write_more()
    {
        await using var fixture = new ContextFixture();
        DealerSocket receiver = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 10 });
        RawPeer peer = await fixture.ConnectAsync(receiver.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync((byte[])[.. ZmpFixture.DealerGreeting("A"u8),
            .. Enumerable.Repeat(ZmpFixture.Frame(0, "x"u8), 10).SelectMany(static frame => frame)]);
        await fixture.UntilAsync(() => receiver.GetStatistics().ReceivedMessages == 10);
        await peer.SendAsync(ZmpFixture.Frame(0, "y"u8));
        await fixture.SettleAsync();
        Assert.Equal(10, receiver.GetStatistics().ReceivedMessages);
        receiver.Options.ReceiveHighWaterMark = 11;
        await fixture.UntilAsync(() => receiver.GetStatistics().ReceivedMessages == 11);
    }

    [Fact]
    public async Task Over_inproc_a_mark_that_either_side_raises_takes_more_at_once_and_a_lowered_one_loses_nothing()
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 2 });
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 3 });
        receiver.Connect(sender.Bind("inproc://marks"));
        Assert.Equal(2 + 3, Fill(sender));
        sender.Options.SendHighWaterMark = 4;
        Assert.Equal(2, Fill(sender));
        receiver.Options.ReceiveHighWaterMark = 8;
        Assert.Equal(5, Fill(sender));
        Task sending = sender.SendAsync(new byte[] { 1 }, Guard.Token).AsTask();
        Assert.False(sending.IsCompleted);
        receiver.Options.ReceiveHighWaterMark = 9;
        await sending.Guarded();
        sender.Options.SendHighWaterMark = 1;
        receiver.Options.ReceiveHighWaterMark = 1;
        Assert.Equal(0, Fill(sender));
        for (int i = 0; i < 4 + 9; i++)
        {
            receiver.Receive(Guard.Limit).Dispose();
        }

        Assert.False(receiver.TryReceive(out _));
        Assert.Equal(1 + 1, Fill(sender));
    }

    [Fact]
    public async Task Over_inproc_a_mark_that_was_raised_while_nobody_had_bound_the_name_holds_when_somebody_does()
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 2 });
        sender.Connect("inproc://marks");
        sender.Options.SendHighWaterMark = 10;
        Assert.Equal(10, Fill(sender));
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 3 });
        receiver.Bind("inproc://marks");
        Assert.Equal(3, Fill(sender));
    }

    [Fact]
    public async Task Over_inproc_a_receivers_mark_that_was_raised_counts_when_the_two_meet_and_when_the_sender_raises_its_own()
    {
        await using var fixture = new ContextFixture();
        PairSocket receiver = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 2 });
        receiver.Connect("inproc://marks");
        receiver.Options.ReceiveHighWaterMark = 10;
        PairSocket sender = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 3 });
        sender.Bind("inproc://marks");
        Assert.Equal(13, Fill(sender));
        receiver.Options.ReceiveHighWaterMark = 15;
        Assert.Equal(5, Fill(sender));
        sender.Options.SendHighWaterMark = 5;
        Assert.Equal(2, Fill(sender));
    }

    [Fact]
    public async Task A_cap_on_connections_that_is_set_after_the_socket_was_made_counts()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        router.Options.MaxConnections = 1;
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        RawPeer first = await fixture.ConnectAsync(endpoint);
        await fixture.UntilAsync(() => router.GetStatistics().AcceptedConnections == 1);
        RawPeer second = await fixture.ConnectAsync(endpoint);
        await second.ReadToAnyEndAsync();
        Assert.Equal(1, router.GetStatistics().RefusedConnections);
        first.Dispose();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connection_that_is_over_makes_room_for_another_one_under_the_cap(bool hasShakenHands)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { MaxConnections = 1 });
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        for (int i = 0; i < 3; i++)
        {
            using RawPeer peer = await fixture.ConnectAsync(endpoint);
            if (hasShakenHands)
            {
                await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8));
                await fixture.UntilAsync(() => router.GetPeers() is [{ IsConnected: true }]);
            }

            Assert.NotEmpty(await peer.ReadAsync(1)); // The greeting: it was let in.
            peer.EndSending();
            await peer.ReadToAnyEndAsync();
            await fixture.UntilAsync(() => router.PeerCount == 0);
            await fixture.SettleAsync(); // It has its place until it is let go of, a moment later.
        }

        Assert.Equal(0, router.GetStatistics().RefusedConnections);
    }

    [Fact]
    public async Task The_cap_of_connections_holds_to_the_one_when_several_endpoints_accept_at_once()
    {
        const int Endpoints = 8;
        const int Room = 4;
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { MaxConnections = Room });
        string[] endpoints = [.. Enumerable.Range(0, Endpoints).Select(_ => router.Bind("tcp://127.0.0.1:0"))];
        RawPeer[] peers = await Task.WhenAll(endpoints.SelectMany(
            e => Enumerable.Range(0, Endpoints).Select(_ => fixture.ConnectAsync(e))));
        await fixture.UntilAsync(() => router.GetStatistics().AcceptedConnections == peers.Length
            && router.GetStatistics().RefusedConnections >= peers.Length - Room);
        Assert.Equal(peers.Length - Room, router.GetStatistics().RefusedConnections);
    }

    [Theory]
    [InlineData("inproc://full")]
    [InlineData("tcp://127.0.0.1:0")]
    public async Task A_publisher_that_may_drop_again_lets_a_waiting_send_go(string endpoint)
    {
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.FromSeconds(1));
        PubSocket publisher = fixture.Context.CreatePub(
            new PubOptions { NoDrop = true, SendHighWaterMark = 1, SendBufferSize = 16 * 1024, Linger = TimeSpan.Zero });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1, ReceiveBufferSize = 16 * 1024 });
        subscriber.Subscribe([]);
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        Task sending = await UntilOneWaitsAsync(fixture, () => publisher.SendAsync(new byte[1024 * 1024], Guard.Token).AsTask());
        publisher.Options.NoDrop = false;
        await sending.Guarded();
    }

    [Theory]
    [InlineData("inproc://full")]
    [InlineData("tcp://127.0.0.1:0")]
    public async Task A_cancelled_topic_lets_a_send_go_that_waited_for_its_only_subscriber(string endpoint)
    {
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.FromSeconds(1));
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { NoDrop = true, SendHighWaterMark = 1, SendBufferSize = 16 * 1024, Linger = TimeSpan.Zero });
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { ReceiveHighWaterMark = 1, ReceiveBufferSize = 16 * 1024 });
        subscriber.Connect(publisher.Bind(endpoint));
        subscriber.Send("\u0001A"u8);
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        byte[] payload = new byte[1024 * 1024];
        payload[0] = (byte)'A';
        Task sending = await UntilOneWaitsAsync(fixture, () => publisher.SendAsync(payload, Guard.Token).AsTask());
        subscriber.Send("\0A"u8);
        await sending.Guarded();
    }

    [Fact]
    public async Task A_ROUTER_that_is_not_mandatory_any_more_drops_what_waited_and_tells_pollers_that_it_takes_all()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true, SendHighWaterMark = 1 });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 1, RoutingId = "d"u8.ToArray() });
        dealer.Connect(router.Bind("inproc://mandatory"));
        Task sending = await UntilOneWaitsAsync(fixture, () => router.To("d"u8.ToArray()).SendAsync("x"u8.ToArray(), Guard.Token).AsTask());
        using var poller = new SocketPoller();
        poller.Add(router, PollEvents.Out);
        Task<int> polling = poller.PollAsync(new PollResult[1], Guard.Token).AsTask();
        router.Options.Mandatory = false;
        await sending.Guarded();
        Assert.Equal(1, await polling.Guarded());
    }

    [Theory]
    [InlineData("inproc://last")]
    [InlineData("tcp://127.0.0.1:0")]
    public async Task The_notice_of_a_subscriber_that_has_gone_takes_the_next_publication_from_nobody(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ManualLastValue = true });
        string bound = publisher.Bind(endpoint);
        SubSocket[] subscribers = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Subscribe("A"u8);
            subscriber.Connect(bound);
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            publisher.Subscribe("A"u8);
            publisher.Send("A0"u8);
            (await subscriber.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        subscribers[0].Dispose();
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        publisher.Send("A1"u8);
        using Message received = await subscribers[1].ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("A1"u8, received.Span);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_notice_takes_the_next_publication_for_its_sender_alone_by_what_the_option_says_then(bool isOn)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Manual = true, ManualLastValue = !isOn });
        publisher.Bind("inproc://last");
        SubSocket[] subscribers = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Subscribe("A"u8);
            subscriber.Connect("inproc://last");
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            publisher.Subscribe("A"u8);
        }

        publisher.Options.ManualLastValue = isOn;
        publisher.Send("A1"u8);
        publisher.Send("A2"u8);
        string[][] got = [.. subscribers.Select(static subscriber => ReadAll(subscriber))];
        Assert.Equal<IEnumerable<string>>([isOn ? ["A2"] : ["A1", "A2"], ["A1", "A2"]], got);
    }

    [Fact]
    public async Task A_notice_takes_the_next_publication_for_its_sender_alone_also_where_all_are_known_to_have_everything()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ManualLastValue = true });
        publisher.Bind("inproc://last");
        SubSocket[] subscribers = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Subscribe([]);
            subscriber.Connect("inproc://last");
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            publisher.Subscribe([]);
            publisher.Send("alone"u8);
        }

        // While the notice is unread, and no peer's turn.
        subscribers[0].Subscribe("x"u8);
        publisher.Send("1"u8);
        publisher.Send("2"u8);
        (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        publisher.Send("3"u8);
        publisher.Send("4"u8);
        Assert.Equal(["alone", "1", "2", "3", "4"], ReadAll(subscribers[0]));
        Assert.Equal(["alone", "1", "2", "4"], ReadAll(subscribers[1]));
    }

    [Fact]
    public async Task The_turn_of_a_notices_sender_does_not_come_back_with_another_option()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ManualLastValue = true });
        publisher.Bind("inproc://last");
        SubSocket[] subscribers = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket subscriber in subscribers)
        {
            subscriber.Subscribe("A"u8);
            subscriber.Connect("inproc://last");
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            publisher.Subscribe("A"u8);
            publisher.Send("A0"u8);
        }

        publisher.Options.Notices = SubscriptionNotices.AllSubscriptions;
        publisher.Send("A1"u8);
        Assert.All(subscribers, static subscriber => Assert.Equal(["A0", "A1"], ReadAll(subscriber)));
    }

    [Fact]
    public async Task A_raised_mark_of_an_XPUB_whose_notices_nobody_reads_lets_the_next_subscriber_in()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = 1 });
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        SubSocket first = fixture.Context.CreateSub();
        first.Subscribe("a"u8);
        first.Connect(endpoint);
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        SubSocket second = fixture.Context.CreateSub();
        second.Subscribe("b"u8);
        second.Connect(endpoint);
        await fixture.UntilAsync(() => second.PeerCount == 1 && publisher.PeerCount == 2);
        await fixture.SettleAsync();
        Assert.Equal(1, publisher.TopicCount);
        publisher.Options.ReceiveHighWaterMark = 10;
        await fixture.UntilAsync(() => publisher.TopicCount == 2);
    }

    private static string[] ReadAll(SubSocket socket)
    {
        var all = new List<string>();
        while (socket.TryReceive(out Message message))
        {
            all.Add(System.Text.Encoding.ASCII.GetString(message.Span));
            message.Dispose();
        }

        return [.. all];
    }

    private static int Fill(DuplexSocket socket)
    {
        int sent = 0;
        while (socket.TrySend("x"u8))
        {
            sent++;
        }

        return sent;
    }

    /// <summary>Sends until a send has to wait for good, and returns it.</summary>
    private static async Task<Task> UntilOneWaitsAsync(ContextFixture fixture, Func<Task> send)
    {
        while (true)
        {
            Task sending = send();
            for (int looks = 0; looks < 20 && !sending.IsCompleted; looks++)
            {
                await fixture.SettleAsync();
            }

            if (!sending.IsCompleted)
            {
                return sending;
            }
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Unbind_goes_by_the_linger_of_now(bool lingers)
    {
        TimeSpan hour = TimeSpan.FromHours(1);
        await using var fixture = new ContextFixture(time: new ManualTimeProvider());
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions { SendBufferSize = 16 * 1024, Linger = lingers ? TimeSpan.Zero : hour });
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        using EventReader monitor = router.ReadEvents(SocketEventTypes.ConnectionReady);
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8));
        await monitor.ReadAsync(Guard.Token).Guarded();
        for (int i = 0; i < 20; i++)
        {
            router.To("A"u8).Send(new byte[1_000_000]);
        }

        await fixture.SettleAsync();
        router.Options.Linger = lingers ? hour : TimeSpan.Zero;
        router.Unbind(endpoint);
        await fixture.SettleAsync();

        SocketStatistics counters = router.GetStatistics();
        peer.Reset();
        Assert.Equal(lingers, counters.DroppedMessages == 0);
        Assert.Equal(lingers, counters.QueuedMessages > 1);
    }
}
