using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Engine;

public sealed class ShardSetTests
{
    [Fact]
    public void Connections_are_spread_evenly_also_when_many_threads_ask()
    {
        using ShardSet shards = NewSet(4);
        var counts = new int[4];
        InParallel([.. Enumerable.Repeat<Action>(
            () =>
            {
                for (int i = 0; i < 1_000; i++)
                {
                    Interlocked.Increment(ref counts[shards.Next().Index]);
                }
            },
            4)]);
        Assert.Equal([1_000, 1_000, 1_000, 1_000], counts);
    }

    [Fact]
    public void Connections_whose_handshake_ended_on_a_polling_thread_share_the_shard_of_that_thread()
    {
        using ShardSet shards = NewSet(2);
        using var shaken = new BareWire(hadHandshake: true);
        var seen = new int[2][];

        // Threads that are not of the pool, as the runtime's polling threads.
        InParallel(() => seen[0] = Ask(), () => seen[1] = Ask());
        Assert.Single(seen[0].Distinct());
        Assert.Single(seen[1].Distinct());
        Assert.NotEqual(seen[0][0], seen[1][0]);

        int[] Ask() => [.. Enumerable.Range(0, 10).Select(_ => shards.For(shaken).Index)];
    }

    [Fact]
    public async Task All_others_take_turns_and_a_mask_is_kept_on_any_thread()
    {
        using ShardSet shards = NewSet(2);
        using var shaken = new BareWire(hadHandshake: true);
        using var plain = new BareWire(hadHandshake: false);
        int[] turns = await Task.Run(() => Enumerable.Range(0, 4).Select(_ => shards.For(shaken).Index).ToArray(), TestContext.Current.CancellationToken);
        Assert.Equal([0, 1, 0, 1], turns);
        int[] masked = [];
        InParallel(() =>
        {
            turns = [.. Enumerable.Range(0, 4).Select(_ => shards.For(plain).Index)];
            masked = [.. Enumerable.Range(0, 4).Select(i => shards.For(i % 2 == 0 ? plain : shaken, mask: 2).Index)];
        });
        Assert.Equal([0, 1, 0, 1], turns);
        Assert.Equal([1, 1, 1, 1], masked);
    }

    [Fact]
    public async Task Idle_means_that_work_which_hops_between_shards_is_over()
    {
        using ShardSet shards = NewSet(3);
        int hops = 0;
        TestWork work = null!;
        work = new TestWork(_ =>
        {
            if (++hops < 300)
            {
                shards.All[hops % 3].Post(work, 1);
            }
        });
        shards.All[0].Post(work, 1);
        await shards.WhenIdleAsync().WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(300, hops);
    }

    [Fact]
    public async Task Releasing_gives_the_receive_slabs_back()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        using var shards = new ShardSet(2, new RecordingObserver(), TimeProvider.System, new Slab.SlabCache(pool));
        foreach (ShardLoop shard in shards.All)
        {
            await OnShardAsync(shard, () => shard.ReceiveSlab.Acquire(0, out _, out _));
        }

        Assert.Equal(2, pool.GetOutstanding().Count);
        await shards.ReleaseAsync().WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Empty(pool.GetOutstanding());
    }

    private static ShardSet NewSet(int count) => new(count, new RecordingObserver(), TimeProvider.System, new Slab.SlabCache(BufferPool.Shared));

    private sealed class BareWire(bool hadHandshake) : TestWire
    {
        public override bool HadHandshake => hadHandshake;
    }
}
