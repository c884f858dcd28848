using System.Buffers;
using System.Collections.Concurrent;
using System.IO.Pipelines;
using Net.Zlink.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Engine;

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
    public async Task A_turn_is_bounded_and_the_rest_goes_on_from_the_pool()
    {
        const int Works = 1_000;
        ShardLoop shard = NewShard();
        int ran = 0;
        Hold(shard, () =>
        {
            for (int i = 0; i < Works; i++)
            {
                shard.Post(new TestWork(_ => Interlocked.Increment(ref ran)), 1);
            }
        });
        await DrainAsync(shard);

        Assert.Equal(Works, ran);
        Assert.InRange(shard.Counters.LargestTurnWorks, 1, 256);
        Assert.InRange(shard.Counters.RunsFromPool, Works / 256, long.MaxValue);
    }

    [Fact]
    public async Task A_long_work_ends_the_turn()
    {
        ShardLoop shard = NewShard();
        var second = new TaskCompletionSource<long>(TaskCreationOptions.RunContinuationsAsynchronously);
        Hold(shard, () =>
        {
            shard.Post(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(5))), 1);
            shard.Post(new TestWork(_ => second.SetResult(shard.Counters.RunsFromPool)), 1);
        });

        Assert.InRange(await second.Task.WaitAsync(Patience, TestContext.Current.CancellationToken), 1, 2);
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
        shard.RunOrPost(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(60))), 1);
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
    public async Task A_run_over_50_ms_is_reported_by_name()
    {
        ShardLoop shard = NewShard(out RecordingObserver observer);
        shard.RunOrPost(new TestWork(_ => Spin(TimeSpan.FromMilliseconds(60))) { Name = "the slow one" }, 1);
        await DrainAsync(shard);

        (_, TimeSpan elapsed) = Assert.Single(observer.SlowRuns, static run => string.Equals(run.Work, "the slow one", StringComparison.Ordinal));
        Assert.InRange(elapsed, TimeSpan.FromMilliseconds(60), Patience);
    }

    [Fact]
    public async Task Urgent_works_go_first_but_cannot_keep_the_others_out()
    {
        ShardLoop shard = NewShard();
        List<string> ran = [];
        var all = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        void Note(string kind)
        {
            ran.Add(kind);
            if (ran.Count == 201)
            {
                all.SetResult();
            }
        }

        Hold(shard, () =>
        {
            shard.Post(new TestWork(_ => Note("normal")), 1);
            for (int i = 0; i < 200; i++)
            {
                shard.PostUrgent(new TestWork(_ => Note("urgent")), 1);
            }
        });
        await all.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);

        Assert.Equal("urgent", ran[0]);
        Assert.Contains("normal", ran[..65], StringComparer.Ordinal);
    }

    [Fact]
    public async Task A_work_that_reposts_itself_urgently_for_ever_does_not_starve_a_normal_one()
    {
        ShardLoop shard = NewShard();
        bool stop = false;
        TestWork greedy = null!;
        greedy = new TestWork(_ =>
        {
            if (!Volatile.Read(ref stop))
            {
                shard.PostUrgent(greedy, 1);
            }
        });
        shard.PostUrgent(greedy, 1);
        await OnShardAsync(shard, () => Volatile.Write(ref stop, true));
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
    public async Task Busy_time_of_a_shard_is_counted_once()
    {
        // Two threads drive the shard through many short idle moments; the sum of its turns can't pass the time that went by.
        ShardLoop shard = NewShard();
        long start = System.Diagnostics.Stopwatch.GetTimestamp();
        void Drive()
        {
            for (int i = 0; i < 20_000; i++)
            {
                shard.RunOrPost(new TestWork(static _ => { }), 1);
            }
        }

        InParallel(Drive, Drive);
        await DrainAsync(shard);
        long elapsed = System.Diagnostics.Stopwatch.GetTimestamp() - start;

        Assert.InRange(shard.Counters.BusyTicks, 1, elapsed);
    }

    [Fact]
    public async Task A_pipe_scheduled_on_a_shard_continues_there_in_order()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        ShardLoop shard = NewShard();
        var pipe = new Pipe(new PipeOptions(readerScheduler: shard, writerScheduler: PipeScheduler.ThreadPool, useSynchronizationContext: false));
        byte[] sent = Pattern(200_000, 3);
        var received = new List<byte>();
        int elsewhere = 0;
        async Task ReadAsync()
        {
            while (true)
            {
                ValueTask<ReadResult> next = pipe.Reader.ReadAsync(cancellation);
                bool waits = !next.IsCompleted;
                ReadResult result = await next.ConfigureAwait(false);
                elsewhere += waits && !ReferenceEquals(ShardLoop.Current, shard) ? 1 : 0;
                received.AddRange(result.Buffer.ToArray());
                pipe.Reader.AdvanceTo(result.Buffer.End);
                if (result.IsCompleted)
                {
                    return;
                }
            }
        }

        Task reading = ReadAsync();
        for (int at = 0; at < sent.Length; at += 1_000)
        {
            await pipe.Writer.WriteAsync(sent.AsMemory(at, 1_000), cancellation);
        }

        await pipe.Writer.CompleteAsync();
        await reading.WaitAsync(Patience, cancellation);
        Assert.Equal(sent, received);
        Assert.InRange(elsewhere, 0, 2); // A read that completes between IsCompleted and the await goes on where it is.
        Assert.InRange(shard.Counters.Works, 1, long.MaxValue);
    }

    [Fact]
    public async Task Scheduled_callbacks_each_run_once_with_their_own_state()
    {
        ShardLoop shard = NewShard();
        var seen = new ConcurrentBag<object>();
        object[] states = [.. Enumerable.Range(0, 4_000).Cast<object>()];
        InParallel([.. Enumerable.Range(0, 4).Select<int, Action>(t => () =>
        {
            for (int i = t; i < states.Length; i += 4)
            {
                shard.Schedule(state => seen.Add(state!), states[i]);
            }
        })]);
        await DrainAsync(shard);
        Assert.Equal(states.OrderBy(s => (int)s), seen.OrderBy(s => (int)s));
    }

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
            shard.PostUrgent(new TestWork(_ => helped += shard.IsHelped && Environment.CurrentManagedThreadId == here && ReferenceEquals(ShardLoop.Current, shard) ? 1 : 0), 1);
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
        Assert.True(SpinWait.SpinUntil(() => Volatile.Read(ref ran) == 4 * PerThread, Patience), $"{4 * PerThread - ran} works did not run.");
        Assert.Equal(0, overlaps);
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

    [Fact]
    public void Posting_allocates_nothing()
    {
        ShardLoop shard = NewShard();
        var work = new TestWork(static _ => { });
        long allocated = 0;
        Hold(shard, () =>
        {
            shard.Post(work, 1);
            shard.PostUrgent(work, 1);
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int i = 0; i < 1_000; i++)
            {
                shard.Post(work, 2);
            }

            allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        });
        long outside = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 1_000; i++)
        {
            shard.RunOrPost(work, 1);
        }

        allocated += GC.GetAllocatedBytesForCurrentThread() - outside;
        Assert.Equal(0, allocated);
    }
}
