using System.Threading.Tasks.Sources;

namespace Net.Zlink.Engine;

internal interface IWaiterList
{
    bool TryRemove(WaiterNode waiter);
}

internal abstract class WaiterNode
{
    /// <summary>How many a socket keeps for reuse: rarely do more threads wait on it. A waiter takes about 150 bytes.</summary>
    public const int MaxKept = 64;

    internal WaiterNode? Previous;
    internal WaiterNode? Next;
    internal bool IsQueued;
}

/// <summary>Under the owner's lock; never copy it. A struct, so that checking an empty list costs no cache line.</summary>
internal struct WaiterList<TWaiter>
    where TWaiter : WaiterNode
{
    private WaiterNode? _first;
    private WaiterNode? _last;

    public readonly bool IsEmpty => _first is null;

    public readonly TWaiter? First => (TWaiter?)_first;

    public void Add(TWaiter waiter)
    {
        waiter.Previous = _last;
        waiter.Next = null;
        waiter.IsQueued = true;
        if (_last is null)
        {
            _first = waiter;
        }
        else
        {
            _last.Next = waiter;
        }

        _last = waiter;
    }

    public bool Remove(WaiterNode waiter)
    {
        if (!waiter.IsQueued)
        {
            return false;
        }

        if (waiter.Previous is null)
        {
            _first = waiter.Next;
        }
        else
        {
            waiter.Previous.Next = waiter.Next;
        }

        if (waiter.Next is null)
        {
            _last = waiter.Previous;
        }
        else
        {
            waiter.Next.Previous = waiter.Previous;
        }

        waiter.Previous = null;
        waiter.Next = null;
        waiter.IsQueued = false;
        return true;
    }

    public TWaiter? RemoveAll()
    {
        TWaiter? all = First;
        for (WaiterNode? waiter = all; waiter is not null; waiter = waiter.Next)
        {
            waiter.Previous = null;
            waiter.IsQueued = false;
        }

        _first = null;
        _last = null;
        return all;
    }
}

/// <summary>
/// A waiter is reused only if its cancellation callback cannot run any more. A captured SynchronizationContext that throws (a UI loop that
/// ended) must not affect the completing thread, which has others to complete: such a continuation goes to the thread pool.
/// </summary>
internal class Waiter<T> : WaiterNode, IValueTaskSource<T>, IValueTaskSource
{
    private ManualResetValueTaskSourceCore<T> _core;
    private CancellationTokenRegistration _registration;
    private CancellationToken _token;
    private IWaiterList? _list;
    private Action<Waiter<T>>? _recycle;
    private Action<object?>? _posted;
    private object? _postedState;

    public short Version => _core.Version;

    public void Prepare(IWaiterList list, Action<Waiter<T>>? recycle, bool blocking)
    {
        _core.Reset();
        _core.RunContinuationsAsynchronously = !blocking;
        _list = list;
        _recycle = recycle;
        _token = default;
        _registration = default;
        if (blocking)
        {
            BlockingWait.Arm(this);
        }
    }

    public void CancelWith(CancellationToken token)
    {
        if (token.CanBeCanceled)
        {
            _token = token;
            _registration = token.UnsafeRegister(static state => ((Waiter<T>)state!).OnCancelled(), this);
        }
    }

    /// <summary><paramref name="here"/>: Its continuation runs before this returns.</summary>
    public void Complete(T result, bool here = false)
    {
        _core.RunContinuationsAsynchronously &= !here;
        try
        {
            _core.SetResult(result);
        }
        catch (Exception) when (_posted is not null)
        {
            ContinueOnPool();
        }
    }

    public void Fail(Exception exception)
    {
        try
        {
            _core.SetException(exception);
        }
        catch (Exception) when (_posted is not null)
        {
            ContinueOnPool();
        }
    }

    public T GetResult(short token)
    {
        // A second read must not recycle the waiter twice: two waits would share it.
        if (GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The result was read before the wait ended: await it.");
        }

        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset();
            if (!_token.CanBeCanceled || _registration.Unregister())
            {
                Clear();
                _recycle?.Invoke(this);
            }
        }
    }

    void IValueTaskSource.GetResult(short token) => GetResult(token);

    public ValueTaskSourceStatus GetStatus(short token) => token == _core.Version
        ? _core.GetStatus(token)
            : throw new InvalidOperationException(
                "The result was already taken, because a ValueTask can be awaited only once. To await it more often, keep the Task that "
                + "AsTask() returns.");

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        // Not HasFlag, which boxes both values in unoptimized code (48 bytes per wait).
        bool capturesContext = (flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) is not ValueTaskSourceOnCompletedFlags.None;
        if (capturesContext && (SynchronizationContext.Current is not null || TaskScheduler.Current != TaskScheduler.Default))
        {
            _postedState = state;
            _posted = continuation;
        }

        _core.OnCompleted(continuation, state, token, flags);
    }

    protected virtual void Clear()
    {
        _token = default;
        _registration = default;
        _posted = null;
        _postedState = null;
    }

    private void ContinueOnPool() => ThreadPool.UnsafeQueueUserWorkItem(_posted!, _postedState, preferLocal: false);

    private void OnCancelled()
    {
        if (_list!.TryRemove(this))
        {
            Fail(new OperationCanceledException(_token));
        }
    }
}
