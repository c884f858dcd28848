using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The fixed number of shards of one context, and who gets which.</summary>
internal sealed class ShardSet : IDisposable
{
    private readonly ShardLoop[] _shards;
    private readonly Dictionary<int, ShardLoop> _ofThreads = [];
    private uint _next;

    public ShardSet(int count, IShardObserver observer, TimeProvider time, Slab.SlabCache slabs)
    {
        _shards = new ShardLoop[count];
        for (int i = 0; i < count; i++)
        {
            _shards[i] = new ShardLoop(i, observer, time, slabs);
        }
    }

    public IReadOnlyList<ShardLoop> All => _shards;

    /// <summary>The shard of the next connection: round robin, which spreads connections evenly whatever their order of arrival.</summary>
    public ShardLoop Next() => _shards[(Interlocked.Increment(ref _next) - 1) % (uint)_shards.Length];

    /// <summary>The shard of a new connection.</summary>
    /// <param name="wire">Its bytes.</param>
    /// <param name="mask">The shards it may have: bit n is shard n; no bit allows all.</param>
    /// <remarks>
    /// With inline completions each of the runtime's polling threads brings the news of its own sockets, all their life. A wire whose handshake had to wait knows that thread and gets the thread's shard: the
    /// two are never in each other's way (an echo over TLS costs 6 % less). One that had none is not with a thread yet; <see cref="Connection.Start"/> sees to it. Without inline completions any thread of the pool brings news.
    /// </remarks>
    public ShardLoop For(Wire wire, ulong mask = 0)
    {
        if (mask != 0 || wire.PollingThread == 0)
        {
            return Next(mask);
        }

        lock (_ofThreads) // Once a connection. Two that asked at the same time for one thread would otherwise use up two turns.
        {
            if (!_ofThreads.TryGetValue(wire.PollingThread, out ShardLoop? shard))
            {
                // Not by Next: the order in which threads turn up must not depend on how many connections came before.
                shard = _shards[_ofThreads.Count % _shards.Length];
                _ofThreads.Add(wire.PollingThread, shard);
            }

            return shard;
        }
    }

    /// <summary>As <see cref="Next()"/>, among the shards that a mask allows: bit n is shard n; no bit allows all. A mask of none that exists allows all too.</summary>
    public ShardLoop Next(ulong mask)
    {
        if (_shards.Length < 64)
        {
            mask &= (1UL << _shards.Length) - 1;
        }

        if (mask == 0)
        {
            return Next();
        }

        uint turn = (Interlocked.Increment(ref _next) - 1) % (uint)System.Numerics.BitOperations.PopCount(mask);
        for (; turn > 0; turn--)
        {
            mask &= mask - 1; // Takes the lowest bit away.
        }

        return _shards[System.Numerics.BitOperations.TrailingZeroCount(mask)];
    }

    /// <summary>Completes when no shard has runnable work. Meaningful only while nothing new arrives: tests that control the clock use it.</summary>
    public async Task WhenIdleAsync()
    {
        // A work may post to another shard, so one clean pass proves nothing: two passes without any work in between do.
        long before = -1;
        while (true)
        {
            foreach (ShardLoop shard in _shards)
            {
                var barrier = new Barrier();
                shard.Post(barrier, 1);
                await barrier.Passed.Task.ConfigureAwait(false);
            }

            long works = 0;
            foreach (ShardLoop shard in _shards)
            {
                works += shard.Counters.Works;
            }

            if (works == before + _shards.Length)
            {
                return;
            }

            before = works;
        }
    }

    /// <summary>Gives back what the shards hold, on the shards. No connection may be left.</summary>
    public async Task ReleaseAsync()
    {
        foreach (ShardLoop shard in _shards)
        {
            var last = new Barrier(shard.ReceiveSlab.Release);
            shard.Post(last, 1);
            await last.Passed.Task.ConfigureAwait(false);
        }
    }

    public void Dispose()
    {
        foreach (ShardLoop shard in _shards)
        {
            shard.Timers.Dispose();
        }
    }

    private sealed class Barrier(Action? action = null) : ShardWork
    {
        public TaskCompletionSource Passed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        internal override void Run(int reasons)
        {
            action?.Invoke();
            Passed.SetResult();
        }

        internal override void OnFault(Exception exception) => Passed.TrySetException(exception);

        internal override string Describe() => "idle barrier";
    }
}
