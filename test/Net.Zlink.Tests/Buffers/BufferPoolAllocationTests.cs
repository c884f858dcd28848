using Net.Zlink.Buffers;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolAllocationTests
{
    private const int Repeats = 2_000;
    private const int Windows = 10;
    private static readonly int[] Sizes = [128, 4_096, 131_072, 278_528];

    [Fact]
    public void Renting_and_returning_arrays_allocates_nothing_in_steady_state()
    {
        using BufferPool pool = TestPools.Create();
        var held = new byte[50][];
        AssertAllocatesNothing(() =>
        {
            foreach (int size in Sizes)
            {
                for (int index = 0; index < held.Length; index++)
                {
                    held[index] = pool.RentArray(size);
                }

                foreach (byte[] array in held)
                {
                    pool.ReturnArray(array);
                }
            }
        });
    }

    [Fact]
    public void Leases_allocate_nothing_in_steady_state()
    {
        using BufferPool pool = TestPools.Create();
        FillTheSharedStoreOfLeaseObjects(pool);
        var held = new BufferLease[50];
        AssertAllocatesNothing(() =>
        {
            for (int index = 0; index < held.Length; index++)
            {
                held[index] = pool.Lease(1_000);
                held[index].Span[0] = 1;
            }

            foreach (BufferLease lease in held)
            {
                lease.Dispose();
            }
        });
    }

    [Fact]
    public void An_owner_costs_one_small_object_and_no_buffer()
    {
        using BufferPool pool = TestPools.Create();
        pool.Rent(4_096).Dispose();
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int index = 0; index < Repeats; index++)
        {
            pool.Rent(4_096).Dispose();
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 1, 48 * Repeats);
    }

    [Fact]
    public void Alternating_between_pools_allocates_nothing()
    {
        using BufferPool first = TestPools.Create();
        using BufferPool second = TestPools.Create();
        AssertAllocatesNothing(() =>
        {
            byte[] one = first.RentArray(128);
            byte[] two = second.RentArray(128);
            first.ReturnArray(one);
            second.ReturnArray(two);
        });
    }

    [Fact]
    public void Renting_on_one_thread_and_returning_on_another_allocates_nothing_on_either()
    {
        const int Rounds = 500;
        using BufferPool pool = TestPools.Create();
        FillTheSharedStoreOfLeaseObjects(pool);
        var arrays = new byte[100][];
        var leases = new BufferLease[100];
        var produced = new long[Rounds];
        var consumed = new long[Rounds];
        using var turn = new Barrier(2);
        var consumer = new Thread(() =>
        {
            for (int round = 0; round < Rounds; round++)
            {
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
                long before = GC.GetAllocatedBytesForCurrentThread();
                for (int index = 0; index < arrays.Length; index++)
                {
                    pool.ReturnArray(arrays[index]);
                    leases[index].Dispose();
                }

                consumed[round] = GC.GetAllocatedBytesForCurrentThread() - before;
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
            }
        })
        { IsBackground = true };
        consumer.Start();
        for (int round = 0; round < Rounds; round++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int index = 0; index < arrays.Length; index++)
            {
                arrays[index] = pool.RentArray(4_096);
                leases[index] = pool.Lease(1_024);
            }

            produced[round] = GC.GetAllocatedBytesForCurrentThread() - before;
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        }

        Assert.True(consumer.Join(TimeSpan.FromSeconds(30)));

        // Windows of 50 rounds after the first, for the reason given below.
        Assert.Equal(0, produced.Chunk(50).Skip(1).Min(static window => window.Sum()));
        Assert.Equal(0, consumed.Chunk(50).Skip(1).Min(static window => window.Sum()));
    }

    // The first rounds fill caches and grow their arrays. Of several windows the smallest counts: a background collection of the runtime,
    // which other tests cause, can charge the unused rest of a thread's allocation window to a thread that allocated
    // nothing, while an allocation of ours would show in every window.
    private static void AssertAllocatesNothing(Action round)
    {
        for (int index = 0; index < 50; index++)
        {
            round();
        }

        long smallest = long.MaxValue;
        for (int window = 0; window < Windows && smallest > 0; window++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            for (int index = 0; index < Repeats / 10; index++)
            {
                round();
            }

            smallest = Math.Min(smallest, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.Equal(0, smallest);
    }

    // Lease objects are shared by all pools of the process, so also with the tests that run beside this one: enough for all.
    private static void FillTheSharedStoreOfLeaseObjects(BufferPool pool)
    {
        BufferLease[] many = [.. Enumerable.Range(0, 4_000).Select(_ => pool.Lease(128))];
        Array.ForEach(many, static lease => lease.Dispose());
    }
}
