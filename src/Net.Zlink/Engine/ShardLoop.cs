using System.Diagnostics;
using System.IO.Pipelines;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>A serial executor: a multi-producer queue of ready work and at most one thread that runs it at any time.</summary>
/// <remarks>
/// It owns no thread. A socket completion that finds the shard idle runs on the spot, on the completing thread; one that finds it busy
/// enqueues and returns. Everything a connection's protocol state needs is touched only here, so that code has no locks. A turn is bounded, then
/// the shard goes to the back of the thread pool's queue. See docs/architecture.md, "Shards".
/// <para>Every work begins in the <see cref="DefaultContext"/>, whoever brought the turn and whatever ran before: no peer's handler sees the AsyncLocals of another one's, or of a caller.</para>
/// </remarks>
internal sealed class ShardLoop : PipeScheduler, IThreadPoolWorkItem
{
    // A turn ends after so many works or so much time. 256 works of one read each are at most 16 MiB of socket data; 2 ms keeps the
    // pool's other work items (and the other shards, where there are fewer threads than shards) from waiting longer than a time slice.
    private const int MaxWorksPerTurn = 256;
    internal static readonly long MaxTicksPerTurn = Stopwatch.Frequency * 2 / 1000;

    // Senders that never pause could fill every turn with flushes; after so many in a row one normal work runs, so reads and closes never stand still. A read brings one flush as a rule, so 4 for 1
    // still work off what piles up; with 64, connections waited so unevenly for their reads that an echo's p99 was 15 % higher and its rate 5 % lower (docs/benchmarks/log.md, "fairness").
    private const int MaxUrgentInRow = 4;

    // A single work that holds its shard longer than this stalls every connection of the shard: it is reported by name.
    private static readonly long SlowRunTicks = Stopwatch.Frequency * 50 / 1000;

    // The pool should start a turn within microseconds; this much later it is starved, by blocked threads as a rule.
    private static readonly long LateRunTicks = Stopwatch.Frequency * 200 / 1000;

    [ThreadStatic]
    private static ShardLoop? t_current;

    // A sender that helps writes out at most so many peers' bursts: about what it has just answered, and never long enough to matter to it.
    private const int MaxFlushesPerHelp = 64;

    private const int Idle = 0;
    private const int Scheduled = 1;
    private const int Running = 2;

    private readonly IShardObserver _observer;
    private readonly TimeProvider? _clock; // Null: the system's, whose timestamps are the Stopwatch's.
    private int _state;
    private int _queuedToPool;
    private WorkQueue _urgent;
    private WorkQueue _normal;
    private int _urgentInRow;
    private long _scheduledAt;
    private long _now;
    private ShardWork? _running; // Of the turn in progress: its last work, which runs now or has just ended.
    private ShardWork? _brought; // By a thread in a context of its own, on its way through the switch to ours. Touched by who holds the shard.
    private int _broughtReasons;

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

    /// <summary>The shard that the calling thread runs, or null: blocking there would stop what the wait is for.</summary>
    public static ShardLoop? Current => t_current;

    public int Index { get; }

    /// <summary>For those who only remember it (<see cref="CallerFlush"/>).</summary>
    public WeakReference<ShardLoop> Weak { get; }

    public ShardTimers Timers { get; }

    /// <summary>Where this shard's connections read into: touched only on the shard.</summary>
    public ReceiveSlab ReceiveSlab { get; }

    /// <summary>What goes out in one write, for the length of that write: touched only on the shard.</summary>
    public List<ArraySegment<byte>> Pieces { get; } = [];

    public ShardCounters Counters { get; } = new();

    /// <summary>Looks after this shard from its first connection on.</summary>
    public ShardWatchdog? Watchdog { get; init; }

    /// <summary>A timestamp of the context's clock for activity marks. On the system's clock it is that of the current or last work's start: good enough, and free. Another one is asked.</summary>
    public long Now => _clock is null ? _now : _clock.GetTimestamp();

    /// <summary>True while a thread runs this shard or one has been asked to.</summary>
    public bool IsBusy => Volatile.Read(ref _state) != Idle || HasPosted;

    /// <summary>True while a sender's thread writes out flushes for the shard: nothing may then be called that could reach a handler.</summary>
    public bool IsHelped { get; private set; }

    /// <summary>Works waiting now. Counts by walking the queue: for statistics, and approximate while others post.</summary>
    public int QueueDepth => _urgent.Count + _normal.Count;

    /// <summary>The work that runs now, as far as that can be said from outside: the same number twice is one that has not ended in between.</summary>
    /// <param name="work">The work; null: none runs.</param>
    /// <returns>Which of all the works that the shard has begun it is; 0: none runs.</returns>
    public long RunningWork(out ShardWork? work)
    {
        long number = Volatile.Read(ref Counters.Works);
        work = Volatile.Read(ref _running);
        return work is null ? 0 : number;
    }

    /// <summary>Asks for <paramref name="work"/> to run on this shard, from any thread. Never runs it on the caller's stack.</summary>
    public void Post(ShardWork work, int reasons)
    {
        _normal.Push(work, reasons);
        Wake();
    }

    /// <summary>As <see cref="Post"/>, but before all that was posted normally. A work that is queued already stays where it is.</summary>
    public void PostUrgent(ShardWork work, int reasons)
    {
        _urgent.Push(work, reasons);
        Wake();
    }

    /// <summary>Reports a completion. Runs <paramref name="work"/> at once, here, if the shard is idle; otherwise enqueues it.</summary>
    public void RunOrPost(ShardWork work, int reasons)
    {
        if (!TryEnter())
        {
            Post(work, reasons);
        }
        else if (DefaultContext.IsCurrent)
        {
            RunTurnWith(work, reasons);
        }
        else
        {
            (_brought, _broughtReasons) = (work, reasons);
            DefaultContext.Run(static shard => ((ShardLoop)shard!).RunTurnWith(((ShardLoop)shard).DequeueSignalled(out int reasons), reasons), this);
        }
    }

    /// <inheritdoc/>
    public override void Schedule(Action<object?> action, object? state) => Post(ShardCallback.Rent(action, state), 1);

    /// <summary>
    /// Lets a sender's thread write out what it has just queued, if no thread is running this shard: flushes only. What it answers then leaves at once, and a consumer that is
    /// faster than the pool wakes up cannot pile up answers.
    /// </summary>
    public void Help()
    {
        Debug.Assert(!DeferredDisposal.IsDeferred, "A flush makes room, and who waits for that room has a lock: no caller may hold one.");
        if (!_urgent.HasWork || !TryEnter())
        {
            return;
        }

        if (DefaultContext.IsCurrent)
        {
            FlushHere();
        }
        else
        {
            DefaultContext.Run(static shard => ((ShardLoop)shard!).FlushHere(), this);
        }
    }

    /// <summary>
    /// Runs one work here and now, on a thread of the application, if no thread is running this shard: a blocking receiver looks for what its peer has just sent,
    /// instead of waiting for three threads to tell each other. Nothing else of the shard's work is done.
    /// </summary>
    public bool TryRunNow(ShardWork work, int reasons)
    {
        if (Volatile.Read(ref _state) != Idle || !TryEnter())
        {
            return false;
        }

        if (DefaultContext.IsCurrent)
        {
            RunAlone(work, reasons);
        }
        else
        {
            (_brought, _broughtReasons) = (work, reasons);
            DefaultContext.Run(static shard => ((ShardLoop)shard!).RunAlone(((ShardLoop)shard).DequeueSignalled(out int reasons), reasons), this);
        }

        return true;
    }

    void IThreadPoolWorkItem.Execute()
    {
        long scheduledAt = _scheduledAt;
        Volatile.Write(ref _queuedToPool, 0); // Before the state is looked at: whoever schedules from here on queues anew.
        if (Interlocked.CompareExchange(ref _state, Running, Scheduled) != Scheduled)
        {
            return; // A completion or a sender was here first; whoever it was leaves nothing behind.
        }

        long start = Stopwatch.GetTimestamp();
        long delay = start - scheduledAt;
        t_current = this;
        Counters.BeginTurn(start);
        Counters.RecordDelay(delay);
        if (delay > LateRunTicks)
        {
            Counters.LateRuns++;
            Report(static (shard, _, ticks) => shard._observer.OnLateRun(shard, ShardCounters.ToTime(ticks)), null, delay);
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
            QueueToPool();
        }
    }

    /// <summary>Takes the shard if no thread runs it; one that the pool has been asked for finds it taken, or done.</summary>
    private bool TryEnter() =>
        Interlocked.CompareExchange(ref _state, Running, Idle) == Idle || Interlocked.CompareExchange(ref _state, Running, Scheduled) == Scheduled;

    /// <summary>Gives the shard back; the pool goes on with what is left.</summary>
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
        // At most one entry in the pool's queue: while the pool is starved, senders that help would put in another one each time they leave. The one that
        // is there has not looked at the state yet, and the delay counts from when it was put in.
        if (Interlocked.Exchange(ref _queuedToPool, 1) == 0)
        {
            _scheduledAt = Stopwatch.GetTimestamp();
            System.Threading.ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        }
    }

    private void RunAlone(ShardWork work, int reasons)
    {
        ShardLoop? outer = t_current;
        t_current = this;
        long start = Stopwatch.GetTimestamp();
        Counters.BeginTurn(start);
        long end = RunOne(work, reasons, start);
        t_current = outer;
        Counters.Helps++;
        EndTurn(end - start, 1);
        Leave();
    }

    private ShardWork DequeueSignalled(out int reasons)
    {
        ShardWork work = _brought!;
        _brought = null;
        reasons = _broughtReasons;
        return work;
    }

    private void FlushHere()
    {
        ShardLoop? outer = t_current;
        t_current = this;
        IsHelped = true;
        long start = Stopwatch.GetTimestamp();
        Counters.BeginTurn(start);
        long now = start;
        int works = 0;
        while (works < MaxFlushesPerHelp && now <= start + MaxTicksPerTurn && _urgent.DequeueAll() is { } work)
        {
            now = RunOne(work, Interlocked.Exchange(ref work.Pending, 0), now);
            works++;
        }

        IsHelped = false;
        t_current = outer;
        Counters.Helps++;
        EndTurn(now - start, works);
        Leave();
    }

    private void RunTurnWith(ShardWork work, int reasons)
    {
        long start = Stopwatch.GetTimestamp();
        ShardLoop? outer = t_current;
        t_current = this;
        Counters.BeginTurn(start);
        Counters.RunsInPlace++;
        long end = RunOne(work, reasons, start);
        RunTurn(start, end, 1);
        t_current = outer;
    }

    /// <summary>Runs queued work until there is none or the turn is used up. The caller holds the shard (state Running).</summary>
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

                // Another thread may have run the shard in between: its time is neither this turn's nor the next work's. This thread's bounds go on.
                start = now = Stopwatch.GetTimestamp();
                Counters.BeginTurn(start);
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
            Fault(work, exception);
        }

        long end = Stopwatch.GetTimestamp();
        if (end - start > SlowRunTicks)
        {
            Report(static (shard, slow, ticks) => shard._observer.OnSlowRun(shard, slow!.Describe(), ShardCounters.ToTime(ticks)), work, end - start);
        }

        DefaultContext.Restore();
        return end;
    }

    private void EndTurn(long ticks, int works)
    {
        _running = null; // Nothing that is over is kept alive by an idle shard.
        Counters.RecordTurn(ticks, works);
    }

    private ShardWork? DequeueNext()
    {
        ShardWork? work = _urgentInRow < MaxUrgentInRow ? _urgent.DequeueAll() : null;
        if (work is not null)
        {
            _urgentInRow++;
            return work;
        }

        _urgentInRow = 0;
        return _normal.DequeueAll() ?? _urgent.DequeueAll();
    }

    private void Report(Action<ShardLoop, ShardWork?, long> report, ShardWork? work, long ticks)
    {
        try
        {
            report(this, work, ticks);
        }
        catch (Exception)
        {
            Counters.Faults++; // As in Fault: what the observer's log does must not stop the shard.
        }
    }

    private void Fault(ShardWork work, Exception exception)
    {
        try
        {
            work.OnFault(exception);
        }
        catch (Exception)
        {
            // Even its way out failed. Letting this go on would stop every connection of the shard, or the process.
            Counters.Faults++;
        }
    }
}
