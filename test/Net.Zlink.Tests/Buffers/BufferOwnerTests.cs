using System.Buffers;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferOwnerTests
{
    [Theory]
    [InlineData(-1, 4_096)]
    [InlineData(0, 128)]
    [InlineData(1_000, 1_024)]
    [InlineData(1_000_000, 1_163_264)]
    [InlineData(9_000_000, 9_000_000)]
    public void A_memory_pool_user_gets_a_whole_size_class_and_gives_it_back_by_dispose(int requested, int length)
    {
        using BufferPool pool = TestPools.Create();
        IMemoryOwner<byte> owner = ((MemoryPool<byte>)pool).Rent(requested);
        Assert.Equal(length, owner.Memory.Length);
        owner.Memory.Span.Fill(7);
        Assert.Equal(length, pool.GetStatistics().BytesRented);
        owner.Dispose();
        Assert.Equal(0, pool.GetStatistics().BytesRented);
    }

    [Fact]
    public void A_second_dispose_does_not_take_the_buffer_from_the_next_renter()
    {
        using BufferPool pool = TestPools.Create();
        IMemoryOwner<byte> stale = pool.Rent(128);
        byte[] array = ArrayOf(stale.Memory);
        stale.Dispose();
        using IMemoryOwner<byte> next = pool.Rent(128);
        Assert.Same(array, ArrayOf(next.Memory));

        stale.Dispose();

        next.Memory.Span.Fill(9);
        Assert.Equal(1, pool.GetStatistics().Live);
        using IMemoryOwner<byte> third = pool.Rent(128);
        Assert.NotSame(array, ArrayOf(third.Memory));
    }

    [Fact]
    public void After_dispose_the_owner_and_every_memory_taken_before_throw_although_the_buffer_serves_another()
    {
        using BufferPool pool = TestPools.Create();
        IMemoryOwner<byte> stale = pool.Rent(128);
        Memory<byte> memory = stale.Memory;
        ReadOnlyMemory<byte> slice = memory[10..20];
        stale.Dispose();
        using IMemoryOwner<byte> next = pool.Rent(128);
        next.Memory.Span.Fill(42);

        Assert.Throws<ObjectDisposedException>(() => stale.Memory);
        Assert.Throws<ObjectDisposedException>(() => memory.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => slice.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => slice.ToArray());
        Assert.Throws<ObjectDisposedException>(() => MemoryMarshal.TryGetArray(slice, out _));
        Assert.Throws<ObjectDisposedException>(() => memory.Pin());
    }

    [Fact]
    public void Of_many_threads_that_dispose_one_owner_exactly_one_returns_the_buffer()
    {
        using BufferPool pool = TestPools.Create();
        for (long round = 1; round <= 200; round++)
        {
            IMemoryOwner<byte> owner = pool.Rent(4_096);
            Parallel.For(0, 4, _ => owner.Dispose());
            BufferClassStatistics one = pool.ClassOf(4_096);
            Assert.Equal((round, round, one.Allocated), (one.Rented, one.Returned, (long)one.Kept));
        }
    }

    [Fact]
    public unsafe void Pinned_memory_points_at_the_buffer_and_delays_the_return_until_the_last_unpin()
    {
        using BufferPool pool = TestPools.Create();
        IMemoryOwner<byte> owner = pool.Rent(128);
        owner.Memory.Span[5] = 77;
        MemoryHandle first = owner.Memory[5..].Pin();
        MemoryHandle second = owner.Memory.Pin();
        Assert.Equal(77, *(byte*)first.Pointer);
        Assert.Equal(5, (byte*)first.Pointer - (byte*)second.Pointer);

        owner.Dispose();
        owner.Dispose();
        Assert.Equal(1, pool.GetStatistics().Live);
        Assert.Throws<ObjectDisposedException>(() => owner.Memory);
        Assert.Equal(77, *(byte*)first.Pointer);
        first.Dispose();
        Assert.Equal(1, pool.GetStatistics().Live);
        second.Dispose();
        Assert.Equal((0, 1), (pool.GetStatistics().Live, pool.GetStatistics().Kept));
    }

    [Fact]
    public void A_pin_undone_twice_does_not_return_the_buffer_early_or_twice()
    {
        using BufferPool pool = TestPools.Create();
        IMemoryOwner<byte> owner = pool.Rent(128);
        MemoryHandle handle = owner.Memory.Pin();
        MemoryHandle copy = handle;
        handle.Dispose();
        copy.Dispose();
        owner.Memory.Span[0] = 1;
        Assert.Equal(1, pool.GetStatistics().Live);
        owner.Dispose();
        handle = default;
        copy.Dispose();
        Assert.Equal((0, 1, 1), (pool.GetStatistics().Live, pool.GetStatistics().Returned, pool.GetStatistics().Kept));
    }

    [Fact]
    public void Pinning_past_the_end_is_refused()
    {
        using BufferPool pool = TestPools.Create();
        using var owner = (MemoryManager<byte>)pool.Rent(128);
        Assert.Throws<ArgumentOutOfRangeException>(() => owner.Pin(129));
        Assert.Throws<ArgumentOutOfRangeException>(() => owner.Pin(-1));
        owner.Pin(128).Dispose();
    }

    private static byte[] ArrayOf(Memory<byte> memory)
    {
        Assert.True(MemoryMarshal.TryGetArray<byte>(memory, out ArraySegment<byte> segment));
        Assert.Equal((0, memory.Length), (segment.Offset, segment.Count));
        return segment.Array!;
    }
}
