using Xunit;

namespace Net.Zlink.Tests.Support;

public sealed class ManualTimeProviderTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void Timers_fire_in_the_order_of_their_due_times_and_see_their_own_due_time()
    {
        var clock = new ManualTimeProvider();
        List<(string Name, double Seconds)> fired = [];
        using ITimer late = Once(clock, 3, () => fired.Add(("late", clock.Elapsed.TotalSeconds)));
        using ITimer early = Once(clock, 1, () => fired.Add(("early", clock.Elapsed.TotalSeconds)));
        using ITimer never = Once(clock, 11, () => fired.Add(("never", clock.Elapsed.TotalSeconds)));
        using ITimer often = clock.CreateTimer(_ => fired.Add(("often", clock.Elapsed.TotalSeconds)), null, 4 * Second, 5 * Second);

        clock.Advance(10 * Second);

        Assert.Equal([("early", 1), ("late", 3), ("often", 4), ("often", 9)], fired);
        Assert.Equal(10 * Second, clock.Elapsed);
        Assert.Equal((2, 11 * Second), (clock.ArmedTimers, clock.NextDue));
    }

    [Fact]
    public void A_timer_set_by_a_callback_fires_in_the_same_advance_when_it_becomes_due()
    {
        var clock = new ManualTimeProvider();
        List<double> fired = [];
        ITimer? inner = null;
        using ITimer outer = Once(clock, 1, () => inner = Once(clock, 1, () => fired.Add(clock.Elapsed.TotalSeconds)));

        clock.Advance(5 * Second);

        Assert.Equal([2], fired);
        Assert.Equal((0, null), (clock.ArmedTimers, clock.NextDue));
        inner!.Dispose();
    }

    [Fact]
    public void Threads_that_advance_at_once_fire_each_timer_once_and_lose_no_time_of_the_longest()
    {
        var clock = new ManualTimeProvider();
        int fired = 0;
        ITimer[] timers = [.. Enumerable.Range(1, 200).Select(second => Once(clock, second, () => Interlocked.Increment(ref fired)))];

        Parallel.For(0, 4, _ =>
        {
            for (int step = 0; step < 200; step++)
            {
                clock.Advance(Second);
            }
        });

        Assert.Equal(200, fired);
        Assert.InRange(clock.Elapsed, 200 * Second, 800 * Second);
        Array.ForEach(timers, static timer => timer.Dispose());
    }

    private static ITimer Once(ManualTimeProvider clock, double seconds, Action action) =>
        clock.CreateTimer(_ => action(), null, TimeSpan.FromSeconds(seconds), Timeout.InfiniteTimeSpan);
}
