using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

public sealed class PollerTests : PollerTestBase
{
    [Fact]
    public void Adding_changing_and_removing_one_of_many_costs_no_more_than_one_of_few()
    {
        const int Few = 100;
        const int Many = 3_000;
        using var context = new ZlinkContext(new ZlinkContextOptions { MaxSockets = Many, ShardCount = 1 });
        PubSocket[] sockets = [.. Enumerable.Range(0, Many).Select(_ => context.CreatePub())];
        long ofFew = 0;
        long ofMany = 0;
        for (int i = 0; i < Many; i++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            Poller.Add(sockets[i], PollEvents.Out);
            Poller.Modify(sockets[i], PollEvents.In | PollEvents.Out);
            Assert.True(Poller.Remove(sockets[i]));
            Poller.Add(sockets[i], PollEvents.Out);
            long bytes = GC.GetAllocatedBytesForCurrentThread() - before;
            ofFew += i < Few ? bytes : 0;
            ofMany += i >= Many - Few ? bytes : 0;
        }

        // A copy of what is there, four times each, was 96 KB among these many.
        Assert.True(ofMany < 2 * ofFew, $"the first {Few} took {ofFew} bytes, the last {Few} {ofMany}");

        // Their order is that of the last adding, whatever was changed in between.
        Poller.Modify(sockets[0], PollEvents.Out);
        Assert.True(Poller.Remove(sockets[1]));
        Poller.Add(sockets[1], PollEvents.Out);
        var results = new PollResult[Many];
        Assert.Equal(Many, Poller.Poll(results, TimeSpan.Zero));
        Assert.Equal([sockets[0], .. sockets[2..], sockets[1]], results.Select(static result => result.Socket));
    }

    [Fact]
    public void A_socket_with_a_message_is_reported_until_the_message_is_taken()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In, userState: "mine");
        sender.Send("one"u8);

        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Assert.Equal((receiver, PollEvents.In, "mine"), (Results[0].Socket, Results[0].Events, Results[0].UserState));
        Assert.Equal(1, Poller.Poll(Results, TimeSpan.Zero));

        Take(receiver, "one");
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public void Each_of_many_messages_is_found_by_a_poll_of_its_own()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        const int Count = 20_000;
        var sending = new Thread(() =>
        {
            for (int i = 0; i < Count; i++)
            {
                sender.Send(BitConverter.GetBytes(i));
            }
        });
        sending.Start();
        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
            Assert.True(receiver.TryReceive(out Message message));
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
            message.Dispose();
        }

        sending.JoinGuarded();
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public async Task Each_of_many_messages_is_found_by_an_asynchronous_poll_of_its_own()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        const int Count = 5_000;
        Task sending = Task.Run(
            async () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    await sender.SendAsync(BitConverter.GetBytes(i), Guard.Token);
                }
            },
            Guard.Token);
        for (int i = 0; i < Count; i++)
        {
            Assert.Equal(1, await Poller.PollAsync(Results, Guard.Token).Guarded());
            Assert.True(receiver.TryReceive(out Message message));
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
            message.Dispose();
        }

        await sending.Guarded();
    }

    [Fact]
    public void A_poll_of_one_peer_reads_its_connection_itself_before_it_blocks()
    {
        Assert.SkipWhen(Environment.ProcessorCount == 1, "With one processor, looking again would only keep the peer from answering.");
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        sender.Send("one"u8);
        Assert.Equal(1, Poller.Poll(Results, Guard.Limit));
        Take(receiver, "one");

        // This thread owes no flush, so whatever it does for a shard from here on is reading. Another thread may run the shard at the very
        // moment of a look: hence several.
        Poller.Poll(Results, TimeSpan.FromMilliseconds(1));
        long before = Helps();
        for (int i = 0; i < 20; i++)
        {
            Assert.Equal(0, Poller.Poll(Results, TimeSpan.FromMilliseconds(1)));
        }

        Assert.True(Helps() > before);

        long Helps() => Volatile.Read(ref receiver.Core.Links[0].Reader!.Shard.Counters.Helps);
    }

    [Fact]
    public async Task A_wait_ends_when_any_of_its_sockets_becomes_ready()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        (_, DealerSocket quiet) = Context.CreateConnectedDealers();
        Poller.Add(quiet, PollEvents.In);
        Poller.Add(receiver, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.False(poll.IsCompleted);

        sender.Send("x"u8);

        Assert.Equal(1, await poll.Guarded());
        Assert.Same(receiver, Results[0].Socket);
    }

    [Fact]
    public async Task Two_pollers_of_one_socket_are_both_told()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        using var other = new SocketPoller();
        Poller.Add(receiver, PollEvents.In);
        other.Add(receiver, PollEvents.In);
        Task<int> first = Poller.PollAsync(Results, Guard.Token).AsTask();
        Task<int> second = other.PollAsync(new PollResult[1], Guard.Token).AsTask();

        sender.Send("x"u8);

        Assert.Equal(1, await first.Guarded());
        Assert.Equal(1, await second.Guarded());
    }

    [Fact]
    public async Task Two_waits_on_one_poller_are_both_told()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        Task<int> first = Poller.PollAsync(Results, Guard.Token).AsTask();
        Task<int> second = Task.Factory.StartNew(
            () => Poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        sender.Send("x"u8);

        Assert.Equal(1, await first.Guarded());
        Assert.Equal(1, await second.Guarded());
    }

    [Fact]
    public async Task A_sender_without_a_peer_becomes_ready_when_one_connects()
    {
        PairSocket binder = Context.CreatePair();
        string endpoint = binder.Bind("tcp://127.0.0.1:0");
        Poller.Add(binder, PollEvents.In | PollEvents.Out);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        Context.CreatePair().Connect(endpoint);

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(PollEvents.Out, Results[0].Events);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://poller-room")]
    public async Task A_full_sender_becomes_ready_when_its_peer_has_read(string endpoint)
    {
        DealerSocket receiver = Context.CreateDealer(new DealerOptions { ReceiveHighWaterMark = 4 });
        DealerSocket sender = Context.CreateDealer(new DealerOptions { SendHighWaterMark = 4 });
        sender.Connect(receiver.Bind(endpoint));
        Poller.Add(sender, PollEvents.Out);
        byte[] payload = new byte[64 * 1024];
        int sent = 0;
        while (!await StaysFullAsync(sender))
        {
            while (sender.TrySend(payload))
            {
                sent++;
            }
        }

        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        for (int i = 0; i < sent; i++)
        {
            using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
        }

        Assert.Equal(1, await poll.Guarded());
        Assert.Equal(PollEvents.Out, Results[0].Events);
    }

    [Theory]
    [InlineData("tcp")]
    [InlineData("inproc")]
    public void A_fresh_socket_is_ready_for_what_its_type_says(string transport)
    {
        string endpoint = string.Equals(transport, "tcp", StringComparison.Ordinal) ? "tcp://127.0.0.1:0"
            : $"inproc://fresh-{Guid.NewGuid()}";
        (ZmpSocket Socket, PollEvents Expected)[] fresh =
        [
            (Context.CreatePair(), PollEvents.None),
            (Context.CreatePub(), PollEvents.Out),
            (Context.CreateSub(), PollEvents.None),
            (Context.CreateDealer(), PollEvents.None),
            (Context.CreateRouter(), PollEvents.Out),
            (Context.CreateRouter(new RouterOptions { Mandatory = true }), PollEvents.None),
            (Context.CreateXPub(), PollEvents.Out),
            (Context.CreateXSub(), PollEvents.Out),
        ];
        foreach ((ZmpSocket socket, PollEvents expected) in fresh)
        {
            socket.Bind(endpoint);
            Poller.Add(socket, PollEvents.In | PollEvents.Out);
            Assert.Equal(expected == PollEvents.None ? 0 : 1, Poller.Poll(Results, TimeSpan.Zero));
            if (expected != PollEvents.None)
            {
                Assert.Equal(expected, Results[0].Events);
            }

            Assert.True(Poller.Remove(socket));
            socket.Unbind(socket.LastEndpoint);
        }
    }

    [Fact]
    public async Task An_item_with_no_events_never_fires_until_it_is_asked_for_some()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.None);
        sender.Send("x"u8);
        await UntilReadableAsync(receiver);
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.False(poll.IsCompleted);

        Poller.Modify(receiver, PollEvents.In);

        Assert.Equal(1, await poll.Guarded());
    }

    [Fact]
    public async Task A_socket_added_while_a_poll_waits_takes_part_in_it_and_a_removed_one_does_not()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        (DealerSocket otherSender, DealerSocket other) = Context.CreateConnectedDealers();
        Poller.Add(other, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Assert.True(Poller.Remove(other));
        Assert.False(Poller.Remove(other));
        otherSender.Send("unseen"u8);
        await UntilReadableAsync(other);
        Assert.False(poll.IsCompleted);

        Poller.Add(receiver, PollEvents.In);
        sender.Send("seen"u8);

        Assert.Equal(1, await poll.Guarded());
        Assert.Same(receiver, Results[0].Socket);
        Assert.Equal(1, Poller.Count);
    }

    [Fact]
    public async Task Sockets_that_did_not_fit_in_the_results_come_first_at_the_next_poll()
    {
        var receivers = new List<DealerSocket>();
        for (int i = 0; i < 5; i++)
        {
            (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
            sender.Send("x"u8);
            await UntilReadableAsync(receiver);
            Poller.Add(receiver, PollEvents.In);
            receivers.Add(receiver);
        }

        var seen = new List<ZlinkSocket?>();
        for (int i = 0; i < 5; i++)
        {
            Assert.Equal(2, Poller.Poll(Results.AsSpan(0, 2), TimeSpan.Zero));
            seen.Add(Results[0].Socket);
            seen.Add(Results[1].Socket);
        }

        Assert.Equal([.. receivers, .. receivers], seen);
    }

    [Fact]
    public async Task Polling_allocates_nothing_whether_something_is_ready_or_not()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In | PollEvents.Out);
        sender.Send("x"u8);
        await UntilReadableAsync(receiver);
        Assert.Equal([0, 0, 0], AllocationsOfPolls(() =>
        {
            Take(receiver, "x");
            Poller.Modify(receiver, PollEvents.In);
        }));
    }

    [Fact]
    public async Task Items_may_come_and_go_while_polls_wait_and_no_message_is_missed()
    {
        const int Pairs = 4;
        const int Count = 500;
        (DealerSocket Sender, DealerSocket Receiver)[] pairs =
            [.. Enumerable.Range(0, Pairs).Select(_ => Context.CreateConnectedDealers())];
        foreach ((_, DealerSocket receiver) in pairs)
        {
            Poller.Add(receiver, PollEvents.In);
        }

        await AssertNothingIsMissedAsync(
            Pairs,
            Count,
            async i =>
            {
                DealerSocket receiver = pairs[i % Pairs].Receiver;
                Poller.Modify(receiver, PollEvents.None);
                Poller.Remove(receiver);
                await Task.Yield();
                Poller.Add(receiver, i % 2 == 0 ? PollEvents.In : PollEvents.None);
                Poller.Modify(receiver, PollEvents.In);
            },
            i => pairs[i].Sender.SendAsync("x"u8.ToArray(), Guard.Token).AsTask(),
            static result =>
            {
                bool isTaken = ((DealerSocket)result.Socket).TryReceive(out Message message);
                message.Dispose();
                return isTaken;
            });
    }

    [Fact]
    public void A_poll_of_nothing_waits_out_its_time()
    {
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.FromMilliseconds(5)));
        Assert.Throws<ArgumentException>(() => Poller.Poll([], TimeSpan.Zero));
        Assert.Throws<ArgumentOutOfRangeException>(() => Poller.Poll(Results, TimeSpan.FromMilliseconds(-2)));
    }

    [Fact]
    public void A_socket_is_there_once()
    {
        PairSocket socket = Context.CreatePair();
        Poller.Add(socket, PollEvents.In);
        Assert.Throws<ArgumentException>(() => Poller.Add(socket, PollEvents.Out));
        Assert.Throws<ArgumentException>(() => Poller.Modify(Context.CreatePair(), PollEvents.Out));
    }

    private static void Take(ReceivingSocket socket, string expected)
    {
        Assert.True(socket.TryReceive(out Message message));
        Assert.Equal(expected, Encoding.ASCII.GetString(message.Span));
        message.Dispose();
    }

    private static async Task UntilReadableAsync(ZmpSocket socket)
    {
        using var poller = new SocketPoller();
        poller.Add(socket, PollEvents.In);
        Assert.Equal(1, await poller.PollAsync(new PollResult[1], Guard.Token).Guarded());
    }

    /// <summary>Whether the socket has no room, and gets none although what it can pass on is passed on.</summary>
    private async Task<bool> StaysFullAsync(ZmpSocket socket)
    {
        await Context.WhenIdleAsync().Guarded();
        return !socket.CanSend;
    }
}
