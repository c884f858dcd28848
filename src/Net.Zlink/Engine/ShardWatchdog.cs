using System.Runtime.InteropServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>Tells of a shard that does not come out of a work while it is still in it: a handler that blocks for good would leave no trace otherwise.</summary>
/// <remarks>
/// One timer of the context's clock, which ticks while there are connections. It compares what the shards count anyway from one tick to the next, so a turn pays nothing for it. Thread-safe.
/// </remarks>
internal sealed class ShardWatchdog : IDisposable
{
    // What only computes, or waits for a disk, is through by then and told of as a slow run; and somebody who goes to look why nothing moves finds the line in the log already.
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    // The system's timers are inexact by some 15 ms. Two ticks that a pause of the machine has brought together are further from a period than this.
    private static readonly TimeSpan ShortestPeriod = Period * 0.9;

    private readonly Lock _gate = new();
    private readonly ShardSet _shards;
    private readonly IShardObserver _observer;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly Dictionary<ShardLoop, Sighting> _seen = [];
    private int _isTicking;

    public ShardWatchdog(ShardSet shards, IShardObserver observer, TimeProvider time)
    {
        _shards = shards;
        _observer = observer;
        _time = time;

        // As the shards' own timers: nothing of who made the context is to be kept alive.
        _timer = DefaultContext.Run(() => time.CreateTimer(static state => ((ShardWatchdog)state!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
    }

    /// <summary>There is a connection, which is counted already. Any thread.</summary>
    public void Start()
    {
        Interlocked.MemoryBarrier(); // The count before the look: a tick that stops does it the other way round, so one of the two sees the other.
        if (Volatile.Read(ref _isTicking) == 0 && Interlocked.Exchange(ref _isTicking, 1) == 0)
        {
            _timer.Change(Period, Period);
        }
    }

    public void Dispose() => _timer.Dispose();

    private bool IsNeeded => _shards.All.Any(static shard => shard.IsBusy || Volatile.Read(ref shard.Counters.Connections) > 0);

    private void Tick()
    {
        foreach ((ShardLoop shard, ShardWork work, TimeSpan elapsed) in Check())
        {
            try
            {
                _observer.OnBlockedRun(shard, work.Describe(), elapsed);
            }
            catch (Exception)
            {
                // What an observer's log does must not end the process, as it would from here.
            }
        }

        if (!IsNeeded)
        {
            _timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
            Interlocked.Exchange(ref _isTicking, 0);
            if (IsNeeded)
            {
                Start();
            }
        }
    }

    /// <summary>Those that are in the same work as at the last tick, once for each such work.</summary>
    private List<(ShardLoop Shard, ShardWork Work, TimeSpan Elapsed)> Check()
    {
        List<(ShardLoop, ShardWork, TimeSpan)> held = [];
        lock (_gate) // A tick may come before the last one is through with the log.
        {
            foreach (ShardLoop shard in _shards.All)
            {
                long number = shard.RunningWork(out ShardWork? work);
                ref Sighting last = ref CollectionsMarshal.GetValueRefOrAddDefault(_seen, shard, out _);
                if (work is null || last.Number != number)
                {
                    last = new Sighting(number, _time.GetTimestamp(), IsReported: false);
                    continue;
                }

                TimeSpan elapsed = _time.GetElapsedTime(last.At);
                if (!last.IsReported && elapsed >= ShortestPeriod)
                {
                    last = last with { IsReported = true };
                    held.Add((shard, work, elapsed));
                }
            }
        }

        return held;
    }

    /// <summary>The work that a shard was in at a tick; number 0: in none.</summary>
    private readonly record struct Sighting(long Number, long At, bool IsReported);
}
