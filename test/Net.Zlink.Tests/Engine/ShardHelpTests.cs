using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Senders' threads that write out for a shard.</summary>
public sealed class ShardHelpTests
{
    [Fact]
    public async Task A_sender_that_helps_runs_urgent_works_and_no_others_on_its_own_thread()
    {
        ShardLoop shard = NewShard();
        int here = Environment.CurrentManagedThreadId;
        int helped = 0;
        bool helping = false;
        bool normalInHelp = false;

        // The pool may be quicker now and then; within so many rounds the helping thread is first.
        for (int round = 0; round < 10_000 && helped == 0; round++)
        {
            shard.Post(new TestWork(_ => normalInHelp |= helping && Environment.CurrentManagedThreadId == here), 1);
            shard.PostUrgent(new TestWork(_ => helped += shard.IsHelped && Environment.CurrentManagedThreadId == here
                && ReferenceEquals(ShardLoop.Current, shard) ? 1 : 0), 1);
            helping = true;
            shard.Help();
            helping = false;
            Assert.Null(ShardLoop.Current);
            Hold(shard, () => Assert.False(shard.IsHelped));
        }

        await DrainAsync(shard);
        Assert.NotEqual(0, helped);
        Assert.InRange(shard.Counters.Helps, 1, long.MaxValue);
        Assert.False(normalInHelp);
    }

    [Fact]
    public async Task A_sender_under_a_lock_helps_nobody()
    {
        (ShardLoop earlier, ShardLoop later) = (NewShard(), NewShard());
        int here = Environment.CurrentManagedThreadId;
        int ranHere = 0;
        CallerFlush.Run(); // From here on this thread receives, too.

        // What a flush makes room for takes another socket's lock. As above the pool is quicker now and then; of so many rounds the first
        // shows it.
        for (int round = 0; round < 1_000; round++)
        {
            earlier.PostUrgent(new TestWork(_ => ranHere += Environment.CurrentManagedThreadId == here ? 1 : 0), 1);
            CallerFlush.Record(earlier);
            DeferredDisposal.Defer();
            CallerFlush.Record(later);
            DeferredDisposal.DisposeDeferred();
        }

        Assert.Equal(0, ranHere);
        await DrainAsync(earlier);
        await DrainAsync(later);
    }

    [Fact]
    public async Task Helping_threads_completions_and_the_pool_together_lose_no_work_and_never_overlap()
    {
        const int PerThread = 4_000;
        ShardLoop shard = NewShard();
        int running = 0;
        int ran = 0;
        int overlaps = 0;
        void Body(int reasons)
        {
            overlaps += Interlocked.Increment(ref running) == 1 ? 0 : 1;
            ran++;
            Interlocked.Decrement(ref running);
        }

        void Send()
        {
            for (int i = 0; i < PerThread; i++)
            {
                shard.PostUrgent(new TestWork(Body), 1);
                if (i % 5 == 0)
                {
                    shard.Help();
                }
            }
        }

        void Complete()
        {
            for (int i = 0; i < PerThread; i++)
            {
                shard.RunOrPost(new TestWork(Body), 1);
            }
        }

        void Post()
        {
            for (int i = 0; i < PerThread; i++)
            {
                shard.Post(new TestWork(Body), 1);
            }
        }

        InParallel(Send, Send, Complete, Post);
        await DrainAsync(shard);
        await DrainAsync(shard);
        Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref ran) == 4 * PerThread, Patience),
            $"{4 * PerThread - ran} works did not run.");
        Assert.Equal(0, overlaps);
    }

    [Fact]
    public async Task Work_that_an_application_thread_runs_counts_as_the_shards_busy_time()
    {
        ShardLoop shard = NewShard();
        await DrainAsync(shard);
        long busy = shard.Counters.BusyTicks;
        long turns = shard.Counters.Turns;
        long worked = 0;
        var work = new TestWork(_ =>
        {
            long start = Stopwatch.GetTimestamp();
            while (worked < Stopwatch.Frequency / 1000)
            {
                worked = Stopwatch.GetTimestamp() - start;
            }
        });
        Assert.True(shard.TryRunNow(work, 1));
        Assert.Equal(turns + 1, shard.Counters.Turns);
        Assert.InRange(shard.Counters.BusyTicks - busy, worked, long.MaxValue);
    }

    [Fact]
    public async Task A_help_that_leaves_work_behind_hands_it_to_the_pool()
    {
        ShardLoop shard = NewShard();
        int urgent = 0;
        Hold(shard, () =>
        {
            for (int i = 0; i < 500; i++)
            {
                shard.PostUrgent(new TestWork(_ => Interlocked.Increment(ref urgent)), 1);
            }
        });
        shard.Help();
        Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref urgent) == 500, Patience));
        await DrainAsync(shard);
        Assert.Equal(0, shard.QueueDepth);
    }
}
