using Microsoft.Extensions.Logging.Abstractions;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Services.Tests;

public sealed class BackgroundLoopTests
{
    [Fact]
    public async Task A_turn_that_fails_is_counted_and_the_loop_goes_on_behind_a_delay()
    {
        var clock = new ManualTimeProvider();
        int turns = 0;
        await using BackgroundLoop loop = BackgroundLoop.Start("test's", NullLogger.Instance, clock, async token =>
        {
            if (Interlocked.Increment(ref turns) <= 2)
            {
                throw new InvalidOperationException("of the test");
            }

            await Task.Delay(Timeout.InfiniteTimeSpan, clock, token);
        });
        for (int i = 1; i <= 2; i++)
        {
            await Guard.UntilAsync(() => clock.ArmedTimers == 1 && loop.FailedTurns == i, "the delay begins");
            clock.Advance(TimeSpan.FromMilliseconds(100));
        }

        await Guard.UntilAsync(() => Volatile.Read(ref turns) == 3, "the third turn runs");
        await loop.DisposeAsync().Guarded();
        Assert.Equal(2, loop.FailedTurns);
    }

    [Fact]
    public async Task The_end_of_the_socket_or_of_the_context_ends_the_loop()
    {
        await using var fixture = new ContextFixture();
        DealerSocket first = fixture.Context.CreateDealer();
        DealerSocket second = fixture.Context.CreateDealer();
        BackgroundLoop[] loops = [.. new[] { first, second }.Select(
            static socket => BackgroundLoop.Start("test's", NullLogger.Instance, TimeProvider.System,
            async token => (await socket.ReceiveAsync(token)).Dispose()))];
        first.Dispose();
        await loops[0].Completion.Guarded();
        await fixture.Context.DisposeAsync().Guarded();
        await loops[1].Completion.Guarded();
        Assert.All(loops, static loop => Assert.Equal(0, loop.FailedTurns));
    }
}
