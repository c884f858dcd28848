using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolThreadTests
{
    [Theory]
    [InlineData(128)]
    [InlineData(65_536)]
    [InlineData(131_072)]
    [InlineData(278_528)]
    public void Buffers_rented_on_one_thread_and_returned_on_another_go_round_without_new_ones(int size)
    {
        const int Batch = 100;
        int rounds = SlowTests.Rounds(30, all: 200);
        using BufferPool pool = TestPools.Create();
        byte[][] handed = [];
        using var turn = new Barrier(2);
        var consumer = new Thread(() =>
        {
            for (int round = 0; round < rounds; round++)
            {
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
                pool.ReturnAll(handed);
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
            }
        })
        { IsBackground = true };
        consumer.Start();
        long allocatedEarly = 0;
        for (int round = 0; round < rounds; round++)
        {
            handed = pool.RentMany(size, Batch);
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
            allocatedEarly = round == 5 ? pool.ClassOf(size).Allocated : allocatedEarly;
        }

        Assert.True(consumer.Join(TimeSpan.FromSeconds(30)));
        BufferClassStatistics one = pool.ClassOf(size);
        Assert.Equal(allocatedEarly, one.Allocated);
        Assert.InRange(one.Allocated, Batch, Batch + 32);
        Assert.Equal((Batch * rounds, 0, 0), ((int)one.Rented, (int)one.Live, (int)one.Rejected));
    }

    [Fact]
    public void Buffers_that_a_dead_thread_kept_serve_other_threads()
    {
        using BufferPool pool = TestPools.Create();
        TestPools.OnNewThread(() => pool.ReturnAll(pool.RentMany(128, 8)));
        BufferClassStatistics before = pool.ClassOf(128);
        Assert.Equal((8, 8, 8, 8), (before.Rented, before.Returned, before.Allocated, before.Kept));

        // Nothing tells when the runtime gives up a dead thread's statics, so try until a rent finds a buffer that was there before.
        byte[]? found = null;
        Assert.True(TestPools.CollectUntil(() =>
        {
            long allocated = pool.ClassOf(128).Allocated;
            found = pool.RentArray(128);
            return pool.ClassOf(128).Allocated == allocated;
        }));

        BufferClassStatistics after = pool.ClassOf(128);
        Assert.Equal(after.Rented, after.Returned + after.Live);
        Assert.Equal(8, after.Returned);
        Assert.Equal(7, after.Kept);
        Assert.NotNull(found);
    }

    [Fact]
    public void The_counts_of_dead_threads_stay_in_the_statistics()
    {
        using BufferPool pool = TestPools.Create();
        for (int thread = 0; thread < 10; thread++)
        {
            TestPools.OnNewThread(() => pool.ReturnAll(pool.RentMany(128, 8)));
            GC.Collect();
            GC.WaitForPendingFinalizers();
            BufferClassStatistics one = pool.ClassOf(128);
            Assert.Equal((8L * (thread + 1), 8L * (thread + 1)), (one.Rented, one.Returned));
            Assert.Equal(one.Allocated, one.Kept);
        }

        Assert.True(pool.ClassOf(128).Allocated < 80, "No thread found what the threads before it left.");
    }

    [Fact]
    public void A_disposed_pool_leaves_no_buffer_behind_in_a_thread_that_lives_on()
    {
        BufferPool pool = TestPools.Create();
        WeakReference kept = KeepOne(pool);
        Assert.False(TestPools.CollectUntil(() => !kept.IsAlive));
        pool.Dispose();
        Assert.True(TestPools.CollectUntil(() => !kept.IsAlive));
        GC.KeepAlive(pool);
    }

    [Fact]
    public void An_abandoned_pool_is_collected_with_its_buffers_although_its_thread_lives_and_its_timer_ran()
    {
        var clock = new ManualTimeProvider();
        (WeakReference pool, WeakReference kept) = Abandon(clock);
        Assert.Equal(1, clock.ArmedTimers);
        Assert.True(TestPools.CollectUntil(() => !pool.IsAlive && !kept.IsAlive));
        clock.Advance(TimeSpan.FromSeconds(1));
        Assert.Equal(0, clock.ArmedTimers);
    }

    [Fact]
    public void An_abandoned_pool_without_a_timer_is_collected_too()
    {
        (WeakReference pool, WeakReference kept) = Abandon(clock: null);
        Assert.True(TestPools.CollectUntil(() => !pool.IsAlive && !kept.IsAlive));
    }

    [Fact]
    public void A_pool_with_a_buffer_out_takes_it_back_even_if_nobody_else_remembers_the_pool()
    {
        (WeakReference pool, IDisposable owner) = AbandonWithOwner();
        Assert.False(TestPools.CollectUntil(() => !pool.IsAlive));
        owner.Dispose();
        Assert.True(TestPools.CollectUntil(() => !pool.IsAlive));
    }

    [Fact]
    public void A_pool_does_not_hold_on_to_the_async_locals_of_its_maker()
    {
        var clock = TimeProvider.System;
        (BufferPool pool, WeakReference value) = MakeUnderAsyncLocal(clock);
        Assert.True(TestPools.CollectUntil(() => !value.IsAlive));
        pool.Dispose();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static WeakReference KeepOne(BufferPool pool)
    {
        byte[] array = pool.RentArray(128);
        pool.ReturnArray(array);
        return new WeakReference(array);
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference Pool, WeakReference Kept) Abandon(ManualTimeProvider? clock)
    {
        BufferPool pool = clock is null ? TestPools.Create() : TestPools.Create(idle: TimeSpan.FromSeconds(1), time: clock);
        clock?.Advance(TimeSpan.FromSeconds(1));
        return (new WeakReference(pool), KeepOne(pool));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (WeakReference Pool, IDisposable Owner) AbandonWithOwner()
    {
        BufferPool pool = TestPools.Create();
        return (new WeakReference(pool), pool.Rent(128));
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static (BufferPool Pool, WeakReference Value) MakeUnderAsyncLocal(TimeProvider clock)
    {
        (BufferPool Pool, WeakReference Value) made = default;
        TestPools.OnNewThread(() =>
        {
            var local = new AsyncLocal<object> { Value = new object() };
            made = (TestPools.Create(idle: TimeSpan.FromHours(1), time: clock), new WeakReference(local.Value));
        });
        return made;
    }
}
