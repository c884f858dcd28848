using Net.Zlink.Engine;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>What is posted runs, once, in order, and one at a time.</summary>
public sealed class ShardLoopTests
{
    [Fact]
    public async Task Works_posted_by_many_threads_all_run_and_never_two_at_once()
    {
        const int Threads = 4;
        const int PerThread = 5_000;
        ShardLoop shard = NewShard();
        int running = 0;
        int ran = 0;
        int overlaps = 0;
        void Body(int reasons)
        {
            overlaps += Interlocked.Increment(ref running) == 1 ? 0 : 1;
            ran++; // Unguarded on purpose: a lost increment is an overlap too.
            Interlocked.Decrement(ref running);
        }

        InParallel([.. Enumerable.Repeat<Action>(
            () =>
            {
                for (int i = 0; i < PerThread; i++)
                {
                    var work = new TestWork(Body);
                    switch (i % 3)
                    {
                        case 0: shard.Post(work, 1); break;
                        case 1: shard.PostUrgent(work, 1); break;
                        default: shard.RunOrPost(work, 1); break;
                    }
                }
            },
            Threads)]);
        await DrainAsync(shard);

        Assert.Equal(Threads * PerThread, ran);
        Assert.Equal(0, overlaps);
    }

    [Fact]
    public async Task No_reason_is_lost_however_often_one_work_is_posted()
    {
        // Each thread raises its own ticket and then posts its own bit: once all is quiet the work must have seen the last ticket of each.
        const int Threads = 4;
        ShardLoop shard = NewShard();
        var tickets = new int[Threads];
        var seen = new int[Threads];
        var work = new TestWork(reasons =>
        {
            Assert.NotEqual(0, reasons);
            for (int t = 0; t < Threads; t++)
            {
                if ((reasons & (1 << t)) != 0)
                {
                    seen[t] = Volatile.Read(ref tickets[t]);
                }
            }
        });
        InParallel([.. Enumerable.Range(0, Threads).Select<int, Action>(t => () =>
        {
            for (int i = 1; i <= 20_000; i++)
            {
                Volatile.Write(ref tickets[t], i);
                shard.Post(work, 1 << t);
            }
        })]);
        await DrainAsync(shard);

        Assert.Equal(tickets, seen);
    }

    [Fact]
    public async Task A_work_posted_several_times_before_it_runs_runs_once_with_all_reasons()
    {
        ShardLoop shard = NewShard();
        List<int> runs = [];
        var work = new TestWork(runs.Add);
        Hold(shard, () =>
        {
            shard.Post(work, 1);
            shard.Post(work, 4);
            shard.Post(work, 4);
            Assert.Empty(runs);
        });
        await DrainAsync(shard);

        Assert.Equal([5], runs);
    }

    [Fact]
    public async Task A_work_posted_while_it_runs_runs_again()
    {
        ShardLoop shard = NewShard();
        List<int> runs = [];
        TestWork work = null!;
        work = new TestWork(reasons =>
        {
            runs.Add(reasons);
            if (reasons < 8)
            {
                shard.Post(work, reasons * 2);
            }
        });
        shard.RunOrPost(work, 1);
        for (int hop = 0; hop < 4; hop++)
        {
            await DrainAsync(shard); // Each repost goes behind the barrier before it.
        }

        Assert.Equal([1, 2, 4, 8], runs);
    }

    [Fact]
    public async Task Works_run_in_the_order_of_their_posts()
    {
        ShardLoop shard = NewShard();
        List<int> order = [];
        Hold(shard, () =>
        {
            for (int i = 0; i < 100; i++)
            {
                int number = i;
                shard.Post(new TestWork(_ => order.Add(number)), 1);
            }
        });
        await DrainAsync(shard);

        Assert.Equal(Enumerable.Range(0, 100), order);
    }

    [Fact]
    public async Task A_completion_runs_at_once_on_an_idle_shard_and_is_queued_on_a_busy_one()
    {
        ShardLoop shard = NewShard();
        int thread = 0;
        shard.RunOrPost(new TestWork(_ => thread = Environment.CurrentManagedThreadId), 1);
        Assert.Equal(Environment.CurrentManagedThreadId, thread);
        Assert.Equal(1, shard.Counters.RunsInPlace);

        bool inner = false;
        Hold(shard, () =>
        {
            shard.RunOrPost(new TestWork(_ => inner = true), 1);
            Assert.False(inner);
        });
        await DrainAsync(shard);
        Assert.True(inner);
    }

    [Fact]
    public async Task A_post_never_runs_on_the_stack_of_its_caller()
    {
        ShardLoop shard = NewShard();
        var ran = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        bool posting = true;
        using (var posted = new ManualResetEventSlim())
        {
            // The work waits until the post has returned: on the poster's own stack that could never be.
            shard.Post(new TestWork(_ => ran.SetResult(posted.Wait(Patience) && !Volatile.Read(ref posting))), 1);
            Volatile.Write(ref posting, false);
            posted.Set();
            Assert.True(await ran.Task.WaitAsync(Patience, TestContext.Current.CancellationToken));
        }
    }

    [Fact]
    public async Task An_exception_reaches_only_the_work_that_threw_and_the_shard_goes_on()
    {
        ShardLoop shard = NewShard();
        List<string> events = [];
        Hold(shard, () =>
        {
            shard.Post(new TestWork(_ => events.Add("a")) { Fault = _ => events.Add("fault of a") }, 1);
            shard.Post(new TestWork(_ => throw new FormatException("b")) { Fault = e => events.Add($"fault of {e.Message}") }, 1);
            shard.Post(new TestWork(_ => events.Add("c")) { Fault = _ => events.Add("fault of c") }, 1);
        });
        await DrainAsync(shard);

        Assert.Equal(["a", "fault of b", "c"], events);
        Assert.Equal(1, shard.Counters.Faults);
    }

    [Fact]
    public async Task A_fault_handler_or_an_observer_that_throws_does_not_stop_the_shard()
    {
        ShardLoop shard = NewShard(out RecordingObserver observer);
        observer.ToThrow = new InvalidOperationException("a logger that throws");
        bool ran = false;
        shard.RunOrPost(new TestWork(_ => throw new FormatException()) { Fault = _ => throw new FormatException() }, 1);
        using (new ProcessorWaitFixture(static () => TimeSpan.Zero))
        {
            shard.RunOrPost(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(60))), 1);
        }

        await OnShardAsync(shard, () => ran = true);

        Assert.True(ran);
        Assert.Null(ShardLoop.Current);
        Assert.Equal(3, shard.Counters.Faults);
    }

    [Fact]
    public async Task The_queue_depth_counts_what_waits_also_what_the_runner_has_taken()
    {
        ShardLoop shard = NewShard();
        List<int> depths = [];
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        void Note(int reasons)
        {
            depths.Add(shard.QueueDepth);
            if (depths.Count == 6)
            {
                all.SetResult();
            }
        }

        Hold(shard, () =>
        {
            Assert.Equal(0, shard.QueueDepth);
            for (int i = 0; i < 6; i++)
            {
                (i % 2 == 0 ? (Action<ShardWork, int>)shard.Post : shard.PostUrgent)(new TestWork(Note), 1);
            }

            Assert.Equal(6, shard.QueueDepth);
            Assert.True(shard.IsBusy);
        });
        await all.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);

        Assert.Equal([5, 4, 3, 2, 1, 0], depths);
    }

    [Fact]
    public async Task The_current_shard_is_known_only_to_the_thread_that_runs_it()
    {
        await Task.Yield(); // The test before this one may have ended, and so begun this one, on the stack of a shard of its own.
        ShardLoop outer = NewShard();
        ShardLoop inner = NewShard();
        List<ShardLoop?> seen = [];
        Assert.Null(ShardLoop.Current);
        Hold(outer, () =>
        {
            seen.Add(ShardLoop.Current);
            inner.RunOrPost(new TestWork(_ => seen.Add(ShardLoop.Current)), 1);
            seen.Add(ShardLoop.Current);
        });
        await DrainAsync(outer);
        Assert.Equal([outer, inner, outer], seen);
        Assert.Null(ShardLoop.Current);
    }

    [Fact]
    public void Posting_allocates_nothing()
    {
        ShardLoop shard = NewShard();
        var work = new TestWork(static _ => { });
        long inside = -1;
        Hold(shard, () =>
        {
            shard.Post(work, 1);
            shard.PostUrgent(work, 1);
            inside = Allocations.Of(() => shard.Post(work, 2));
        });
        long outside = Allocations.Of(() => shard.RunOrPost(work, 1));
        Assert.Equal((0, 0), (inside, outside));
    }
}
