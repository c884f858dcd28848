using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// Work for a shard, in the shard's queue at most once, however often it is posted. A post sets bits in <see cref="Pending"/>; the post
/// that finds 0 enqueues.
/// </summary>
internal abstract class ShardWork
{
    internal int Pending;

    internal ShardWork? NextReady;

    internal abstract void Run(int reasons);

    /// <summary>By default the code that <see cref="Run"/> called observes the exception, and the shard continues.</summary>
    internal virtual void OnFault(Exception exception)
    {
    }

    internal abstract string Describe();
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

internal sealed class ShardCallback : ShardWork
{
    // Enough for each pipe of a busy process; more are left to the collector.
    private const int MaxKept = 1024;

    private static readonly ObjectCache<ShardCallback> Cache = new(MaxKept);
    private Action<object?>? _action;
    private object? _state;

    public static ShardCallback Rent(Action<object?> action, object? state)
    {
        ShardCallback callback = Cache.Rent();
        callback._action = action;
        callback._state = state;
        return callback;
    }

    internal override void Run(int reasons)
    {
        Action<object?> action = _action!;
        object? state = _state;
        _action = null;
        _state = null;
        Cache.Return(this);
        action(state);
    }

    internal override string Describe() => "a callback of a pipe";
}
