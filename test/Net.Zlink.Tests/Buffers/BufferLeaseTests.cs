using System.Buffers.Binary;
using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferLeaseTests
{
    [Fact]
    public void A_lease_gives_a_whole_size_class_and_returns_it_by_dispose()
    {
        using BufferPool pool = TestPools.Create();
        BufferLease lease = pool.Lease(1_000);
        Assert.Equal((1_024, 1_024), (lease.Memory.Length, lease.Span.Length));
        Assert.Equal(1, pool.GetStatistics().Live);
        lease.Dispose();
        Assert.Equal(0, pool.GetStatistics().Live);
        using BufferLease page = pool.Lease();
        Assert.Equal(4_096, page.Span.Length);
    }

    [Fact]
    public void A_stale_lease_neither_ends_nor_reads_the_next_renters_lease_although_both_use_the_same_objects()
    {
        using BufferPool pool = TestPools.Create();
        BufferLease stale = pool.Lease(128);
        BufferLease copy = stale;
        byte[] array = ArrayOf(stale);
        stale.Dispose();
        BufferLease next = pool.Lease(128);
        Assert.Same(array, ArrayOf(next));

        stale.Dispose();
        copy.Dispose();

        Assert.Throws<ObjectDisposedException>(() => stale.Span[0]);
        Assert.Throws<ObjectDisposedException>(() => copy.Memory);
        next.Span.Fill(1);
        Assert.Equal(1, pool.GetStatistics().Live);
        next.Dispose();
        Assert.Equal((0, 1), (pool.GetStatistics().Live, pool.GetStatistics().Kept));
    }

    [Fact]
    public void The_default_lease_is_over()
    {
        default(BufferLease).Dispose();
        Assert.Throws<ObjectDisposedException>(() => default(BufferLease).Memory);
        Assert.Throws<ObjectDisposedException>(() => default(BufferLease).Span.Length);
    }

    [Fact]
    public void Threads_that_end_the_same_leases_at_once_return_each_buffer_once_and_find_the_stale_ones_unreadable()
    {
        using BufferPool pool = TestPools.Create();
        var published = new Published[16];
        for (int slot = 0; slot < published.Length; slot++)
        {
            published[slot] = Publish(pool, slot);
        }

        TestPools.OnNewThreads(4, number =>
        {
            var random = new Random(number);
            for (int step = 0; step < 5_000; step++)
            {
                ref Published place = ref published[random.Next(published.Length)];
                Published seen = Volatile.Read(ref place);
                seen.Lease.Dispose();
                Assert.True(IsOver(seen.Lease), "A lease was readable after its end.");

                Published mine = Publish(pool, ((long)number << 32) | (uint)step);
                Assert.Equal(mine.Stamp, BinaryPrimitives.ReadInt64LittleEndian(mine.Lease.Span));
                Interlocked.Exchange(ref place, mine);
                mine.Lease.Dispose();
                mine.Lease.Dispose();
            }
        });
        Array.ForEach(published, static one => one.Lease.Dispose());
        Assert.Equal(0, pool.GetStatistics().Live);
        Assert.Equal(pool.GetStatistics().Allocated, pool.GetStatistics().Kept);
    }

    [Fact]
    public void A_forgotten_lease_is_collected_with_its_buffer_and_its_abandoned_pool_although_its_thread_lives()
    {
        TestPools.OnNewThread(static () =>
        {
            List<WeakReference> forgotten = Forget();
            Assert.True(TestPools.CollectUntil(() => forgotten.TrueForAll(static one => !one.IsAlive)),
                "Something that nobody refers to is still there.");
        });
    }

    /// <summary>Abandons a pool with some leases that are never ended: such of new slots, of slots that went round, and of those that
    /// stayed when the thread had too many and gave half of them away.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    private static List<WeakReference> Forget()
    {
        BufferPool pool = TestPools.Create();
        List<WeakReference> forgotten = [new WeakReference(pool)];
        var leases = new BufferLease[48]; // What a thread takes from the others at once is 16: then it has none left.
        for (int i = 0; i < leases.Length; i++)
        {
            leases[i] = pool.Lease(128);
        }

        const int Ended = 33; // One more than a thread keeps: it goes on with 17.
        for (int i = 0; i < Ended; i++)
        {
            leases[i].Dispose();
        }

        for (int i = 0; i < leases.Length; i++)
        {
            BufferLease lease = i < Ended ? pool.Lease(128) : leases[i];
            forgotten.Add(new WeakReference(ArrayOf(lease)));
        }

        return forgotten;
    }

    private static Published Publish(BufferPool pool, long stamp)
    {
        BufferLease lease = pool.Lease(128);
        BinaryPrimitives.WriteInt64LittleEndian(lease.Span, stamp);
        return new Published(lease, stamp);
    }

    private static bool IsOver(BufferLease lease)
    {
        try
        {
            _ = lease.Span;
            return false;
        }
        catch (ObjectDisposedException)
        {
            return true;
        }
    }

    private static byte[] ArrayOf(BufferLease lease)
    {
        Assert.True(MemoryMarshal.TryGetArray<byte>(lease.Memory, out ArraySegment<byte> segment));
        return segment.Array!;
    }

    private sealed record Published(BufferLease Lease, long Stamp);
}
