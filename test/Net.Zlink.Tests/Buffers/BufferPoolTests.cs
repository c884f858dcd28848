using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolTests
{
    [Theory]
    [InlineData(0, 128)]
    [InlineData(1, 128)]
    [InlineData(128, 128)]
    [InlineData(129, 256)]
    [InlineData(1_025, 2_048)]
    [InlineData(65_537, 81_920)]
    [InlineData(901_120, 901_120)]
    [InlineData(1_048_584, 1_163_264)]
    [InlineData(2_211_841, 2_736_128)]
    [InlineData(4_308_993, 5_357_568)]
    [InlineData(8_503_296, 8_503_296)]
    public void A_rented_array_is_as_long_as_the_smallest_class_that_holds_the_request(int requested, int length)
    {
        using BufferPool pool = TestPools.Create();
        byte[] array = pool.RentArray(requested);
        Assert.Equal(length, array.Length);
        pool.ReturnArray(array);
    }

    [Fact]
    public void Every_class_keeps_a_returned_buffer_and_hands_it_out_again()
    {
        using BufferPool pool = TestPools.Create();
        foreach (int size in BufferPool.ClassSizes)
        {
            byte[] first = pool.RentArray(size);
            pool.ReturnArray(first);
            Assert.Same(first, pool.RentArray(size - 1));
        }
    }

    [Fact]
    public void The_buffer_returned_last_goes_out_first()
    {
        using BufferPool pool = TestPools.Create();
        byte[][] rented = pool.RentMany(4_096, 3);
        pool.ReturnAll(rented);
        Assert.Equal(rented.Reverse(), pool.RentMany(4_096, 3));
    }

    [Theory]
    [InlineData(128)]
    [InlineData(8_503_296)]
    [InlineData(8_503_297)]
    public unsafe void A_rented_array_is_pinned_so_a_compacting_collection_does_not_move_it(int length)
    {
        using BufferPool pool = TestPools.Create();
        List<byte[]> neighbours = [];
        byte[] array = pool.RentArray(length);
        nint before = (nint)Unsafe.AsPointer(ref array[0]);
        for (int index = 0; index < 1_000; index++)
        {
            neighbours.Add(new byte[100]);
        }

        neighbours.Clear();
        GC.Collect(GC.MaxGeneration, GCCollectionMode.Aggressive, blocking: true, compacting: true);

        Assert.Equal(before, (nint)Unsafe.AsPointer(ref array[0]));
        Assert.True(IsOnPinnedHeap(array));
        pool.ReturnArray(array);
    }

    [Fact]
    public void A_request_beyond_the_largest_class_is_allocated_exactly_and_not_kept()
    {
        using BufferPool pool = TestPools.Create();
        byte[] large = pool.RentArray(8_503_297);
        Assert.Equal(8_503_297, large.Length);
        Assert.Equal(new OversizeStatistics { Rented = 1, BytesRented = 8_503_297 }, pool.GetStatistics().Oversize);
        pool.ReturnArray(large);

        Assert.NotSame(large, pool.RentArray(8_503_297));
        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.Equal(new OversizeStatistics { Rented = 2, Returned = 1, BytesRented = 8_503_297 }, statistics.Oversize);
        Assert.Equal(0, statistics.Kept);
    }

    [Fact]
    public void A_request_that_no_array_can_meet_is_refused()
    {
        using BufferPool pool = TestPools.Create();
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.RentArray(-1));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.RentArray(int.MinValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.RentArray(int.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(-2));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Rent(int.MaxValue));
        Assert.Throws<ArgumentOutOfRangeException>(() => pool.Lease(-2));
        Assert.Equal(Array.MaxLength, pool.MaxBufferSize);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(127)]
    [InlineData(4_097)]
    public void An_array_of_no_class_size_is_refused_in_every_build(int length)
    {
        using BufferPool pool = TestPools.Create();
        Assert.Throws<ArgumentException>(() => pool.ReturnArray(new byte[length]));
    }

    [Fact]
    public void A_disposed_pool_rents_nothing_keeps_nothing_and_takes_returns_silently()
    {
        BufferPool pool = TestPools.Create(warm: 2);
        byte[] elsewhere = pool.RentArray(256);
        byte[] known = pool.RentArray(128);
        byte[] large = pool.RentArray(131_072);
        byte[] oversize = pool.RentArray(9_000_000);

        pool.Dispose();
        pool.Dispose();

        Assert.Equal(0, pool.GetStatistics().Kept);
        Assert.Throws<ObjectDisposedException>(() => pool.RentArray(128));
        Assert.Throws<ObjectDisposedException>(() => pool.RentArray(9_000_000));
        Assert.Throws<ObjectDisposedException>(() => pool.Rent());
        Assert.Throws<ObjectDisposedException>(() => pool.Lease());
        pool.ReturnAll([known, large, oversize]);
        TestPools.OnNewThread(() => pool.ReturnArray(elsewhere));
        BufferPoolStatistics statistics = pool.GetStatistics();
        Assert.Equal((0, 0), (statistics.Live, statistics.Kept));
        pool.Trim();
    }

    [Fact]
    public void The_shared_pool_survives_its_disposal()
    {
        BufferPool.Shared.Dispose();
        Assert.Same(BufferPool.Shared, BufferPool.Shared);
        byte[] array = BufferPool.Shared.RentArray(1);
        BufferPool.Shared.ReturnArray(array);
    }

    [Fact]
    public void Several_pools_on_one_thread_never_mix_their_buffers()
    {
        BufferPool[] pools = [.. Enumerable.Range(0, 4).Select(_ => TestPools.Create())];
        byte[][] own = [.. pools.Select(static pool => pool.RentArray(4_096))];
        for (int index = 0; index < pools.Length; index++)
        {
            pools[index].ReturnArray(own[index]);
        }

        for (int round = 0; round < 3; round++)
        {
            for (int index = 0; index < pools.Length; index++)
            {
                byte[] array = pools[index].RentArray(4_096);
                Assert.Same(own[index], array);
                pools[index].ReturnArray(array);
            }
        }

        Array.ForEach(pools, static pool => pool.Dispose());
    }

    // The collector calls the pinned heap's objects its oldest generation from birth on; a fresh ordinary array of this size is young.
    private static bool IsOnPinnedHeap(byte[] array) =>
        GC.GetGeneration(array) == GC.MaxGeneration && GC.GetGeneration(new byte[128]) < GC.MaxGeneration;
}
