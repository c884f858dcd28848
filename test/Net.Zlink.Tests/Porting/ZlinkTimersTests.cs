using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

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
    public void Due_timers_run_in_the_order_of_their_times()
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

    [Fact]
    public void A_timer_that_was_reset_many_times_runs_once_and_only_when_its_last_reset_says()
    {
        int often = _timers.Add(Second, _ran.Add);
        int once = _timers.Add(2 * Second, _ran.Add);
        for (int i = 0; i < 1_000; i++)
        {
            _clock.Advance(Second / 1_000);
            Assert.True(_timers.Reset(often));
        }

        Assert.Equal(Second, _timers.TimeUntilNext);
        _clock.Advance(Second - TimeSpan.FromTicks(1));
        Assert.Equal(0, _timers.Execute());
        _clock.Advance(TimeSpan.FromTicks(1));
        Assert.Equal(2, _timers.Execute());
        Assert.Equal([once, often], _ran); // The one that was reset last is behind the other of the same moment.
        Assert.Equal(Second, _timers.TimeUntilNext);
    }

    [Fact]
    public void Timers_that_are_cancelled_and_changed_in_any_order_run_as_their_last_call_says()
    {
        // The clock goes by whole milliseconds, and each interval has ticks that no other has: no two are due at once, so the order is
        // known.
        var random = new Random(1);
        var due = new Dictionary<int, (TimeSpan Due, TimeSpan Interval)>();
        TimeSpan now = TimeSpan.Zero;
        for (int round = 0; round < 2_000; round++)
        {
            TimeSpan interval = TimeSpan.FromMilliseconds(random.Next(1, 200)) + TimeSpan.FromTicks(round);
            int some = due.Count == 0 ? 0 : due.Keys.ElementAt(random.Next(due.Count));
            switch (random.Next(4))
            {
                case 0:
                    due.Add(_timers.Add(interval, _ran.Add), (now + interval, interval));
                    break;
                case 1:
                    Assert.Equal(due.Remove(some), _timers.Cancel(some));
                    break;
                case 2 when some != 0:
                    Assert.True(_timers.SetInterval(some, interval));
                    due[some] = (now + interval, interval);
                    break;
                default:
                    Assert.Equal(some != 0, _timers.Reset(some));
                    if (some != 0)
                    {
                        due[some] = due[some] with { Due = now + due[some].Interval };
                    }

                    break;
            }

            now += TimeSpan.FromMilliseconds(random.Next(5));
            _clock.Advance(now - _clock.Elapsed);
            int[] expected = [.. due.Where(timer => timer.Value.Due <= now).OrderBy(static timer => timer.Value.Due)
                .Select(static timer => timer.Key)];
            _ran.Clear();
            Assert.Equal(expected.Length, _timers.Execute());
            Assert.Equal(expected, _ran);
            foreach (int id in expected)
            {
                due[id] = due[id] with { Due = now + due[id].Interval };
            }

            Assert.Equal(due.Count, _timers.Count);
            Assert.Equal(due.Count == 0, _timers.TimeUntilNext is null);
        }
    }

    [Theory]
    [InlineData("reset")]
    [InlineData("change")]
    [InlineData("add and cancel")]
    public void The_cost_of_a_timer_call_does_not_grow_with_the_number_of_timers(string call)
    {
        // 3,000 times as many to look through cost from 100 times on as much; without it little more than the same.
        const int TooMuch = 15;
        const int Calls = 300;
        ZlinkTimers few = WithTimers(10);
        ZlinkTimers many = WithTimers(30_000);
        Growth.AssertBelow(TooMuch, () => TimeOfCalls(few), () => TimeOfCalls(many));

        ZlinkTimers WithTimers(int count)
        {
            var timers = new ZlinkTimers(_clock);
            for (int i = 0; i < count; i++)
            {
                timers.Add(Second, _ran.Add);
            }

            return timers;
        }

        TimeSpan TimeOfCalls(ZlinkTimers timers) => Growth.TimeOf(() =>
        {
            for (int i = 0; i < Calls; i++)
            {
                Call(timers, timers.Count, call);
            }
        });
    }

    [Theory]
    [InlineData("reset")]
    [InlineData("change")]
    [InlineData("add and cancel")]
    public void Calls_without_end_take_no_memory_though_nothing_becomes_due(string call)
    {
        for (int i = 0; i < 10; i++)
        {
            _timers.Add(Second, _ran.Add);
        }

        // An added timer is an object of 56 bytes. A queue that kept what is stale would be made anew, larger, again and again: 60 bytes a
        // call.
        const int Calls = 200_000;
        const int OfOther = 1_000_000;
        int ofOne = string.Equals(call, "add and cancel", StringComparison.Ordinal) ? 80 : 0;
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < Calls; i++)
        {
            Call(_timers, 5, call);
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, OfOther + (Calls * ofOne));
        Assert.Equal(10, _timers.Count);
        Assert.Equal(Second, _timers.TimeUntilNext);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_cancelled_timer_does_not_keep_its_handler_alive(bool isDueFirst)
    {
        for (int i = 0; i < 10; i++)
        {
            _timers.Add(2 * Second, _ran.Add);
        }

        WeakReference held = AddAndCancel(isDueFirst ? Second : 3 * Second);
        GC.Collect();
        Assert.False(held.IsAlive);

        WeakReference AddAndCancel(TimeSpan interval)
        {
            object target = new();
            Assert.True(_timers.Cancel(_timers.Add(interval, id => _ran.Add(id + target.GetHashCode()))));
            return new WeakReference(target);
        }
    }

    private static void Call(ZlinkTimers timers, int id, string call)
    {
        switch (call)
        {
            case "reset":
                Assert.True(timers.Reset(id));
                break;
            case "change":
                Assert.True(timers.SetInterval(id, Second));
                break;
            default:
                Assert.True(timers.Cancel(timers.Add(Second, static _ => { })));
                break;
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
