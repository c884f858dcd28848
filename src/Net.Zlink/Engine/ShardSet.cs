using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Transports;

namespace Net.Zlink.Engine;

/// <summary>The fixed number of shards of one context, and who gets which.</summary>
internal sealed class ShardSet : IDisposable
{
    // An abort takes some 50 us a connection: a shard with 10,000 of them needs half a second, and gets on with it, which is looked at every second. Five such looks are for a thread pool that is starved.
    private const int MaxAbortSeconds = 5;

    private readonly TimeProvider _time;
    private readonly ShardLoop[] _shards;
    private readonly ShardWatchdog _watchdog;
    private readonly Dictionary<int, ShardLoop> _ofThreads = [];
    private readonly Lazy<ShardLoop[]>? _streamed;
    private uint _next;
    private uint _nextStreamed;

    // Completions are inline: a handshake had to wait on a polling thread. One that had no need to, since all of it was there at once, is no sign to the contrary.
    private bool _arePolled;

    /// <param name="count">How many.</param>
    /// <param name="streamed">How many more for the connections of <see cref="Wire.HadHandshake"/>; 0: they share the others. Made when the first of them comes.</param>
    /// <param name="observer">Hears of shards in trouble.</param>
    /// <param name="time">The clock of their timers.</param>
    /// <param name="slabs">What they read into.</param>
    public ShardSet(int count, int streamed, IShardObserver observer, TimeProvider time, Slab.SlabCache slabs)
    {
        _time = time;
        _watchdog = new ShardWatchdog(this, observer, time);
        _shards = [.. Enumerable.Range(0, count).Select(index => new ShardLoop(index, observer, time, new ReceiveSlab(slabs)) { Watchdog = _watchdog })];
        _streamed = streamed == 0 ? null
            : new Lazy<ShardLoop[]>(() => [.. Enumerable.Range(count, streamed).Select(index => new ShardLoop(index, observer, time, new ReceiveSlab(slabs, ReceiveSlab.SmallSize)) { Watchdog = _watchdog })]);
    }

    /// <summary>Those that exist by now.</summary>
    public IReadOnlyList<ShardLoop> All => _streamed is { IsValueCreated: true } ? [.. _shards, .. _streamed.Value] : _shards;

    /// <summary>The shard of the next connection: round robin, which spreads connections evenly whatever their order of arrival.</summary>
    public ShardLoop Next() => InTurn(_shards, ref _next);

    /// <summary>The shard of a new connection.</summary>
    /// <param name="wire">Its bytes.</param>
    /// <param name="mask">The shards it may have: bit n is shard n; no bit allows all.</param>
    /// <remarks>
    /// With inline completions each of the runtime's polling threads brings the news of its own sockets, all their life. A wire whose handshake had to wait knows that thread and gets the thread's shard: the
    /// two are never in each other's way (an echo over TLS costs 6 % less). One that had none is not with a thread yet; <see cref="Connection.Start"/> sees to it.
    /// <para>Without inline completions any thread of the pool brings news. Over TLS and WebSocket it has most of the work to do as well, and wants the shard for it there and then: where another thread is at work on that, what the one decrypts
    /// the other encrypts, out of the first one's cache. So those connections have shards of their own, more than there are threads.</para>
    /// </remarks>
    public ShardLoop For(Wire wire, ulong mask = 0)
    {
        if (mask != 0)
        {
            return Next(mask);
        }

        if (wire.PollingThread == 0)
        {
            return wire.HadHandshake && _streamed is not null && !Volatile.Read(ref _arePolled) ? InTurn(_streamed.Value, ref _nextStreamed) : Next();
        }

        Volatile.Write(ref _arePolled, true);
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
        // A work may post to another shard, so a pass proves nothing by itself; nor does one in which no work began. That may have begun before it, on a shard whose turn comes late in the pass, and post to one whose turn was early:
        // there the next pass finds it. So two such passes do.
        long before = -1;
        for (int quiet = 0; quiet < 2;)
        {
            IReadOnlyList<ShardLoop> shards = All;
            foreach (ShardLoop shard in shards)
            {
                await BarrierOf(shard).ConfigureAwait(false);
            }

            long works = 0;
            foreach (ShardLoop shard in shards)
            {
                works += shard.Counters.Works;
            }

            quiet = works == before + shards.Count ? quiet + 1 : 0;
            before = works;
        }
    }

    /// <summary>Gives back what the shards hold, on the shards. No connection may be left.</summary>
    public async Task ReleaseAsync()
    {
        foreach (ShardLoop shard in All)
        {
            var last = new Barrier(shard.ReceiveSlab.Release);
            shard.Post(last, 1);
            await last.Passed.Task.ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Waits for an end that needs nothing but the shards: an abort. Only a work that blocks keeps a shard from it, so the wait is over when all that is left to end is held by such works. Never fails.
    /// </summary>
    /// <param name="ended">The end.</param>
    /// <returns>The shards that are held; none if <paramref name="ended"/> is complete.</returns>
    public async Task<IReadOnlyList<ShardLoop>> AwaitAbortAsync(Task ended)
    {
        (ShardLoop Shard, Task Passed)[] all = [.. All.Select(static shard => (shard, BarrierOf(shard)))];
        for (int second = 0; second < MaxAbortSeconds; second++)
        {
            (ShardLoop Shard, long Work)[] before = [.. all.Where(static one => !one.Passed.IsCompleted).Select(static one => (one.Shard, one.Shard.RunningWork(out _)))];
            if (await ended.EndsWithinAsync(TimeSpan.FromSeconds(1), _time).ConfigureAwait(false))
            {
                return [];
            }

            ShardLoop[] left = [.. all.Where(static one => !one.Passed.IsCompleted).Select(static one => one.Shard)];
            if (left.Length > 0 && Array.TrueForAll(left, shard => before.Contains((shard, shard.RunningWork(out ShardWork? work))) && work is not null))
            {
                return left;
            }
        }

        return [.. all.Where(static one => !one.Passed.IsCompleted).Select(static one => one.Shard)];
    }

    public void Dispose()
    {
        _watchdog.Dispose();
        foreach (ShardLoop shard in All)
        {
            shard.Timers.Dispose();
        }
    }

    private static Task BarrierOf(ShardLoop shard)
    {
        var barrier = new Barrier();
        shard.Post(barrier, 1);
        return barrier.Passed.Task;
    }

    private static ShardLoop InTurn(ShardLoop[] shards, ref uint next) => shards[(Interlocked.Increment(ref next) - 1) % (uint)shards.Length];

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
