using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolPolicyTests
{
    private static readonly TimeSpan Idle = TimeSpan.FromSeconds(30);

    [Fact]
    public void A_pool_is_born_with_its_warm_buffers_and_rents_them_without_creating_others()
    {
        using BufferPool pool = TestPools.Create(warm: 3);
        BufferPoolStatistics born = pool.GetStatistics();
        Assert.All(pool.WarmedClasses(), static one => Assert.Equal((3, 3, 0), (one.Kept, one.Allocated, one.Rented)));
        Assert.Equal(3L * TestPools.WarmedSizes.Sum(), born.BytesKept);

        foreach (int size in TestPools.WarmedSizes)
        {
            Assert.Equal(3, pool.RentMany(size, 3).Distinct().Count());
        }

        Assert.Equal(born.Allocated, pool.GetStatistics().Allocated);
        pool.RentArray(128);
        Assert.Equal(born.Allocated + 1, pool.GetStatistics().Allocated);
    }

    [Fact]
    public void Writing_all_over_a_warmed_pool_causes_no_page_faults()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "Counts the thread's page faults from /proc.");
        const int Buffers = 32;
        const int Size = 901_120;
        using var pool = new BufferPool(new BufferPoolOptions
        {
            ClassPolicies = BufferPoolOptions.PerClass(
                static size => new BufferClassPolicy { WarmCount = size == Size ? Buffers : 0, KeepLimit = Buffers }),
        });
        byte[][] rented = pool.RentMany(Size, Buffers);

        long before = PageFaultsOfThisThread();
        foreach (byte[] array in rented)
        {
            array.AsSpan().Fill(1);
        }

        long faults = PageFaultsOfThisThread() - before;
        long pages = (long)Buffers * Size / Environment.SystemPageSize;
        Assert.True(faults < pages / 20, $"{faults} page faults on {pages} pages.");
    }

    [Fact]
    public void All_classes_together_retain_no_more_than_RetainedByteLimit()
    {
        const int Limit = 10_000_000;
        using var pool = new BufferPool(TestPools.Options(retained: Limit));
        int[] sizes = [3_000_000, 900_000, 300_000, 60_000, 1_000];
        for (int round = 0; round < 3; round++)
        {
            byte[][][] rented = [.. sizes.Select(size => pool.RentMany(size, 20))];
            Array.ForEach(rented, pool.ReturnAll);
            Assert.InRange(pool.GetStatistics().BytesKept, Limit / 2, Limit);
        }

        pool.Trim();
        Assert.Equal(0, pool.GetStatistics().BytesKept);
        pool.ReturnAll(pool.RentMany(3_000_000, 5));
        Assert.Equal(3 * pool.ClassOf(3_260_416).Size, pool.GetStatistics().BytesKept);
    }

    [Fact]
    public void Warm_buffers_are_retained_whatever_RetainedByteLimit_is()
    {
        using var pool = new BufferPool(TestPools.Options(warm: 2, retained: 0));
        Assert.Equal(2L * TestPools.WarmedSizes.Sum(), pool.GetStatistics().BytesKept);
        Assert.Throws<ArgumentOutOfRangeException>("RetainedByteLimit", new BufferPoolOptions { RetainedByteLimit = -1 }.Validate);
    }

    [Fact]
    public void RetainedByteLimit_is_an_eighth_of_the_memory_by_default()
    {
        long expected = GC.GetGCMemoryInfo(GCKind.Any).TotalAvailableMemoryBytes / 8;
        Assert.Equal(expected, TestPools.Options().RetainedLimitOrDefault);
        Assert.Equal(expected, TestPools.Options().ForQueuesOf(null).RetainedLimitOrDefault);
        Assert.Equal(expected, TestPools.Options().ForQueuesOf(long.MaxValue).RetainedLimitOrDefault);
    }

    [Theory]
    [InlineData(null, 500)]
    [InlineData(2_000L, 2_000)]
    public void The_pool_of_a_context_retains_half_of_its_QueuedByteLimit_where_RetainedByteLimit_is_not_set(long? own, long expected)
    {
        BufferPoolOptions options = TestPools.Options(retained: own);
        Assert.Equal(expected, options.ForQueuesOf(1_000).RetainedLimitOrDefault);
    }

    [Fact]
    public void No_more_than_the_keep_limit_is_kept()
    {
        using BufferPool pool = TestPools.Create(keep: 10);
        foreach (int size in TestPools.WarmedSizes)
        {
            byte[][] rented = pool.RentMany(size, 13);
            pool.ReturnAll(rented);
            BufferClassStatistics one = pool.ClassOf(size);
            Assert.Equal((10, 3), (one.Kept, one.Rejected));
        }
    }

    [Fact]
    public void A_keep_limit_of_zero_keeps_nothing()
    {
        using BufferPool pool = TestPools.Create(keep: 0);
        pool.ReturnAll(pool.RentMany(128, 5));
        BufferClassStatistics one = pool.ClassOf(128);
        Assert.Equal((0, 5, 5), (one.Kept, one.Allocated, one.Rejected));
    }

    [Fact]
    public void The_keep_limit_counts_the_returns_of_all_threads()
    {
        using BufferPool pool = TestPools.Create(keep: 100);
        byte[][] rented = pool.RentMany(128, 400);
        using var together = new Barrier(4);
        TestPools.OnNewThreads(4, part =>
        {
            together.SignalAndWait(TimeSpan.FromSeconds(30));
            pool.ReturnAll(rented.Skip(part * 100).Take(100));
            together.SignalAndWait(TimeSpan.FromSeconds(30));
            Assert.InRange(pool.ClassOf(128).Kept, 25, 100);
        });
        BufferClassStatistics one = pool.ClassOf(128);
        Assert.Equal(400, one.Kept + one.Rejected);
    }

    [Fact]
    public void A_keep_limit_lower_than_the_number_of_threads_is_used_by_all_of_them()
    {
        using BufferPool pool = TestPools.Create(keep: 8);
        byte[][] rented = pool.RentMany(128, 5);
        using var together = new Barrier(5);
        TestPools.OnNewThreads(5, part =>
        {
            pool.ReturnArray(rented[part]);
            together.SignalAndWait(TimeSpan.FromSeconds(30));
        });

        Assert.Equal((5, 0), (pool.ClassOf(128).Kept, pool.ClassOf(128).Rejected));
    }

    [Fact]
    public void Trim_leaves_the_warm_count_and_lets_the_garbage_collector_have_the_rest()
    {
        using BufferPool pool = TestPools.Create(warm: 2);
        byte[][] rented = pool.RentMany(4_096, 100);
        WeakReference[] all = [.. rented.Select(static array => new WeakReference(array))];
        pool.ReturnAll(rented);
        Array.Clear(rented);
        Assert.Equal(100, pool.ClassOf(4_096).Kept);

        pool.Trim();

        BufferClassStatistics one = pool.ClassOf(4_096);
        Assert.Equal((2, 98), (one.Kept, one.Trimmed));
        Assert.True(TestPools.CollectUntil(() => all.Count(static array => array.IsAlive) == 2));
        long allocated = one.Allocated;
        Assert.Equal(2, pool.RentMany(4_096, 2).Distinct().Count());
        Assert.Equal(allocated, pool.ClassOf(4_096).Allocated);
    }

    [Fact]
    public void Trim_keeps_the_buffers_returned_last()
    {
        using BufferPool pool = TestPools.Create(warm: 1);
        byte[][] rented = pool.RentMany(278_528, 4);
        pool.ReturnAll(rented);
        pool.Trim();
        Assert.Same(rented[3], pool.RentArray(278_528));
    }

    [Fact]
    public void A_buffer_that_is_out_is_not_trimmed_and_is_kept_when_it_returns()
    {
        using BufferPool pool = TestPools.Create();
        byte[] array = pool.RentArray(4_096);
        pool.Trim();
        pool.ReturnArray(array);
        Assert.Same(array, pool.RentArray(4_096));
    }

    [Fact]
    public void A_class_that_idles_shrinks_to_its_warm_count_within_two_spans_and_not_within_one()
    {
        var clock = new ManualTimeProvider();
        using BufferPool pool = TestPools.Create(warm: 1, idle: Idle, time: clock);
        foreach (int size in TestPools.WarmedSizes)
        {
            pool.ReturnAll(pool.RentMany(size, 40));
        }

        clock.Advance(Idle);
        Assert.All(pool.WarmedClasses(), static one => Assert.Equal((40, 0), (one.Kept, one.Trimmed)));
        clock.Advance(Idle);
        Assert.All(pool.WarmedClasses(), static one => Assert.Equal((1, 39), (one.Kept, one.Trimmed)));
    }

    [Fact]
    public void A_class_in_use_keeps_what_it_needs_and_lets_go_of_what_a_past_peak_left()
    {
        var clock = new ManualTimeProvider();
        using BufferPool pool = TestPools.Create(idle: Idle, time: clock);
        pool.ReturnAll(pool.RentMany(278_528, 500));
        for (int period = 0; period < 4; period++)
        {
            clock.Advance(Idle);
            pool.ReturnAll(pool.RentMany(278_528, 20));
        }

        BufferClassStatistics one = pool.ClassOf(278_528);
        Assert.Equal(500, one.Allocated);
        Assert.InRange(one.Kept, 20, 60);
    }

    [Fact]
    public void Buffers_of_a_thread_that_stopped_using_them_are_trimmed_while_it_lives()
    {
        var clock = new ManualTimeProvider();
        using BufferPool pool = TestPools.Create(idle: Idle, time: clock);
        using var used = new SemaphoreSlim(0);
        using var end = new SemaphoreSlim(0);
        var thread = new Thread(() =>
        {
            pool.ReturnAll(pool.RentMany(128, 8));
            used.Release();
            end.Wait(TimeSpan.FromSeconds(30));
            byte[] again = pool.RentArray(128);
            pool.ReturnArray(again);
            used.Release();
        })
        { IsBackground = true };
        thread.Start();
        Assert.True(used.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken));
        Assert.Equal(8, pool.ClassOf(128).Kept);

        clock.Advance(3 * Idle);

        Assert.Equal((0, 8), (pool.ClassOf(128).Kept, pool.ClassOf(128).Trimmed));
        end.Release();
        Assert.True(used.Wait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken));
        Assert.Equal((1, 9), (pool.ClassOf(128).Kept, pool.ClassOf(128).Allocated));
        Assert.True(thread.Join(TimeSpan.FromSeconds(30)));
    }

    [Fact]
    public void Each_class_follows_its_own_span()
    {
        var clock = new ManualTimeProvider();
        using var pool = new BufferPool(new BufferPoolOptions
        {
            TimeProvider = clock,
            ClassPolicies = BufferPoolOptions.PerClass(static size => new BufferClassPolicy
            {
                KeepLimit = 100,
                TrimAfterIdle = size switch { 128 => Idle, 256 => 10 * Idle, _ => Timeout.InfiniteTimeSpan },
            }),
        });
        foreach (int size in new[] { 128, 256, 384 })
        {
            pool.ReturnArray(pool.RentArray(size));
        }

        clock.Advance(3 * Idle);
        Assert.Equal((0, 1, 1), (pool.ClassOf(128).Kept, pool.ClassOf(256).Kept, pool.ClassOf(384).Kept));
        clock.Advance(27 * Idle);
        Assert.Equal((0, 0, 1), (pool.ClassOf(128).Kept, pool.ClassOf(256).Kept, pool.ClassOf(384).Kept));
    }

    [Fact]
    public void A_pool_that_never_trims_sets_no_timer_and_a_disposed_one_leaves_none()
    {
        var clock = new ManualTimeProvider();
        using BufferPool never = TestPools.Create(time: clock);
        Assert.Equal(0, clock.ArmedTimers);
        BufferPool trimming = TestPools.Create(idle: Idle, time: clock);
        Assert.Equal(1, clock.ArmedTimers);
        trimming.Dispose();
        Assert.Equal(0, clock.ArmedTimers);
    }

    // Field 10 of the line, counted behind the parenthesised name, is the minor faults.
    private static long PageFaultsOfThisThread()
    {
        string stat = File.ReadAllText("/proc/thread-self/stat");
        return long.Parse(stat[(stat.LastIndexOf(')') + 2)..].Split(' ')[7], System.Globalization.CultureInfo.InvariantCulture);
    }
}
