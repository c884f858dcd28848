using Net.Zlink.Buffers;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

internal sealed class ShardSet : IDisposable
{
    // An abort takes 50 us per connection: half a second for 10,000, checked each second.
    private const int MaxAbortSeconds = 5;

    private readonly TimeProvider _time;
    private readonly ShardLoop[] _shards;
    private readonly ShardWatchdog _watchdog;
    private readonly Dictionary<int, ShardLoop> _ofThreads = [];
    private readonly Lazy<ShardLoop[]>? _streamed;
    private uint _next;
    private uint _nextStreamed;
    private uint _nextPolled; // Above 0 completions are inline.

    public ShardSet(int count, int streamed, IShardObserver observer, TimeProvider time, Slab.SlabCache slabs)
    {
        _time = time;
        _watchdog = new ShardWatchdog(this, observer, time);
        _shards = [.. Enumerable.Range(0, count).Select(index => Create(index, new ReceiveSlab(slabs)))];
        _streamed = streamed == 0 ? null : new Lazy<ShardLoop[]>(
            () => [.. Enumerable.Range(count, streamed).Select(index => Create(index, new ReceiveSlab(slabs, ReceiveSlab.SmallSize)))]);

        ShardLoop Create(int index, ReceiveSlab slab) => new(index, observer, time, slab) { Watchdog = _watchdog };
    }

    public IReadOnlyList<ShardLoop> All => _streamed is { IsValueCreated: true } ? [.. _shards, .. _streamed.Value] : _shards;

    /// <summary>Those that a mask of shards can name.</summary>
    public int Count => _shards.Length;

    public ShardLoop Next() => NextOf(_shards, ref _next);

    /// <summary>
    /// With inline completions each polling thread of the runtime serves its own sockets for life, so its wires get one shard (an echo over
    /// TLS costs 6 % less). With TLS or WebSocket a completing thread does most of the work, and needs the shard at once: another thread
    /// would encrypt with a cold cache. So these connections have shards of their own.
    /// </summary>
    public ShardLoop For(Wire wire, ulong mask = 0)
    {
        if (mask != 0)
        {
            return Next(mask);
        }

        if (wire.PollingThread == 0)
        {
            bool hasOwnShards = wire.HadHandshake && _streamed is not null && Volatile.Read(ref _nextPolled) == 0;
            return hasOwnShards ? NextOf(_streamed!.Value, ref _nextStreamed) : Next();
        }

        lock (_ofThreads)
        {
            if (!_ofThreads.TryGetValue(wire.PollingThread, out ShardLoop? shard))
            {
                // Not Next: the order of threads must not depend on the number of earlier connections.
                shard = NextOf(_shards, ref _nextPolled);
                _ofThreads.Add(wire.PollingThread, shard);
            }

            return shard;
        }
    }

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
            mask &= mask - 1;
        }

        return _shards[System.Numerics.BitOperations.TrailingZeroCount(mask)];
    }

    public async Task ReleaseAsync()
    {
        foreach (ShardLoop shard in All)
        {
            await RunOnAsync(shard, shard.ReceiveSlab.Release).ConfigureAwait(false);
        }
    }

    /// <summary>Gives up when all remaining work is on shards that are blocked.</summary>
    public async Task<IReadOnlyList<ShardLoop>> AwaitAbortAsync(Task ended)
    {
        (ShardLoop Shard, Task Passed)[] all = [.. All.Select(static shard => (shard, RunOnAsync(shard, static () => { })))];
        for (int second = 0; second < MaxAbortSeconds; second++)
        {
            (ShardLoop, long)[] before = [.. Held().Select(static shard => (shard, shard.RunningWork(out _)))];
            await ended.WaitAsync(TimeSpan.FromSeconds(1), _time).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            if (ended.IsCompleted)
            {
                return [];
            }

            ShardLoop[] left = [.. Held()];
            if (left.Length > 0 && Array.TrueForAll(left, shard => IsStillRunning(shard, before)))
            {
                return left;
            }
        }

        return [.. Held()];

        IEnumerable<ShardLoop> Held() => all.Where(static one => !one.Passed.IsCompleted).Select(static one => one.Shard);

        static bool IsStillRunning(ShardLoop shard, (ShardLoop, long)[] before) =>
            before.Contains((shard, shard.RunningWork(out ShardWork? work))) && work is not null;
    }

    public void Dispose()
    {
        _watchdog.Dispose();
        foreach (ShardLoop shard in All)
        {
            shard.Timers.Dispose();
        }
    }

    private static Task RunOnAsync(ShardLoop shard, Action action)
    {
        var work = new ShardTask(action);
        shard.Post(work, 1);
        return work.Task;
    }

    private static ShardLoop NextOf(ShardLoop[] shards, ref uint next) =>
        shards[(Interlocked.Increment(ref next) - 1) % (uint)shards.Length];
}
