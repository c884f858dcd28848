using System.Diagnostics;
using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>How long shards wait for the thread pool: what they count of it tells of now, not only of the worst time ever.</summary>
public sealed class ShardDelayTests
{
    // As the log line of a late turn.
    private static readonly long Late = Stopwatch.Frequency / 5;

    private static readonly long Millisecond = Stopwatch.Frequency / 1000;
    private static readonly long Hour = Stopwatch.Frequency * 3600;

    [Fact]
    public void A_turn_that_the_pool_began_adds_its_delay_and_one_above_200_ms_is_late()
    {
        ShardLoop shard = NewShard();
        ShardCounters counters = shard.Counters;
        long delay = RunFromPool(shard, 25 * Late);
        Assert.Equal((1L, 1L), (counters.RunsFromPool, counters.LateRuns));
        Assert.InRange(counters.DelayTicks, 25 * Late, delay);
        Assert.Equal(counters.DelayTicks, counters.LongestDelayTicks);
    }

    [Fact]
    public void After_one_hiccup_what_is_added_since_then_is_small_again_though_the_maximum_stays()
    {
        const int Turns = 10;
        ShardLoop shard = NewShard();
        ShardCounters counters = shard.Counters;
        RunFromPool(shard, Hour);
        (long runs, long before) = (counters.RunsFromPool, counters.DelayTicks);
        long sum = 0;
        int late = 1;
        for (int i = 0; i < Turns; i++)
        {
            long delay = RunFromPool(shard, Millisecond);
            sum += delay;
            late += delay > Late ? 1 : 0; // A busy test machine may make it late.
        }

        Assert.Equal(Turns, counters.RunsFromPool - runs);
        Assert.InRange(counters.LateRuns, 1, late);
        Assert.InRange(counters.DelayTicks - before, Turns * Millisecond, sum);
        Assert.InRange(counters.LongestDelayTicks, Hour, 2 * Hour);
    }

    [Fact]
    public void A_late_turn_is_reported_unless_its_thread_had_no_processor_meanwhile()
    {
        ShardLoop shard = NewShard(out RecordingObserver observer);
        using (new ProcessorWaitFixture(static () => Stopwatch.GetElapsedTime(0)))
        {
            RunFromPool(shard, 25 * Late);
            Assert.Empty(observer.LateRuns);
        }

        using (new ProcessorWaitFixture(static () => TimeSpan.Zero))
        {
            RunFromPool(shard, 25 * Late);
            Assert.Single(observer.LateRuns);
        }

        Assert.Equal(2, shard.Counters.LateRuns); // Counters have all of them.
    }

    /// <summary>Plays the pool: runs a turn that was asked for so many ticks ago. Returns what its delay was at most.</summary>
    private static long RunFromPool(ShardLoop shard, long ticks)
    {
        const int Scheduled = 1;
        StateOf(shard) = Scheduled;
        long asked = Stopwatch.GetTimestamp() - ticks;
        ScheduledAtOf(shard) = asked;
        ((IThreadPoolWorkItem)shard).Execute();
        return Stopwatch.GetTimestamp() - asked;
    }

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_state")]
    private static extern ref int StateOf(ShardLoop shard);

    [UnsafeAccessor(UnsafeAccessorKind.Field, Name = "_scheduledAt")]
    private static extern ref long ScheduledAtOf(ShardLoop shard);
}
