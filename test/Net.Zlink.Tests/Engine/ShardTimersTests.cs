using Net.Zlink.Engine;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

public sealed class ShardTimersTests
{
    private readonly ManualTimeProvider _time = new();
    private readonly ShardLoop _shard;
    private readonly List<string> _fired = [];

    public ShardTimersTests() => _shard = NewShard(_time);

    [Fact]
    public async Task Timers_fire_on_the_shard_in_the_order_of_their_deadlines()
    {
        await OnShardAsync(_shard, () =>
        {
            foreach (int at in (int[])[50, 10, 40, 20, 30])
            {
                Arm(Timer($"{at}"), at);
            }
        });
        await AdvanceAsync(100);
        Assert.Equal(["10", "20", "30", "40", "50"], _fired);
        Assert.Equal(0, _shard.Timers.Count);
    }

    [Fact]
    public async Task A_timer_never_fires_before_its_time()
    {
        await OnShardAsync(_shard, () => _shard.Timers.Arm(Timer("t"), TimeSpan.FromTicks(15_001))); // 1.5001 ms
        await AdvanceAsync(1);
        Assert.Empty(_fired);
        _time.Advance(TimeSpan.FromTicks(5_000));
        await DrainAsync(_shard);
        Assert.Empty(_fired);
        await AdvanceAsync(1);
        Assert.Equal(["t"], _fired);
    }

    [Fact]
    public async Task An_armed_timer_is_moved_earlier_and_later()
    {
        ShardTimer earlier = Timer("earlier");
        ShardTimer later = Timer("later");
        await OnShardAsync(_shard, () =>
        {
            Arm(earlier, 100);
            Arm(later, 10);
            Arm(earlier, 20);
            Arm(later, 200);
        });
        Assert.Equal(2, _shard.Timers.Count);
        await AdvanceAsync(20);
        Assert.Equal(["earlier"], _fired);
        await AdvanceAsync(179);
        Assert.Equal(["earlier"], _fired);
        await AdvanceAsync(1);
        Assert.Equal(["earlier", "later"], _fired);
    }

    [Fact]
    public async Task A_cancelled_timer_does_not_fire_and_cancelling_again_is_harmless()
    {
        ShardTimer timer = Timer("cancelled");
        await OnShardAsync(_shard, () =>
        {
            Arm(timer, 10);
            Arm(Timer("other"), 10);
            _shard.Timers.Cancel(timer);
            _shard.Timers.Cancel(timer);
            _shard.Timers.Cancel(null);
            Assert.False(timer.IsArmed);
        });
        await AdvanceAsync(10);
        Assert.Equal(["other"], _fired);
    }

    [Fact]
    public async Task A_callback_may_cancel_another_timer_that_is_due_and_arm_itself_again()
    {
        ShardTimer victim = Timer("victim");
        ShardTimer self = null!;
        self = new ShardTimer(
            _ =>
            {
                _fired.Add("self");
                _shard.Timers.Cancel(victim);
                if (_fired.Count < 3)
                {
                    Arm(self, 10);
                }
            },
            this);
        await OnShardAsync(_shard, () =>
        {
            Arm(self, 5);
            Arm(victim, 6);
        });

        // Both are due in one run: the clock passes both deadlines before the shard gets to look.
        Hold(_shard, () => _time.Advance(TimeSpan.FromMilliseconds(7)));
        await DrainAsync(_shard);
        Assert.Equal(["self"], _fired);
        await AdvanceAsync(10);
        await AdvanceAsync(10);
        await AdvanceAsync(100);
        Assert.Equal(["self", "self", "self"], _fired);
    }

    [Fact]
    public async Task A_callback_that_throws_does_not_keep_the_other_due_timers_from_firing()
    {
        await OnShardAsync(_shard, () =>
        {
            Arm(Timer("first"), 1);
            Arm(new ShardTimer(_ => throw new FormatException(), this), 2);
            Arm(Timer("last"), 3);
        });
        Hold(_shard, () => _time.Advance(TimeSpan.FromMilliseconds(5)));
        await AdvanceAsync(1);
        await AdvanceAsync(1);
        Assert.Equal(["first", "last"], _fired);
        Assert.Equal(1, _shard.Counters.Faults);
    }

    [Fact]
    public async Task Other_work_of_the_shard_is_done_between_timers_that_are_all_due_at_once()
    {
        const int Timers = 1_000;
        int firedBefore = -1;
        await OnShardAsync(_shard, () =>
        {
            _shard.Timers.Arm(new ShardTimer(_ => _shard.Post(new TestWork(_ => firedBefore = _fired.Count), 1), this),
                TimeSpan.FromMilliseconds(1));
            for (int i = 0; i < Timers; i++)
            {
                Arm(Timer($"{i}"), 2 + i);
            }
        });
        await AdvanceAsync(60_000);
        Assert.InRange(firedBefore, 0, Timers / 10);
        Assert.Equal(string.Join(' ', Enumerable.Range(0, Timers)), string.Join(' ', _fired));
    }

    [Fact]
    public async Task A_delay_of_centuries_is_far_away_and_not_in_the_past()
    {
        await OnShardAsync(_shard, () =>
        {
            _shard.Timers.Arm(Timer("max"), TimeSpan.MaxValue);
            _shard.Timers.Arm(Timer("month"), TimeSpan.FromDays(40));
        });
        await AdvanceAsync(0);
        Assert.Empty(_fired);

        // Longer than a system timer takes at once (24.8 days): set again on the way.
        _time.Advance(TimeSpan.FromDays(30));
        await DrainAsync(_shard);
        Assert.Empty(_fired);
        _time.Advance(TimeSpan.FromDays(10));
        await DrainAsync(_shard);
        Assert.Equal(["month"], _fired);
    }

    [Fact]
    public async Task Ten_thousand_timers_moved_and_cancelled_at_random_fire_in_order_behind_one_clock_timer()
    {
        var random = new Random(20_260_301);
        List<(long At, int Number)> fired = [];
        var due = new Dictionary<int, long>();
        await OnShardAsync(_shard, () =>
        {
            ShardTimer[] timers = [.. Enumerable.Range(0, 10_000)
                .Select(n => new ShardTimer(_ => fired.Add((_time.Elapsed.Ticks, n)), this))];
            for (int step = 0; step < 30_000; step++)
            {
                int n = random.Next(timers.Length);
                if (random.Next(4) == 0)
                {
                    _shard.Timers.Cancel(timers[n]);
                    due.Remove(n);
                }
                else
                {
                    int at = random.Next(1, 1_000);
                    Arm(timers[n], at);
                    due[n] = TimeSpan.FromMilliseconds(at).Ticks;
                }
            }

            Assert.Equal(due.Count, _shard.Timers.Count);
        });
        Assert.Equal(1, _time.ArmedTimers);

        for (int ms = 0; ms < 1_000; ms += 100)
        {
            await AdvanceAsync(100);
            Assert.Equal(due.Count(pair => pair.Value <= _time.Elapsed.Ticks), fired.Count);
        }

        Assert.Equal(fired.Select(f => due[f.Number]).Order(), fired.Select(f => due[f.Number]));
        Assert.All(fired, f => Assert.True(f.At >= due[f.Number]));
        Assert.Equal(due.Keys.Order(), fired.Select(f => f.Number).Order());
    }

    [Fact]
    public async Task Nothing_is_armed_on_the_clock_after_disposal()
    {
        await OnShardAsync(_shard, () => Arm(Timer("t"), 10));
        _shard.Timers.Dispose();
        Assert.Equal(0, _time.ArmedTimers);
    }

    [Fact]
    public void A_shard_may_be_made_where_the_flow_of_the_execution_context_is_suppressed()
    {
        using (ExecutionContext.SuppressFlow())
        {
            NewShard(_time);
            Assert.True(ExecutionContext.IsFlowSuppressed());
        }

        Assert.False(ExecutionContext.IsFlowSuppressed());
    }

    private ShardTimer Timer(string name) => new(_ => _fired.Add(name), this);

    private void Arm(ShardTimer timer, int milliseconds) => _shard.Timers.Arm(timer, TimeSpan.FromMilliseconds(milliseconds));

    private async Task UntilIdleAsync()
    {
        do
        {
            await DrainAsync(_shard);
        }
        while (_shard.IsBusy); // Many that are due at once take several runs.
    }

    private async Task AdvanceAsync(int milliseconds)
    {
        // A tick posts to the shard; what fires there may set the clock again for this very moment.
        _time.Advance(TimeSpan.FromMilliseconds(milliseconds));
        await UntilIdleAsync();
        _time.Advance(TimeSpan.Zero);
        await UntilIdleAsync();
    }
}
