using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>
/// A serial executor: a multi-producer queue of work, and at most one thread that runs it. It owns no thread. A socket completion runs at
/// once on the completing thread if the shard is idle, and is queued otherwise.
/// </summary>
internal sealed class ShardLoop : IThreadPoolWorkItem
{
    // 256 works of one read each are at most 16 MiB of input. 2 ms is no more than a time slice for other items of the thread pool.
    private const int MaxWorksPerTurn = 256;
    internal static readonly long MaxTicksPerTurn = Stopwatch.Frequency * 2 / 1000;

    // A read causes one flush as a rule, so 4 to 1 suffices. With 64, reads were so uneven that an echo's p99 was 15 % higher and its rate
    // 5 % lower (docs/benchmarks/log.md, "fairness").
    private const int MaxUrgentInRow = 4;

    private static readonly long SlowRunTicks = Stopwatch.Frequency * 50 / 1000;

    private static readonly long LateRunTicks = Stopwatch.Frequency * 200 / 1000;

    [ThreadStatic]
    private static ShardLoop? t_current;

    private const int MaxFlushesPerHelp = 64;

    private const int Idle = 0;
    private const int Scheduled = 1;
    private const int Running = 2;

    /// <summary>What a thread does that found the shard idle.</summary>
    private enum Entry
    {
        Turn,
        OneWork,
        Help,
    }

    private readonly IShardObserver _observer;
    private readonly TimeProvider? _clock;
    private int _state;
    private int _queuedToPool;
    private WorkQueue _urgent;
    private WorkQueue _normal;
    private int _urgentInRow;
    private long _scheduledAt;
    private long _now;
    private ShardWork? _running;
    private ProcessorWait? _wait;
    private (Entry Entry, ShardWork? Work, int Reasons) _entered;

    public ShardLoop(int index, IShardObserver observer, TimeProvider time, ReceiveSlab slab)
    {
        Index = index;
        ReceiveSlab = slab;
        _observer = observer;
        _clock = ReferenceEquals(time, TimeProvider.System) ? null : time;
        _now = Stopwatch.GetTimestamp();
        Timers = new ShardTimers(this, time);
        Weak = new WeakReference<ShardLoop>(this);
    }

    /// <summary>Blocking there would stop what the wait is for.</summary>
    public static ShardLoop? Current => t_current;

    public int Index { get; }

    public WeakReference<ShardLoop> Weak { get; }

    public ShardTimers Timers { get; }

    public ReceiveSlab ReceiveSlab { get; }

    public List<ArraySegment<byte>> Pieces { get; } = [];

    public ShardCounters Counters { get; } = new();

    public ShardWatchdog? Watchdog { get; init; }

    /// <summary>Where a turn waits for a thread. Null: in the thread pool. Tests run turns themselves.</summary>
    public Action<IThreadPoolWorkItem>? Queue { get; set; }

    /// <summary>On the system's clock it is the current work's start, which costs nothing.</summary>
    public long Now => _clock is null ? _now : _clock.GetTimestamp();

    public bool IsBusy => Volatile.Read(ref _state) != Idle || HasPosted;

    /// <summary>A sender's thread flushes: nothing may be called that reaches a handler.</summary>
    public bool IsHelped { get; private set; }

    public int QueueDepth => _urgent.Count + _normal.Count;

    /// <summary>The waits of the thread that runs it now, or was the last; null: they are not known.</summary>
    public ProcessorWait? Wait => Volatile.Read(ref _wait);

    /// <summary>The running work item, approximately: an equal number means the same item, still running.</summary>
    public long RunningWork(out ShardWork? work)
    {
        long number = Volatile.Read(ref Counters.Works);
        work = Volatile.Read(ref _running);
        return work is null ? 0 : number;
    }

    /// <summary>Never runs on the caller's stack.</summary>
    public void Post(ShardWork work, int reasons)
    {
        _normal.Push(work, reasons);
        Wake();
    }

    /// <summary>An item that is queued already keeps its position.</summary>
    public void PostUrgent(ShardWork work, int reasons)
    {
        _urgent.Push(work, reasons);
        Wake();
    }

    public void RunOrPost(ShardWork work, int reasons)
    {
        if (TryEnter())
        {
            RunEntered(Entry.Turn, work, reasons);
        }
        else
        {
            Post(work, reasons);
        }
    }

    public void Help()
    {
        Debug.Assert(!DeferredDisposal.IsDeferred, "A flush takes the locks of waiting senders: its caller may hold none.");
        if (_urgent.HasWork && TryEnter())
        {
            RunEntered(Entry.Help, null, 0);
        }
    }

    /// <summary>The flush of the caller's own connection, before what waits. Nothing, if another thread runs the shard.</summary>
    public void TryFlush(ShardWork writer, int reasons)
    {
        if (TryEnter())
        {
            RunEntered(Entry.Help, writer, reasons);
        }
    }

    public bool TryRunNow(ShardWork work, int reasons)
    {
        if (Volatile.Read(ref _state) != Idle || !TryEnter())
        {
            return false;
        }

        RunEntered(Entry.OneWork, work, reasons);
        return true;
    }

    void IThreadPoolWorkItem.Execute()
    {
        long scheduledAt = _scheduledAt;
        Volatile.Write(ref _queuedToPool, 0); // Before the state is read: later requests queue anew.
        if (Interlocked.CompareExchange(ref _state, Running, Scheduled) != Scheduled)
        {
            return;
        }

        long start = Stopwatch.GetTimestamp();
        long delay = start - scheduledAt;
        t_current = this;
        BeginTurn(start);
        Counters.RecordDelay(delay);
        if (delay > LateRunTicks)
        {
            Counters.LateRuns++;
            if (_wait is null || _wait.Since(scheduledAt) < ShardCounters.ToTime(delay) / 2) // Else the machine was short of processors.
            {
                CountFaults(static (shard, ticks) => shard._observer.OnLateRun(shard, ShardCounters.ToTime(ticks)), delay);
            }
        }

        RunTurn(start, start, 0);
        t_current = null;
    }

    private bool HasWork => _urgent.HasWork || _normal.HasWork;

    private bool HasPosted => _urgent.HasPosted || _normal.HasPosted;

    private void Wake()
    {
        if (Interlocked.CompareExchange(ref _state, Scheduled, Idle) == Idle)
        {
            Watchdog?.Start();
            QueueToPool();
        }
    }

    private bool TryEnter()
    {
        if (Interlocked.CompareExchange(ref _state, Running, Idle) == Idle)
        {
            Watchdog?.Start();
            return true;
        }

        return Interlocked.CompareExchange(ref _state, Running, Scheduled) == Scheduled;
    }

    private void Leave()
    {
        if (HasWork)
        {
            Volatile.Write(ref _state, Scheduled);
            QueueToPool();
            return;
        }

        Volatile.Write(ref _state, Idle);
        Interlocked.MemoryBarrier();
        if (HasPosted)
        {
            Wake();
        }
    }

    private void QueueToPool()
    {
        // At most one entry in the pool's queue: otherwise helping senders would add one per call while the pool is starved.
        if (Interlocked.Exchange(ref _queuedToPool, 1) == 0)
        {
            _scheduledAt = Stopwatch.GetTimestamp();
            if (Queue is { } queue)
            {
                queue(this);
            }
            else
            {
                ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
            }
        }
    }

    private void RunEntered(Entry entry, ShardWork? work, int reasons)
    {
        _entered = (entry, work, reasons);
        if (DefaultContext.IsCurrent)
        {
            RunHere();
        }
        else
        {
            DefaultContext.Run(static shard => ((ShardLoop)shard!).RunHere(), this);
        }
    }

    private void RunHere()
    {
        (Entry entry, ShardWork? work, int reasons) = _entered;
        _entered = default;
        ShardLoop? outer = t_current;
        t_current = this;
        long start = Stopwatch.GetTimestamp();
        BeginTurn(start);
        if (entry == Entry.Turn)
        {
            Counters.RunsInPlace++;
            RunTurn(start, RunOne(work!, reasons, start), 1);
        }
        else
        {
            int works = 1;
            IsHelped = entry == Entry.Help;
            long end = work is null ? RunFlushes(start, out works) : RunOne(work, reasons, start);
            IsHelped = false;
            Counters.Helps++;
            EndTurn(end - start, works);
            Leave();
        }

        t_current = outer;
    }

    private long RunFlushes(long start, out int works)
    {
        long now = start;
        works = 0;
        while (works < MaxFlushesPerHelp && now <= start + MaxTicksPerTurn && _urgent.Dequeue() is { } work)
        {
            now = RunOne(work, Interlocked.Exchange(ref work.Pending, 0), now);
            works++;
        }

        return now;
    }

    private void RunTurn(long start, long now, int works)
    {
        long end = start + MaxTicksPerTurn;
        int left = MaxWorksPerTurn - works;
        while (true)
        {
            ShardWork? work = DequeueNext();
            if (work is null)
            {
                EndTurn(now - start, works);
                Volatile.Write(ref _state, Idle);
                Interlocked.MemoryBarrier();
                if (!HasPosted || !TryEnter())
                {
                    return;
                }

                // Another thread may have run the shard meanwhile: its time is not this turn's.
                start = now = Stopwatch.GetTimestamp();
                BeginTurn(start);
                works = 0;
                continue;
            }

            int reasons = Interlocked.Exchange(ref work.Pending, 0);
            now = RunOne(work, reasons, now);
            works++;
            if (--left <= 0 || now > end)
            {
                EndTurn(now - start, works);
                Leave();
                return;
            }
        }
    }

    private long RunOne(ShardWork work, int reasons, long start)
    {
        _now = start;
        _running = work;
        Counters.Works++;
        try
        {
            work.Run(reasons);
        }
        catch (Exception exception)
        {
            Counters.Faults++;
            CountFaults(static (_, fault) => fault.Work.OnFault(fault.Exception), (Work: work, Exception: exception));
        }

        long end = Stopwatch.GetTimestamp();
        if (end - start > SlowRunTicks && HeldTicks(start, end) > SlowRunTicks)
        {
            CountFaults(
                static (shard, slow) => shard._observer.OnSlowRun(shard, slow.Work.Describe(), ShardCounters.ToTime(slow.Ticks)),
                (Work: work, Ticks: end - start));
        }

        DefaultContext.Restore();
        return end;
    }

    private void BeginTurn(long at)
    {
        Counters.BeginTurn(at);
        Volatile.Write(ref _wait, ProcessorWait.Begin(at));
    }

    /// <summary>How long it ran, without the time for which its thread had no processor.</summary>
    private long HeldTicks(long start, long end) =>
        end - start - (long)((_wait?.Since(start).TotalSeconds ?? 0) * Stopwatch.Frequency);

    private void EndTurn(long ticks, int works)
    {
        _running = null;
        Counters.RecordTurn(ticks, works);
    }

    private ShardWork? DequeueNext()
    {
        ShardWork? work = _urgentInRow < MaxUrgentInRow ? _urgent.Dequeue() : null;
        if (work is not null)
        {
            _urgentInRow++;
            return work;
        }

        _urgentInRow = 0;
        return _normal.Dequeue() ?? _urgent.Dequeue();
    }

    private void CountFaults<T>(Action<ShardLoop, T> action, T state)
    {
        try
        {
            action(this, state);
        }
        catch (Exception)
        {
            Counters.Faults++;
        }
    }
}

/// <summary>Lock-free, intrusive, without allocations.</summary>
internal struct WorkQueue
{
    private ShardWork? _posted;
    private ShardWork? _dequeued;
    private int _dequeuedCount;

    public readonly bool HasPosted => Volatile.Read(in _posted) is not null;

    public readonly bool HasWork => HasPosted || Volatile.Read(in _dequeued) is not null;

    public void Push(ShardWork work, int reasons)
    {
        if (Interlocked.Or(ref work.Pending, reasons) != 0)
        {
            return;
        }

        ShardWork? head = Volatile.Read(ref _posted);
        while (true)
        {
            work.NextReady = head;
            ShardWork? seen = Interlocked.CompareExchange(ref _posted, work, head);
            if (ReferenceEquals(seen, head))
            {
                return;
            }

            head = seen;
        }
    }

    /// <summary>Read its reasons afterwards: from then on it may be pushed again.</summary>
    public ShardWork? Dequeue()
    {
        ShardWork? first = _dequeued;
        if (first is null)
        {
            if (Volatile.Read(ref _posted) is null)
            {
                return null;
            }

            ShardWork? newest = Interlocked.Exchange(ref _posted, null);
            int taken = 0;
            while (newest is not null)
            {
                taken++;
                ShardWork? older = newest.NextReady;
                newest.NextReady = first;
                first = newest;
                newest = older;
            }

            Volatile.Write(ref _dequeuedCount, taken);
        }

        _dequeued = first!.NextReady;
        first.NextReady = null;
        Volatile.Write(ref _dequeuedCount, _dequeuedCount - 1);
        return first;
    }

    public readonly int Count
    {
        get
        {
            const int MaxWalked = 1_000_000;
            int posted = 0;
            ShardWork? work = Volatile.Read(in _posted);
            for (; work is not null && posted < MaxWalked; work = Volatile.Read(ref work.NextReady))
            {
                posted++;
            }

            return posted + Volatile.Read(in _dequeuedCount);
        }
    }
}
