using Xunit;

namespace Net.Zlink.Tests.Support;

public sealed class ManualTimeProviderTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Fact]
    public void The_clock_stands_still_until_it_is_advanced()
    {
        var clock = new ManualTimeProvider();
        DateTimeOffset utc = clock.GetUtcNow();
        long stamp = clock.GetTimestamp();
        Assert.Equal((utc, stamp), (clock.GetUtcNow(), clock.GetTimestamp()));

        clock.Advance(TimeSpan.FromMilliseconds(1_500));

        Assert.Equal(utc.AddMilliseconds(1_500), clock.GetUtcNow());
        Assert.Equal(TimeSpan.FromMilliseconds(1_500), clock.GetElapsedTime(stamp));
    }

    [Fact]
    public void Timers_fire_in_the_order_of_their_due_times_and_see_their_own_due_time()
    {
        var clock = new ManualTimeProvider();
        List<(string Name, double Seconds)> fired = [];
        using ITimer late = Once(clock, 3, () => fired.Add(("late", clock.Elapsed.TotalSeconds)));
        using ITimer early = Once(clock, 1, () => fired.Add(("early", clock.Elapsed.TotalSeconds)));
        using ITimer middle = Once(clock, 2, () => fired.Add(("middle", clock.Elapsed.TotalSeconds)));
        using ITimer never = Once(clock, 11, () => fired.Add(("never", clock.Elapsed.TotalSeconds)));

        clock.Advance(10 * Second);

        Assert.Equal([("early", 1), ("middle", 2), ("late", 3)], fired);
        Assert.Equal(10 * Second, clock.Elapsed);
        Assert.Equal(1, clock.ArmedTimers);
    }

    [Fact]
    public void Timers_due_at_the_same_time_fire_in_the_order_of_their_setting()
    {
        var clock = new ManualTimeProvider();
        List<string> fired = [];
        using ITimer first = Once(clock, 1, () => fired.Add("first"));
        using ITimer second = Once(clock, 1, () => fired.Add("second"));
        first.Change(Second, Timeout.InfiniteTimeSpan);

        clock.Advance(Second);

        Assert.Equal(["second", "first"], fired);
    }

    [Fact]
    public void A_periodic_timer_fires_once_per_period_within_one_advance()
    {
        var clock = new ManualTimeProvider();
        List<double> fired = [];
        using ITimer timer = clock.CreateTimer(_ => fired.Add(clock.Elapsed.TotalSeconds), null, Second, 2 * Second);

        clock.Advance(6 * Second);

        Assert.Equal([1, 3, 5], fired);
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
        inner!.Dispose();
    }

    [Fact]
    public void A_timer_disposed_by_an_earlier_callback_does_not_fire()
    {
        var clock = new ManualTimeProvider();
        bool fired = false;
        ITimer victim = Once(clock, 2, () => fired = true);
        using ITimer killer = Once(clock, 1, victim.Dispose);

        clock.Advance(5 * Second);

        Assert.False(fired);
        Assert.False(victim.Change(Second, Second));
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public void Changing_a_timer_moves_its_due_time_and_infinite_stops_it()
    {
        var clock = new ManualTimeProvider();
        int fired = 0;
        using ITimer timer = clock.CreateTimer(_ => fired++, null, Second, Second);
        Assert.True(timer.Change(3 * Second, Timeout.InfiniteTimeSpan));
        clock.Advance(2 * Second);
        Assert.Equal(0, fired);
        clock.Advance(5 * Second);
        Assert.Equal(1, fired);

        timer.Change(Second, Second);
        timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        clock.Advance(5 * Second);
        Assert.Equal(1, fired);
    }

    [Fact]
    public void A_timer_due_at_once_fires_at_the_next_advance_even_by_zero()
    {
        var clock = new ManualTimeProvider();
        int fired = 0;
        using ITimer timer = clock.CreateTimer(_ => fired++, null, TimeSpan.Zero, TimeSpan.Zero);
        Assert.Equal(0, fired);
        clock.Advance(TimeSpan.Zero);
        clock.Advance(TimeSpan.Zero);
        Assert.Equal(1, fired);
    }

    [Fact]
    public async Task Delays_and_timeouts_of_tasks_run_on_the_clock()
    {
        var clock = new ManualTimeProvider();
        Task delay = Task.Delay(10 * Second, clock, TestContext.Current.CancellationToken);
        using var timeout = new CancellationTokenSource(20 * Second, clock);

        clock.Advance(10 * Second);
        await delay.WaitAsync(30 * Second, TestContext.Current.CancellationToken);
        Assert.False(timeout.IsCancellationRequested);

        clock.Advance(10 * Second);
        Assert.True(timeout.IsCancellationRequested);
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

    [Fact]
    public void Nonsense_is_refused()
    {
        var clock = new ManualTimeProvider();
        Assert.Throws<ArgumentOutOfRangeException>(() => clock.Advance(-Second));
        Assert.Throws<ArgumentOutOfRangeException>(() => clock.CreateTimer(static _ => { }, null, -2 * Second, Second));
        Assert.Throws<ArgumentNullException>(() => clock.CreateTimer(null!, null, Second, Second));
    }

    private static ITimer Once(ManualTimeProvider clock, double seconds, Action action) =>
        clock.CreateTimer(_ => action(), null, TimeSpan.FromSeconds(seconds), Timeout.InfiniteTimeSpan);
}
