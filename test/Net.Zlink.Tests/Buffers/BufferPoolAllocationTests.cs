using Net.Zlink.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Buffers;

public sealed class BufferPoolAllocationTests
{
    private const int Rounds = 200;
    private static readonly int[] Sizes = [128, 4_096, 131_072, 278_528];

    [Fact]
    public void Renting_and_returning_arrays_allocates_nothing_in_steady_state()
    {
        using BufferPool pool = TestPools.Create();
        var held = new byte[50][];
        long allocated = Allocations.Of(
            () =>
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
            },
            Rounds);
        Assert.Equal(0, allocated);
    }

    [Fact]
    public void Leases_allocate_nothing_in_steady_state()
    {
        using BufferPool pool = TestPools.Create();
        FillTheSharedStoreOfLeaseObjects(pool);
        var held = new BufferLease[50];
        long allocated = Allocations.Of(
            () =>
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
            },
            Rounds);
        Assert.Equal(0, allocated);
    }

    [Fact]
    public void An_owner_costs_one_small_object_and_no_buffer()
    {
        using BufferPool pool = TestPools.Create();
        Assert.InRange(Allocations.Of(() => pool.Rent(4_096).Dispose(), Rounds), 1, 48 * Rounds);
    }

    [Fact]
    public void Alternating_between_pools_allocates_nothing()
    {
        using BufferPool first = TestPools.Create();
        using BufferPool second = TestPools.Create();
        long allocated = Allocations.Of(
            () =>
            {
                byte[] one = first.RentArray(128);
                byte[] two = second.RentArray(128);
                first.ReturnArray(one);
                second.ReturnArray(two);
            },
            Rounds);
        Assert.Equal(0, allocated);
    }

    [Fact]
    public void Renting_on_one_thread_and_returning_on_another_allocates_nothing_on_either()
    {
        const int Windows = 10;
        const int RoundsAWindow = 50;
        using BufferPool pool = TestPools.Create();
        FillTheSharedStoreOfLeaseObjects(pool);
        var arrays = new byte[100][];
        var leases = new BufferLease[100];
        var produced = new Allocations();
        var consumed = new Allocations();
        using var turn = new Barrier(2);
        var consumer = new Thread(() =>
        {
            for (int round = 1; round <= Windows * RoundsAWindow; round++)
            {
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
                consumed.Begin();
                for (int index = 0; index < arrays.Length; index++)
                {
                    pool.ReturnArray(arrays[index]);
                    leases[index].Dispose();
                }

                consumed.End();
                EndWindowAfter(round, consumed);
                turn.SignalAndWait(TimeSpan.FromSeconds(30));
            }
        })
        { IsBackground = true };
        consumer.Start();
        for (int round = 1; round <= Windows * RoundsAWindow; round++)
        {
            produced.Begin();
            for (int index = 0; index < arrays.Length; index++)
            {
                arrays[index] = pool.RentArray(4_096);
                leases[index] = pool.Lease(1_024);
            }

            produced.End();
            EndWindowAfter(round, produced);
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
            turn.SignalAndWait(TimeSpan.FromSeconds(30), TestContext.Current.CancellationToken);
        }

        Assert.True(consumer.Join(TimeSpan.FromSeconds(30)));
        Assert.Equal((0, 0), (produced.Least, consumed.Least));

        static void EndWindowAfter(int round, Allocations allocations)
        {
            if (round % RoundsAWindow == 0)
            {
                allocations.EndWindow();
            }
        }
    }

    // Lease objects are shared by all pools of the process, so also with the tests that run beside this one: enough for all.
    private static void FillTheSharedStoreOfLeaseObjects(BufferPool pool)
    {
        BufferLease[] many = [.. Enumerable.Range(0, 4_000).Select(_ => pool.Lease(128))];
        Array.ForEach(many, static lease => lease.Dispose());
    }
}
