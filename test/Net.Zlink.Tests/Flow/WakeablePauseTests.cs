using Net.Zlink.Flow;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Flow;

public sealed class WakeablePauseTests
{
    private readonly WakeablePause _pause = new();

    [Fact]
    public async Task A_wakeable_pause_ends_when_it_is_woken_and_cancels_its_wait()
    {
        CancellationToken seen = default;
        Task pause = _pause.RunAsync(token => Endless(seen = token), Guard.Token);
        Assert.False(pause.IsCompleted);
        _pause.Wake();
        await pause.Guarded();
        Assert.True(seen.IsCancellationRequested);
    }

    [Fact]
    public async Task Woken_before_it_begins_it_does_not_begin_and_the_next_one_does()
    {
        _pause.Wake();
        await _pause.RunAsync(static _ => throw new InvalidOperationException("begun"), Guard.Token).Guarded();
        Task next = _pause.RunAsync(Endless, Guard.Token);
        Assert.False(next.IsCompleted);
        _pause.Wake();
        await next.Guarded();
    }

    [Fact]
    public async Task A_wake_that_was_forgotten_ends_no_pause()
    {
        _pause.Wake();
        _pause.Forget();
        bool hasBegun = false;
        await _pause.RunAsync(
            _ =>
            {
                hasBegun = true;
                return Task.CompletedTask;
            },
            Guard.Token).Guarded();
        Assert.True(hasBegun);
    }

    [Fact]
    public async Task Ended_from_outside_it_fails()
    {
        using var ended = new CancellationTokenSource();
        Task pause = _pause.RunAsync(Endless, ended.Token);
        await ended.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => pause.Guarded());
    }

    private static Task Endless(CancellationToken token) => Task.Delay(Timeout.InfiniteTimeSpan, token);
}
