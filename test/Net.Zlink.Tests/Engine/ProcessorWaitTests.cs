using System.Diagnostics;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A machine without processor time is not reported as a handler that blocks.</summary>
public sealed class ProcessorWaitTests
{
    [Fact]
    public void A_long_run_is_not_reported_when_its_thread_had_no_processor_for_that_time()
    {
        ShardLoop shard = NewShard(out RecordingObserver observer);
        using var waits = new ProcessorWaitFixture(static () => Stopwatch.GetElapsedTime(0));
        shard.RunOrPost(new TestWork(static _ => Spin(TimeSpan.FromMilliseconds(60))) { Name = "a slow one" }, 1);
        Assert.DoesNotContain(observer.SlowRuns, static run => run.Work is "a slow one");
    }

    [Fact]
    public void The_wait_counts_from_the_last_sample_before_the_moment()
    {
        TimeSpan total = TimeSpan.FromSeconds(7);
        using var waits = new ProcessorWaitFixture(() => total);
        long second = Stopwatch.Frequency;
        ProcessorWait wait = ProcessorWait.Begin(100 * second)!;
        total = TimeSpan.FromSeconds(9);
        Assert.Same(wait, ProcessorWait.Begin(101 * second));
        total = TimeSpan.FromSeconds(12);
        Assert.Equal(TimeSpan.FromSeconds(3), wait.Since(102 * second));
        Assert.Equal(TimeSpan.FromSeconds(5), wait.Since(101 * second - 1));
        Assert.Equal(TimeSpan.FromSeconds(5), wait.Since(99 * second)); // Two samples are kept.
    }

    [Fact]
    public void A_turn_takes_no_sample_within_200_ms_of_the_last_one()
    {
        int reads = 0;
        using var waits = new ProcessorWaitFixture(() =>
        {
            reads++;
            return TimeSpan.Zero;
        });
        for (int i = 0; i < 1_000; i++)
        {
            ProcessorWait.Begin(Stopwatch.Frequency + i);
        }

        Assert.Equal(1, reads);
    }

    [Fact]
    public void The_system_counts_the_waits_of_a_thread()
    {
        Assert.SkipUnless(File.Exists("/proc/thread-self/schedstat"), "Linux only");
        using var own = new ProcessorWaitFixture(null);
        using var never = new ManualResetEventSlim();
        TimeSpan before = ProcessorWait.Begin(Stopwatch.GetTimestamp())!.Total;
        long deadline = Stopwatch.GetTimestamp() + (10 * Stopwatch.Frequency);
        while (ProcessorWait.OfThread!.Total == before && Stopwatch.GetTimestamp() < deadline)
        {
            never.Wait(TimeSpan.FromMilliseconds(1), TestContext.Current.CancellationToken); // Who wakes waits for a processor, too.
        }

        long allocated = GC.GetAllocatedBytesForCurrentThread();
        Assert.Same(ProcessorWait.OfThread, ProcessorWait.Begin(Stopwatch.GetTimestamp() + Stopwatch.Frequency)); // Takes a sample.
        Assert.Equal(allocated, GC.GetAllocatedBytesForCurrentThread());
        Assert.InRange(ProcessorWait.OfThread.Total - before, TimeSpan.FromTicks(1), TimeSpan.FromSeconds(10));
    }
}

/// <summary>What the system counts for the thread of a test.</summary>
internal sealed class ProcessorWaitFixture : IDisposable
{
    public ProcessorWaitFixture(Func<TimeSpan>? total) => ProcessorWait.OfThread = total is null ? null : new ProcessorWait(total);

    public void Dispose() => ProcessorWait.OfThread = null;
}
