using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>What ends a wait before anything is ready: its own end, and the ends of the poller, of a socket and of the context.</summary>
public sealed class PollerEndTests : PollerTestBase
{
    [Fact]
    public async Task A_disposed_socket_ends_the_wait_and_later_polls_until_it_is_removed()
    {
        (_, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.None);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        receiver.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.Throws<ObjectDisposedException>(() => Poller.Poll(Results, Guard.Limit));
        Assert.True(Poller.Remove(receiver));
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Theory]
    [InlineData(PollEvents.In)]
    [InlineData(PollEvents.Out)]
    [InlineData(PollEvents.None)]
    public async Task A_context_that_is_shut_down_ends_asynchronous_and_blocked_polls(PollEvents events)
    {
        PairSocket socket = Context.CreatePair();
        Poller.Add(socket, events);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Task<int> blocked = Task.Factory.StartNew(
            () => Poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        await Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => poll.Guarded())).Error);
        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => blocked.Guarded())).Error);
    }

    [Fact]
    public async Task A_cancelled_poll_ends_and_the_next_one_works()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        using var cancel = new CancellationTokenSource();
        Task<int> poll = Poller.PollAsync(Results, cancel.Token).AsTask();

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => poll.Guarded());
        sender.Send("x"u8);
        Assert.Equal(1, await Poller.PollAsync(Results, Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_disposed_poller_ends_its_wait_and_leaves_its_sockets_alone()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        Poller.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.Throws<ObjectDisposedException>(() => Poller.Add(receiver, PollEvents.In));
        sender.Send("x"u8);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
    }

    [Fact]
    public async Task A_socket_that_is_taken_out_and_disposed_disturbs_no_poll_on_another_thread()
    {
        const int Rounds = 3_000;
        await using var context = new ZlinkContext();
        using var poller = new SocketPoller();
        poller.Add(context.CreatePair(), PollEvents.In);
        bool isEnded = false;
        var threads = new TestThreads();
        threads.Start(() =>
        {
            var results = new PollResult[4];
            while (!Volatile.Read(ref isEnded))
            {
                poller.Poll(results, TimeSpan.FromMilliseconds(1));
            }
        });
        for (int i = 0; i < Rounds; i++)
        {
            using PairSocket socket = context.CreatePair();
            poller.Add(socket, PollEvents.In);
            Assert.True(poller.Remove(socket));
        }

        Volatile.Write(ref isEnded, true);
        await threads.JoinAsync(() => 0);
    }
}
