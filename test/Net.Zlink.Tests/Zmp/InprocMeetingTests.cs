using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Two sockets of a context that meet, or just miss each other.</summary>
public sealed class InprocMeetingTests
{
    private const byte Sends = 20;

    [Fact]
    public async Task Of_what_waits_for_a_binder_that_keeps_the_newest_only_the_newest_is_left_and_the_rest_is_in_its_books()
    {
        await using var fixture = new ContextFixture();
        DealerSocket connecter = fixture.Context.CreateDealer(new DealerOptions { SendHighWaterMark = 2 });
        connecter.Connect("inproc://newest");
        Assert.True(connecter.TrySend("1"u8));
        Assert.True(connecter.TrySend("2"u8));
        Assert.False(connecter.TrySend("3"u8));
        DealerSocket binder = fixture.Context.CreateDealer(new DealerOptions { Conflate = true });
        binder.Bind("inproc://newest");
        Assert.True(connecter.CanSend);
        SocketStatistics counters = binder.GetStatistics();
        Assert.Equal((2, 1, 1), (counters.ReceivedMessages, counters.DroppedUnreadMessages, counters.UnreadMessages));
        Assert.True(binder.TrySend("a"u8));
        Assert.True(binder.TrySend("b"u8));
        foreach ((DealerSocket receiver, string newest) in new[] { (binder, "2"), (connecter, "b") })
        {
            Assert.True(receiver.TryReceive(out Message message));
            Assert.Equal(newest, Encoding.ASCII.GetString(message.Span));
            message.Dispose();
            Assert.False(receiver.TryReceive(out _));
            counters = receiver.GetStatistics();
            Assert.Equal((2, 1, 1, 0), (counters.ReceivedMessages, counters.DroppedUnreadMessages, counters.DeliveredMessages,
                counters.UnreadMessages));
        }
    }

    [Fact]
    public async Task A_connecter_whose_binder_closes_while_they_meet_is_free_for_the_next_one()
    {
        int rounds = SlowTests.Rounds(200, all: 1_000);
        await using var fixture = new ContextFixture();
        for (int round = 0; round < rounds; round++)
        {
            PairSocket binder = fixture.Context.CreatePair();
            PairSocket connecter = fixture.Context.CreatePair();
            binder.Bind("inproc://meet");
            using var both = new Barrier(2);
            Task closing = Task.Run(
                () =>
                {
                    both.SignalAndWait(Guard.Limit, Guard.Token);
                    binder.Dispose();
                },
                Guard.Token);
            both.SignalAndWait(Guard.Limit, Guard.Token);
            connecter.Connect("inproc://meet");
            await closing.Guarded();
            if (connecter.PeerCount == 0)
            {
                connecter.Connect("inproc://meet"); // They had met: that is over.
            }

            PairSocket next = fixture.Context.CreatePair();
            next.Bind("inproc://meet");
            Assert.True(connecter.TrySend("x"u8), $"round {round}");
            (await next.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            Assert.Equal((1, 1), (connecter.PeerCount, next.PeerCount));
            connecter.Dispose();
            next.Dispose();
        }
    }

    [Fact]
    public async Task Sends_that_wait_for_each_other_s_room_when_two_meet_all_arrive_in_order()
    {
        int rounds = SlowTests.Rounds(50, all: 200);
        await using var fixture = new ContextFixture();
        for (int round = 0; round < rounds; round++)
        {
            DealerSocket binder = fixture.Context.CreateDealer(new DealerOptions { SendHighWaterMark = 1, ReceiveHighWaterMark = 1 });
            DealerSocket connecter = fixture.Context.CreateDealer(new DealerOptions { SendHighWaterMark = 1, ReceiveHighWaterMark = 1 });
            connecter.Connect("inproc://full");
            Task[] all = [SendAllAsync(binder), SendAllAsync(connecter), Task.Run(() => ReceiveAllAsync(connecter), Guard.Token),
                Task.Run(() => ReceiveAllAsync(binder), Guard.Token)];
            binder.Bind("inproc://full");
            await Task.WhenAll(all).Guarded();
            binder.Dispose();
            connecter.Dispose();
        }
    }

    [Fact]
    public async Task A_subscriber_gets_nothing_that_it_did_not_ask_for_while_it_connects_to_a_busy_publisher()
    {
        int rounds = SlowTests.Rounds(60, all: 300);
        await using var fixture = new ContextFixture();

        // The other way round: what matches no topic goes out, and the subscriber, which has none, wants none of it.
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { InvertMatching = true });
        publisher.Bind("inproc://busy");
        bool isEnded = false;
        var threads = new TestThreads();
        threads.Start(() =>
        {
            while (!Volatile.Read(ref isEnded))
            {
                publisher.Send("unasked"u8);
            }
        });
        for (int round = 0; round < rounds; round++)
        {
            using SubSocket subscriber = fixture.Context.CreateSub();
            subscriber.Connect("inproc://busy");
            Assert.False(subscriber.TryReceive(out _));
        }

        Volatile.Write(ref isEnded, true);
        await threads.JoinAsync(() => 0);
    }

    [Fact]
    public async Task A_connecter_forgets_the_pipes_of_binders_that_have_gone()
    {
        await using var fixture = new ContextFixture();
        DealerSocket connecter = fixture.Context.CreateDealer();
        for (int i = 0; i < 3; i++)
        {
            using DealerSocket binder = fixture.Context.CreateDealer();
            binder.Bind("inproc://gone");
            connecter.Connect("inproc://gone");
        }

        Assert.Equal(0, connecter.PeerCount);
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => connecter.Disconnect("inproc://gone")).Error);
    }

    [Fact]
    public async Task A_connecter_that_is_turned_away_is_told_why()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        router.Bind("inproc://full");
        byte[] name = "A"u8.ToArray();
        DealerSocket first = fixture.Context.CreateDealer(new DealerOptions { RoutingId = name });
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = name });
        using EventReader monitor = second.ReadEvents(SocketEventTypes.ConnectionRefused);
        first.Connect("inproc://full");
        second.Connect("inproc://full");
        SocketEvent refused = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Contains("routing id is in use", refused.Detail, StringComparison.Ordinal);
        Assert.Equal((0, 1L), (second.PeerCount, second.GetStatistics().RefusedConnections));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Messages_of_a_disconnected_inproc_connecter_are_received_by_a_bind_within_its_linger_time(bool disconnects)
    {
        await using var fixture = new ContextFixture();
        DealerSocket connecter = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "me"u8.ToArray() });
        connecter.Connect("inproc://late");
        connecter.Send("one"u8);
        connecter.Send("two"u8);
        if (disconnects)
        {
            connecter.Disconnect("inproc://late");
            Assert.Equal((0, 2L), (connecter.PeerCount, connecter.GetStatistics().QueuedMessages));
        }
        else
        {
            connecter.Dispose();
        }

        RouterSocket binder = fixture.Context.CreateRouter();
        binder.Bind("inproc://late");
        foreach (string text in new[] { "one", "two" })
        {
            Assert.True(binder.TryReceive(out Message message), text);
            Assert.Equal(("me", text), (Encoding.ASCII.GetString(message.RoutingId.Span), Encoding.ASCII.GetString(message.Span)));
            message.Dispose();
        }

        Assert.Equal((0, 2L, 0L), (binder.PeerCount, connecter.GetStatistics().WrittenMessages, connecter.GetStatistics().DroppedMessages));
        if (!disconnects)
        {
            await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 1); // There is nothing left to wait for.
        }
    }

    [Fact]
    public async Task A_connecter_that_goes_accepts_nothing_any_more_once_it_was_looked_what_waits_for_a_binder()
    {
        await using var fixture = new ContextFixture();
        DealerSocket connecter = fixture.Context.CreateDealer();
        connecter.Connect("inproc://late");
        var link = (InprocLink)Assert.Single(connecter.Core.Links);
        // Nothing waits: whatever came now would be dropped, linger time or not.
        link.Close(DisconnectReason.Local, Timeout.InfiniteTimeSpan);
        Assert.False(connecter.TrySend("x"u8));
        Assert.Equal(0, connecter.GetStatistics().AcceptedMessages);
    }

    [Fact]
    public async Task Messages_of_a_disconnected_inproc_connecter_are_dropped_and_counted_after_its_linger_time()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerSocket connecter = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.FromSeconds(1) });
        DealerSocket hasty = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        foreach (DealerSocket socket in new[] { connecter, hasty })
        {
            socket.Connect("inproc://late");
            socket.Send("x"u8);
            socket.Dispose();
        }

        Assert.Equal((1L, 0L), (connecter.GetStatistics().QueuedMessages, hasty.GetStatistics().QueuedMessages));
        time.Advance(TimeSpan.FromSeconds(1));
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
        Assert.Equal((1L, 1L), (connecter.GetStatistics().DroppedMessages, hasty.GetStatistics().DroppedMessages));
        using DealerSocket binder = fixture.Context.CreateDealer();
        binder.Bind("inproc://late");
        Assert.False(binder.TryReceive(out _));
    }

    [Fact]
    public async Task A_shutdown_does_not_wait_for_a_binder_that_cannot_come_any_more_and_reports_what_waited_for_it()
    {
        await using var fixture = new ContextFixture();
        DealerSocket connecter = fixture.Context.CreateDealer();
        connecter.Connect("inproc://never");
        connecter.Send("x"u8);
        connecter.Dispose();
        ShutdownReport report = await fixture.Context.ShutdownAsync(Timeout.InfiniteTimeSpan, Guard.Token).Guarded();
        Assert.Equal((true, 1L), (report.Drained, report.UndeliveredMessages));
    }

    private static Task SendAllAsync(DealerSocket socket) =>
        Task.WhenAll(Enumerable.Range(0, Sends).Select(i => socket.SendAsync(new byte[] { (byte)i }, Guard.Token).AsTask()));

    private static async Task ReceiveAllAsync(DealerSocket socket)
    {
        for (int i = 0; i < Sends; i++)
        {
            using Message message = await socket.ReceiveAsync(Guard.Token);
            Assert.Equal(i, message.Span[0]);
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Messages_that_an_XSUB_sends_before_a_PUB_binds_do_not_fill_the_XSUB(bool isBoundFirst)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { ReceiveHighWaterMark = 2 });
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { SendHighWaterMark = 2 });
        if (isBoundFirst)
        {
            publisher.Bind("inproc://late");
        }

        subscriber.Connect("inproc://late");
        for (int i = 0; i < 10; i++)
        {
            _ = subscriber.TrySend("data"u8);
        }

        if (!isBoundFirst)
        {
            publisher.Bind("inproc://late");
        }

        subscriber.Options.SendTimeout = TimeSpan.FromSeconds(2);
        for (int i = 0; i < 100; i++)
        {
            subscriber.Send("more"u8);
        }

        subscriber.Send("\x01t"u8);
        await fixture.UntilAsync(() => publisher.TrySend("t"u8) && subscriber.TryReceive(out Message got) && Take(got));

        static bool Take(Message got)
        {
            got.Dispose();
            return true;
        }
    }
}
