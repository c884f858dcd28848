using System.Diagnostics;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Polling;

/// <summary>Asynchronous polls that have a limit: loops that have timers beside their sockets.</summary>
public sealed class PollerTimeoutTests : PollerTestBase
{
    // Below a timer's step of a millisecond, at one, and not whole.
    [Theory]
    [InlineData(0.2)]
    [InlineData(1)]
    [InlineData(17.5)]
    public async Task A_poll_that_finds_nothing_ends_when_its_time_has_passed_and_not_before(double milliseconds)
    {
        var limit = TimeSpan.FromMilliseconds(milliseconds);
        (_, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        for (int i = 0; i < 3; i++)
        {
            long started = Stopwatch.GetTimestamp();
            Assert.Equal(0, await Poller.PollAsync(Results, limit, Guard.Token).Guarded());
            TimeSpan waited = Stopwatch.GetElapsedTime(started);
            Assert.True(waited >= limit, $"{waited} of {limit}");
        }
    }

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    public async Task A_poller_without_items_waits_out_the_time(int milliseconds)
    {
        ValueTask<int> poll = Poller.PollAsync(Results, TimeSpan.FromMilliseconds(milliseconds), Guard.Token);
        Assert.True(milliseconds > 0 || poll.IsCompletedSuccessfully);
        Assert.Equal(0, await poll.Guarded());
    }

    [Fact]
    public async Task The_end_of_one_wait_leaves_another_waiting()
    {
        (DealerSocket sender, DealerSocket receiver) = Context.CreateConnectedDealers();
        Poller.Add(receiver, PollEvents.In);
        Task<int> longer = Poller.PollAsync(new PollResult[1], TimeSpan.MaxValue, Guard.Token).AsTask();
        Task<int> endless = Poller.PollAsync(new PollResult[1], Timeout.InfiniteTimeSpan, Guard.Token).AsTask();
        Assert.Equal(0, await Poller.PollAsync(Results, TimeSpan.FromMilliseconds(2), Guard.Token).Guarded());
        Assert.False(longer.IsCompleted || endless.IsCompleted);
        sender.Send("x"u8);
        Assert.Equal(1, await longer.Guarded());
        Assert.Equal(1, await endless.Guarded());
    }

    [Fact]
    public async Task A_token_ends_it_and_a_negative_time_is_refused()
    {
        using var cancel = new CancellationTokenSource();
        Task<int> poll = Poller.PollAsync(Results, Guard.Limit, cancel.Token).AsTask();
        await cancel.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => poll.Guarded());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(async () => await Poller.PollAsync(Results, TimeSpan.Zero, cancel.Token));
        await Assert.ThrowsAsync<ArgumentOutOfRangeException>(
            async () => await Poller.PollAsync(Results, TimeSpan.FromSeconds(-2), Guard.Token));
    }
}
