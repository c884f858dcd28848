using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests;

public sealed class ZlinkTimersTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    private readonly ManualTimeProvider _clock = new();
    private readonly ZlinkTimers _timers;
    private readonly List<int> _ran = [];

    public ZlinkTimersTests() => _timers = new ZlinkTimers(_clock);

    [Fact]
    public void Ids_count_from_one_and_are_not_used_again()
    {
        Assert.Equal(1, _timers.Add(Second, _ran.Add));
        Assert.Equal(2, _timers.Add(Second, _ran.Add));
        Assert.True(_timers.Cancel(2));
        Assert.Equal(3, _timers.Add(Second, _ran.Add));
        Assert.Equal(2, _timers.Count);
    }

    [Fact]
    public void A_timer_repeats_an_interval_after_it_ran()
    {
        _timers.Add(Second, _ran.Add);
        Assert.Equal(Second, _timers.TimeUntilNext);
        Assert.Equal(0, _timers.Execute());

        _clock.Advance(2.5 * Second);
        Assert.Equal(TimeSpan.Zero, _timers.TimeUntilNext);
        Assert.Equal(1, _timers.Execute()); // Once, though two intervals have passed.
        Assert.Equal(Second, _timers.TimeUntilNext);

        _clock.Advance(Second);
        Assert.Equal(1, _timers.Execute());
        Assert.Equal([1, 1], _ran);
    }

    [Fact]
    public void What_is_due_runs_in_the_order_of_its_time()
    {
        _timers.Add(3 * Second, _ran.Add);
        _timers.Add(Second, _ran.Add);
        _timers.Add(2 * Second, _ran.Add);
        _timers.Add(9 * Second, _ran.Add);
        _clock.Advance(4 * Second);
        Assert.Equal(3, _timers.Execute());
        Assert.Equal([2, 3, 1], _ran);
    }

    [Fact]
    public void Without_timers_there_is_no_next_time()
    {
        Assert.Null(_timers.TimeUntilNext);
        _timers.Cancel(_timers.Add(Second, _ran.Add));
        Assert.Null(_timers.TimeUntilNext);
        Assert.Equal(0, _timers.Execute());
    }

    [Fact]
    public void A_cancelled_timer_is_unknown_from_then_on()
    {
        int id = _timers.Add(Second, _ran.Add);
        Assert.True(_timers.Cancel(id));
        Assert.False(_timers.Cancel(id));
        Assert.False(_timers.SetInterval(id, Second));
        Assert.False(_timers.Reset(id));
        _clock.Advance(2 * Second);
        Assert.Equal(0, _timers.Execute());
    }

    [Fact]
    public void A_new_interval_and_a_reset_count_from_now()
    {
        int id = _timers.Add(Second, _ran.Add);
        _clock.Advance(0.9 * Second);
        Assert.True(_timers.SetInterval(id, 10 * Second));
        Assert.Equal(10 * Second, _timers.TimeUntilNext);

        _clock.Advance(9 * Second);
        Assert.True(_timers.Reset(id));
        Assert.Equal(10 * Second, _timers.TimeUntilNext);
        _clock.Advance(9 * Second);
        Assert.Equal(0, _timers.Execute());
        _clock.Advance(Second);
        Assert.Equal(1, _timers.Execute());
    }

    [Fact]
    public void A_handler_may_cancel_and_add_timers_and_a_timer_of_no_interval_runs_once_a_call()
    {
        int victim = 0;
        _timers.Add(TimeSpan.Zero, id =>
        {
            _ran.Add(id);
            _timers.Cancel(victim);
            _timers.Add(TimeSpan.Zero, _ran.Add);
        });
        victim = _timers.Add(TimeSpan.Zero, _ran.Add);

        Assert.Equal(1, _timers.Execute());
        Assert.Equal([1], _ran);
        Assert.Equal(TimeSpan.Zero, _timers.TimeUntilNext);
        Assert.Equal(2, _timers.Execute());
        Assert.Equal([1, 3, 1], [_ran[0], _ran.Max(), _ran.Min()]);
    }

    [Fact]
    public void After_a_handler_that_throws_the_others_run_at_the_next_call()
    {
        _timers.Add(Second, static _ => throw new InvalidOperationException("mine"));
        _timers.Add(Second, _ran.Add);
        _clock.Advance(Second);
        Assert.Equal("mine", Assert.Throws<InvalidOperationException>(() => _timers.Execute()).Message);
        Assert.Equal(1, _timers.Execute());
        Assert.Equal([2], _ran);
    }

    [Fact]
    public void Nonsense_is_refused()
    {
        Assert.Throws<ArgumentNullException>(() => _timers.Add(Second, null!));
        Assert.Throws<ArgumentOutOfRangeException>(() => _timers.Add(-Second, _ran.Add));
        Assert.Throws<ArgumentOutOfRangeException>(() => _timers.SetInterval(1, -Second));
        Assert.Throws<ArgumentNullException>(() => new ZlinkTimers(null!));
        _timers.Add(TimeSpan.MaxValue, _ran.Add);
        Assert.True(_timers.TimeUntilNext > TimeSpan.FromDays(365));
    }

    [Fact]
    public void On_a_clock_of_large_numbers_a_timer_is_due_after_exactly_its_interval()
    {
        for (int i = 0; i < 100; i++)
        {
            var clock = new DateClock(new DateTime(2026, 1, 1).Ticks + (i * TimeSpan.TicksPerMillisecond));
            var timers = new ZlinkTimers(clock);
            timers.Add(TimeSpan.Zero, static _ => { });
            timers.Add(TimeSpan.FromMilliseconds(10), static _ => { });
            Assert.Equal(1, timers.Execute());
            clock.Now += TimeSpan.FromMilliseconds(10).Ticks;
            Assert.Equal(2, timers.Execute());
        }
    }

    /// <summary>Counts as a fake clock may: in the ticks of a date.</summary>
    private sealed class DateClock(long now) : TimeProvider
    {
        public long Now { get; set; } = now;

        public override long TimestampFrequency => TimeSpan.TicksPerSecond;

        public override long GetTimestamp() => Now;
    }
}
