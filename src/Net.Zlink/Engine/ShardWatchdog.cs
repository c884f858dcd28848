using System.Buffers.Text;
using System.Diagnostics;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
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

/// <summary>How long one thread could have run and had no processor, as Linux counts it; elsewhere always zero. By a clock alone a machine
/// without processor time looks like a handler that blocks.</summary>
/// <remarks>Samples are taken by its thread, one in 200 ms at most: each is a system call. Any thread may read the sum.</remarks>
/// <param name="total">All such time of the thread so far.</param>
internal sealed class ProcessorWait(Func<TimeSpan> total)
{
    // The older of two samples reaches back for as long at least: a late start is one of 200 ms.
    private static readonly long Spacing = Stopwatch.Frequency / 5;

    private static readonly bool IsCounted = File.Exists("/proc/thread-self/schedstat");

    [ThreadStatic]
    private static ProcessorWait? t_current;

    private (long At, TimeSpan Total) _older; // At first the thread's beginning, at which it had not waited yet.
    private (long At, TimeSpan Total) _newer;

    /// <summary>That of the present thread; null: none was needed yet, or the system does not count.</summary>
    public static ProcessorWait? OfThread
    {
        get => t_current;
        set => t_current = value;
    }

    /// <summary>What the thread's wait is measured from. Costs a comparison but for one call in 200 ms.</summary>
    /// <returns>That of the thread; null: the system does not count.</returns>
    public static ProcessorWait? Begin(long now)
    {
        ProcessorWait? current = t_current;
        if (current is null)
        {
            if (!IsCounted)
            {
                return null;
            }

            t_current = current = new ProcessorWait(OpenOfThread());
        }

        if (now - current._newer.At > Spacing)
        {
            current._older = current._newer;
            current._newer = (now, current.Total);
        }

        return current;
    }

    public TimeSpan Total => total();

    /// <summary>How long the thread waited since a moment, or since the sample before it.</summary>
    /// <param name="moment">By Stopwatch.</param>
    public TimeSpan Since(long moment) => total() - (_newer.At <= moment ? _newer : _older).Total;

    /// <summary>The file is that of the thread that opens it; any thread may read it.</summary>
    private static Func<TimeSpan> OpenOfThread()
    {
        try
        {
            SafeFileHandle file = File.OpenHandle("/proc/thread-self/schedstat", share: FileShare.ReadWrite);
            return () => Read(file);
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return static () => TimeSpan.Zero;
        }
    }

    /// <summary>Three numbers: nanoseconds on a processor, nanoseconds of waiting for one, and turns.</summary>
    private static TimeSpan Read(SafeFileHandle file)
    {
        Span<byte> text = stackalloc byte[80];
        try
        {
            text = text[..RandomAccess.Read(file, text, fileOffset: 0)];
        }
        catch (IOException)
        {
            return TimeSpan.Zero; // The thread has ended.
        }

        text = text[(text.IndexOf((byte)' ') + 1)..];
        return Utf8Parser.TryParse(text, out long nanoseconds, out _)
            ? TimeSpan.FromTicks(nanoseconds / TimeSpan.NanosecondsPerTick) : TimeSpan.Zero;
    }
}
