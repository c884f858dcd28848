using System.Runtime.InteropServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>Reports a shard that is blocked in a work item, such as a handler that never returns.</summary>
/// <remarks>It ticks while a shard has work: connections at rest wake nothing. It compares the shards' counters.</remarks>
internal sealed class ShardWatchdog : IDisposable
{
    // Slow computations and disks are done by then, and reported as slow runs. The log has the entry before a user looks for the cause.
    public static readonly TimeSpan Period = TimeSpan.FromSeconds(1);

    // System timers are inexact by about 15 ms. Ticks that a suspension brought together differ from the period by more.
    private static readonly TimeSpan ShortestPeriod = Period * 0.9;

    private readonly Lock _gate = new();
    private readonly ShardSet _shards;
    private readonly IShardObserver _observer;
    private readonly TimeProvider _time;
    private readonly ITimer _timer;
    private readonly Dictionary<ShardLoop, Observation> _seen = [];
    private int _isTicking;

    public ShardWatchdog(ShardSet shards, IShardObserver observer, TimeProvider time)
    {
        _shards = shards;
        _observer = observer;
        _time = time;

        // As ShardTimers.
        _timer = DefaultContext.Run(() => time.CreateTimer(
            static state => ((ShardWatchdog)state!).Tick(), this, Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan));
    }

    public void Start()
    {
        // The shard's state, then the flag; a stopping tick reads them in the other order, so one of the two sees the other.
        if (Volatile.Read(ref _isTicking) == 0 && Interlocked.Exchange(ref _isTicking, 1) == 0)
        {
            _timer.Change(Period, Period);
        }
    }

    public void Dispose() => _timer.Dispose();

    private bool IsNeeded => _shards.All.Any(static shard => shard.IsBusy);

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
                // From here an exception of the observer's log would end the process.
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

    private List<(ShardLoop Shard, ShardWork Work, TimeSpan Elapsed)> Check()
    {
        List<(ShardLoop, ShardWork, TimeSpan)> held = [];
        lock (_gate) // Ticks may overlap.
        {
            foreach (ShardLoop shard in _shards.All)
            {
                long number = shard.RunningWork(out ShardWork? work);
                ref Observation last = ref CollectionsMarshal.GetValueRefOrAddDefault(_seen, shard, out _);
                if (work is null || last.Number != number)
                {
                    last = new Observation(number, _time.GetTimestamp(), WaitOf(shard), IsReported: false);
                    continue;
                }

                TimeSpan elapsed = _time.GetElapsedTime(last.At);
                if (!last.IsReported && elapsed - (WaitOf(shard) - last.Waited) >= ShortestPeriod)
                {
                    last = last with { IsReported = true };
                    held.Add((shard, work, elapsed));
                }
            }
        }

        return held;
    }

    private static TimeSpan WaitOf(ShardLoop shard) => shard.Wait?.Total ?? TimeSpan.Zero;

    /// <param name="Number">Of the work.</param>
    /// <param name="At">When it was seen first.</param>
    /// <param name="Waited">How long its thread had waited for a processor until then.</param>
    /// <param name="IsReported">It was reported.</param>
    private readonly record struct Observation(long Number, long At, TimeSpan Waited, bool IsReported);
}

/// <summary>Receives a shard's warnings. Must return at once and never throw.</summary>
internal interface IShardObserver
{
    void OnSlowRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnBlockedRun(ShardLoop shard, string work, TimeSpan elapsed);

    void OnLateRun(ShardLoop shard, TimeSpan delay);
}
