using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>What ends a wait for STREAM sockets before anything is ready.</summary>
public sealed class PollerStreamEndTests : PollerTestBase
{
    [Theory]
    [InlineData(PollEvents.In)]
    [InlineData(PollEvents.None)]
    public async Task A_disposed_socket_ends_waits_and_later_polls_until_it_is_removed(PollEvents events)
    {
        StreamSocket socket = Fixture.Bind(out _);
        Poller.Add(socket, events);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Task<int> blocked = Block();

        socket.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => blocked.Guarded());
        Assert.Throws<ObjectDisposedException>(() => Poller.Poll(Results, Guard.Limit));
        Assert.True(Poller.Remove(socket));
        Assert.Equal(0, Poller.Poll(Results, TimeSpan.Zero));
    }

    [Fact]
    public async Task A_disposed_socket_ends_polls_whatever_it_or_another_is_ready_for()
    {
        StreamSocket ready = Fixture.Bind(out _);
        StreamSocket disposed = Fixture.Bind(out string endpoint);
        await Fixture.ConnectAsync(endpoint);
        Poller.Add(disposed, PollEvents.In | PollEvents.Out);
        Poller.Add(ready, PollEvents.Out);
        await Fixture.UntilAsync(() => disposed.Hub.Receive.IsReadable);
        Assert.Equal(2, Poller.Poll(Results, TimeSpan.Zero));

        disposed.Dispose();

        Assert.Throws<ObjectDisposedException>(() => Poller.Poll(Results, TimeSpan.Zero));
    }

    [Theory]
    [InlineData(PollEvents.In)]
    [InlineData(PollEvents.None)]
    public async Task A_context_that_is_shut_down_ends_asynchronous_and_blocked_polls(PollEvents events)
    {
        StreamSocket socket = Fixture.Bind(out _);
        Poller.Add(socket, events);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();
        Task<int> blocked = Block();

        await Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => poll.Guarded())).Error);
        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => blocked.Guarded())).Error);
        Assert.Equal(ZlinkError.ContextTerminated, Assert.Throws<ZlinkException>(() => Poller.Poll(Results, TimeSpan.Zero)).Error);
    }

    [Fact]
    public async Task A_cancelled_poll_ends_and_the_next_one_works()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In);
        using var cancel = new CancellationTokenSource();
        Task<int> poll = Poller.PollAsync(Results, cancel.Token).AsTask();

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => poll.Guarded());
        await Fixture.ConnectAsync(endpoint);
        Assert.Equal(1, await Poller.PollAsync(Results, Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_disposed_poller_ends_its_wait_and_leaves_its_sockets_alone()
    {
        StreamSocket socket = Fixture.Bind(out string endpoint);
        Poller.Add(socket, PollEvents.In);
        Task<int> poll = Poller.PollAsync(Results, Guard.Token).AsTask();

        Poller.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.Throws<ObjectDisposedException>(() => Poller.Add(socket, PollEvents.In));
        await Fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
    }

    [Fact]
    public async Task A_socket_that_is_taken_out_and_disposed_disturbs_no_poll_on_another_thread()
    {
        const int Rounds = 1_000;
        Poller.Add(Fixture.Bind(out _), PollEvents.In);
        bool isEnded = false;
        var threads = new TestThreads();
        threads.Start(() =>
        {
            var results = new PollResult[4];
            while (!Volatile.Read(ref isEnded))
            {
                Poller.Poll(results, TimeSpan.FromMilliseconds(1));
            }
        });
        for (int i = 0; i < Rounds; i++)
        {
            using StreamSocket socket = Context.CreateStream();
            Poller.Add(socket, PollEvents.In);
            Assert.True(Poller.Remove(socket));
        }

        Volatile.Write(ref isEnded, true);
        await threads.JoinAsync(() => 0);
    }

    private Task<int> Block() =>
        Task.Factory.StartNew(() => Poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
}
