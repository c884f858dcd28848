using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>What ends a wait before anything is ready: its own end, and the ends of the poller, of a socket and of the context.</summary>
public sealed class PollerEndTests : IAsyncDisposable
{
    private readonly ZlinkContext _context = new();
    private readonly Poller _poller = new();
    private readonly PollResult[] _results = new PollResult[8];

    public async ValueTask DisposeAsync()
    {
        _poller.Dispose();
        await _context.DisposeAsync();
    }

    [Fact]
    public async Task A_disposed_socket_ends_the_wait_and_later_polls_until_it_is_removed()
    {
        (_, DealerSocket receiver) = _context.CreateConnectedDealers();
        _poller.Add(receiver, PollEvents.None);
        Task<int> poll = _poller.PollAsync(_results, Guard.Token).AsTask();

        receiver.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.Throws<ObjectDisposedException>(() => _poller.Poll(_results, Guard.Limit));
        Assert.True(_poller.Remove(receiver));
        Assert.Equal(0, _poller.Poll(_results, TimeSpan.Zero));
    }

    [Theory]
    [InlineData(PollEvents.In)]
    [InlineData(PollEvents.Out)]
    [InlineData(PollEvents.None)]
    public async Task A_context_that_is_shut_down_ends_asynchronous_and_blocked_polls(PollEvents events)
    {
        PairSocket socket = _context.CreatePair();
        _poller.Add(socket, events);
        Task<int> poll = _poller.PollAsync(_results, Guard.Token).AsTask();
        Task<int> blocked = Task.Factory.StartNew(() => _poller.Poll(new PollResult[1], Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);

        await _context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => poll.Guarded())).Error);
        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => blocked.Guarded())).Error);
    }

    [Fact]
    public async Task A_cancelled_poll_ends_and_the_next_one_works()
    {
        (DealerSocket sender, DealerSocket receiver) = _context.CreateConnectedDealers();
        _poller.Add(receiver, PollEvents.In);
        using var cancel = new CancellationTokenSource();
        Task<int> poll = _poller.PollAsync(_results, cancel.Token).AsTask();

        await cancel.CancelAsync();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => poll.Guarded());
        sender.Send("x"u8);
        Assert.Equal(1, await _poller.PollAsync(_results, Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_disposed_poller_ends_its_wait_and_leaves_its_sockets_alone()
    {
        (DealerSocket sender, DealerSocket receiver) = _context.CreateConnectedDealers();
        _poller.Add(receiver, PollEvents.In);
        Task<int> poll = _poller.PollAsync(_results, Guard.Token).AsTask();

        _poller.Dispose();

        await Assert.ThrowsAsync<ObjectDisposedException>(() => poll.Guarded());
        Assert.Throws<ObjectDisposedException>(() => _poller.Add(receiver, PollEvents.In));
        sender.Send("x"u8);
        using Message message = await receiver.ReceiveAsync(Guard.Token).Guarded();
    }
}
