using System.Collections.Concurrent;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

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
    public void Connections_whose_news_one_polling_thread_brings_share_its_shard_and_threads_are_spread_evenly_however_many_ask_at_once()
    {
        const int Threads = 1_000;
        using ShardSet shards = NewSet(2);
        var seen = new int[4][];
        InParallel([.. Enumerable.Range(0, seen.Length).Select<int, Action>(i => () => seen[i] = Ask())]);
        Assert.All(seen, one => Assert.Equal(seen[0], one));
        Assert.Equal(Threads / 2, seen[0].Sum());

        int[] Ask()
        {
            using var wire = new BareWire();
            return [.. Enumerable.Range(1, Threads).Select(thread =>
            {
                wire.PollingThread = thread;
                return shards.For(wire).Index;
            })];
        }
    }

    [Fact]
    public void All_others_take_turns_and_a_mask_is_kept()
    {
        using ShardSet shards = NewSet(2);
        using var known = new BareWire { PollingThread = 7 };
        using var unknown = new BareWire();
        Assert.Equal([0, 1, 0, 1], Enumerable.Range(0, 4).Select(_ => shards.For(unknown).Index));
        Assert.Equal([1, 1, 1, 1], Enumerable.Range(0, 4).Select(i => shards.For(i % 2 == 0 ? unknown : known, mask: 2).Index));
    }

    [Fact]
    public void Connections_of_tls_and_websocket_have_shards_of_their_own_made_when_the_first_comes()
    {
        using ShardSet shards = NewSet(2, streamed: 3);
        using var plain = new BareWire();
        using var streamed = new StreamedBareWire();
        using var polled = new StreamedBareWire { PollingThread = 7 };
        Assert.Equal([0, 1, 0], Enumerable.Range(0, 3).Select(_ => shards.For(plain).Index));
        Assert.Equal(2, shards.All.Count);
        var seen = new ConcurrentQueue<ShardLoop>();
        InParallel([.. Enumerable.Repeat<Action>(() => seen.Enqueue(shards.For(streamed)), 6)]);
        Assert.Equal([2, 2, 3, 3, 4, 4], seen.Select(static s => s.Index).Order());
        Assert.Equal(3, seen.Distinct().Count());
        Assert.Equal([0, 1, 2, 3, 4], shards.All.Select(static s => s.Index));

        // A polling thread keeps its shard, and an affinity is kept.
        Assert.Equal((0, 1, 1), (shards.For(polled).Index, shards.For(streamed, mask: 2).Index, shards.For(plain, mask: 2).Index));

        // Completions are inline, then: who never had to wait in its handshake goes where the others are.
        Assert.All(Enumerable.Range(0, 4), _ => Assert.InRange(shards.For(streamed).Index, 0, 1));
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
        using var shards = new ShardSet(2, 0, new RecordingObserver(), TimeProvider.System, new Slab.SlabCache(pool));
        foreach (ShardLoop shard in shards.All)
        {
            await OnShardAsync(shard, () => shard.ReceiveSlab.Acquire(0, out _, out _));
        }

        Assert.Equal(2, pool.GetOutstanding().Count);
        await shards.ReleaseAsync().WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Empty(pool.GetOutstanding());
    }

    private static ShardSet NewSet(int count, int streamed = 0) =>
        new(count, streamed, new RecordingObserver(), TimeProvider.System, new Slab.SlabCache(BufferPool.Shared));

    private sealed class BareWire : TestWire;

    private sealed class StreamedBareWire : TestWire
    {
        public override bool HadHandshake => true;
    }
}
