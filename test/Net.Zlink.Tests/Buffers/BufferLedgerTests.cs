using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferLedgerTests
{
    public static TheoryData<int> SizesOfEveryKind => [128, 65_536, 81_920, 901_120, 9_000_000];

    [Theory]
    [MemberData(nameof(SizesOfEveryKind))]
    public void A_buffer_returned_twice_is_reported_with_both_culprits(int size)
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        byte[] array = RentForTheTest(pool, size);
        ReturnForTheTest(pool, array);

        InvalidOperationException error = Assert.Throws<InvalidOperationException>(() => pool.ReturnArray(array));

        Assert.Contains($"{array.Length} bytes was returned twice", error.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(RentForTheTest), error.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ReturnForTheTest), error.Message, StringComparison.Ordinal);
        Assert.Equal(0, pool.GetStatistics().Live);
    }

    [Fact]
    public void A_buffer_of_another_pool_is_refused()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        using BufferPool other = TestPools.Create(leakCheck: true);
        byte[] array = other.RentArray(128);
        InvalidOperationException error = Assert.Throws<InvalidOperationException>(() => pool.ReturnArray(array));
        Assert.Contains("had not rented it out", error.Message, StringComparison.Ordinal);
        other.ReturnArray(array);
    }

    [Theory]
    [InlineData(128, 0)]
    [InlineData(128, 127)]
    [InlineData(901_120, 500_000)]
    public void A_write_after_the_return_is_reported_at_the_next_rent_with_the_culprit_and_the_place(int size, int place)
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        byte[] array = RentForTheTest(pool, size);
        ReturnForTheTest(pool, array);
        array[place] ^= 1;

        InvalidOperationException error = Assert.Throws<InvalidOperationException>(() => pool.RentArray(size));

        Assert.Contains($"written to after it was returned (first changed byte: {place})", error.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(RentForTheTest), error.Message, StringComparison.Ordinal);
        Assert.Contains(nameof(ReturnForTheTest), error.Message, StringComparison.Ordinal);
        Assert.Equal((0, 1), (pool.GetStatistics().Live, pool.GetStatistics().Rejected));
        Assert.NotSame(array, pool.RentArray(size));
        Assert.Single(pool.GetOutstanding());
    }

    [Fact]
    public void A_returned_buffer_reads_as_poison()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        byte[] array = pool.RentArray(128);
        array.AsSpan().Clear();
        pool.ReturnArray(array);
        Assert.False(array.AsSpan().ContainsAnyExcept((byte)0xDD));
    }

    [Fact]
    public void Both_checks_are_on_in_debug_builds_without_being_asked_for()
    {
#if DEBUG
        using BufferPool pool = TestPools.Create();
        byte[] array = pool.RentArray(128);
        pool.ReturnArray(array);
        Assert.Throws<InvalidOperationException>(() => pool.ReturnArray(array));
        array[5] ^= 1;
        Assert.Throws<InvalidOperationException>(() => pool.RentArray(128));
#else
        Assert.Skip("A Release build checks only with LeakCheck.");
#endif
    }

    [Fact]
    public void Outstanding_buffers_are_listed_with_who_rented_them_when_and_where()
    {
        var clock = new ManualTimeProvider();
        using BufferPool pool = TestPools.Create(time: clock, leakCheck: true);
        Assert.Empty(pool.GetOutstanding());
        byte[] first = RentForTheTest(pool, 1_000);
        clock.Advance(TimeSpan.FromMinutes(1));
        using var owner = pool.Rent(9_000_000);
        clock.Advance(TimeSpan.FromMinutes(1));
        BufferLease lease = pool.Lease(5_000);

        BufferLeak[] leaks = [.. pool.GetOutstanding().OrderBy(static leak => leak.RentedAt)];

        Assert.Equal([1_024, 9_000_000, 5_120], leaks.Select(static leak => leak.Length));
        Assert.Equal(new DateTimeOffset(2026, 1, 1, 0, 1, 0, TimeSpan.Zero), leaks[1].RentedAt);
        Assert.All(leaks, static leak => Assert.Equal(Environment.CurrentManagedThreadId, leak.ThreadId));
        Assert.Contains(nameof(RentForTheTest), leaks[0].RentedBy, StringComparison.Ordinal);
        string here = nameof(Outstanding_buffers_are_listed_with_who_rented_them_when_and_where);
        Assert.All(leaks, leak => Assert.Contains(here, leak.RentedBy, StringComparison.Ordinal));

        pool.ReturnArray(first);
        owner.Dispose();
        lease.Dispose();
        Assert.Empty(pool.GetOutstanding());
    }

    [Fact]
    public void A_lost_buffer_is_still_named_after_a_collection()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        Lose(pool);
        GC.Collect();
        Assert.Contains(nameof(Lose), Assert.Single(pool.GetOutstanding()).RentedBy, StringComparison.Ordinal);

        static void Lose(BufferPool pool) => RentForTheTest(pool, 128);
    }

    [Fact]
    public void Without_the_leak_check_nothing_is_listed()
    {
        using BufferPool pool = TestPools.Create();
        byte[] array = pool.RentArray(128);
        Assert.Empty(pool.GetOutstanding());
        pool.ReturnArray(array);
    }

    [Fact]
    public void Of_many_threads_that_return_one_buffer_exactly_one_succeeds()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        for (int round = 0; round < 50; round++)
        {
            byte[] array = pool.RentArray(4_096);
            int succeeded = 0;
            Parallel.For(0, 4, _ =>
            {
                try
                {
                    pool.ReturnArray(array);
                    Interlocked.Increment(ref succeeded);
                }
                catch (InvalidOperationException)
                {
                    // The expected answer to all but one.
                }
            });
            Assert.Equal(1, succeeded);
            Assert.Equal(0, pool.GetStatistics().Live);
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    private static byte[] RentForTheTest(BufferPool pool, int size) => pool.RentArray(size);

    [MethodImpl(MethodImplOptions.NoInlining | MethodImplOptions.NoOptimization)]
    private static void ReturnForTheTest(BufferPool pool, byte[] array) => pool.ReturnArray(array);
}
