using System.Diagnostics.CodeAnalysis;
using System.Threading.Tasks.Sources;
using Net.Zlink.Flow;

namespace Net.Zlink.Engine;

/// <summary>The list a waiter stands in. Whoever takes a waiter out of its list decides its outcome: there is no second arbiter.</summary>
internal interface IWaiterList
{
    /// <summary>Takes <paramref name="waiter"/> out if it still stands in the list; the caller that gets true completes it.</summary>
    bool TryRemove(WaiterNode waiter);
}

/// <summary>The links of a waiter, so that any waiter may leave the middle of its list when it is cancelled.</summary>
internal abstract class WaiterNode
{
    internal WaiterNode? Previous;
    internal WaiterNode? Next;
    internal bool IsQueued;
}

/// <summary>A first-in first-out list of waiters. Every call is made under the owner's lock. A part of its owner, never to be copied: where nobody waits, looking at it costs no line of its own.</summary>
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

    /// <summary>Takes all of them out. Returns the first, the others linked behind it.</summary>
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

/// <summary>One wait for a result of type <typeparamref name="T"/>: a reusable value-task source, so that waiting allocates nothing in steady state.</summary>
/// <remarks>
/// A waiter is reused only when its cancellation registration is certain not to call back any more; otherwise it is left to the collector.
/// Continuations of awaiting code run on the thread pool, not on the shard that completes the wait, unless the application has allowed that; those of blocked threads only pulse.
/// Where a SynchronizationContext or a scheduler was captured they are posted to it. One that refuses (a UI loop that has ended) throws at the thread that completes the wait, which has others to complete and a
/// connection to serve: such a continuation goes to the pool instead, so that the wait ends and what it holds is given back.
/// </remarks>
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

    /// <summary>Makes the waiter ready for one wait.</summary>
    /// <param name="list">Where it will stand.</param>
    /// <param name="recycle">Takes the waiter back when its result was read and nothing refers to it any more.</param>
    /// <param name="blocking">The calling thread will block for the result (<see cref="BlockingWait.Until"/>): it is completed without a hop to the pool.</param>
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

    /// <summary>Lets <paramref name="token"/> cancel the wait. Call it outside the list's lock, after the waiter was added.</summary>
    public void CancelWith(CancellationToken token)
    {
        if (token.CanBeCanceled)
        {
            _token = token;
            _registration = token.UnsafeRegister(static state => ((Waiter<T>)state!).OnCancelled(), this);
        }
    }

    /// <summary>Ends the wait with a result. The caller has taken the waiter out of its list.</summary>
    public void Complete(T result)
    {
        try
        {
            _core.SetResult(result);
        }
        catch (Exception) when (_posted is not null)
        {
            ContinueOnPool();
        }
    }

    /// <summary>As <see cref="Complete"/>, but what awaits the result goes on here and now, on the calling thread. Outside of all locks.</summary>
    public void CompleteHere(T result)
    {
        _core.RunContinuationsAsynchronously = false;
        Complete(result);
    }

    /// <summary>Ends the wait with an error. The caller has taken the waiter out of its list.</summary>
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

    /// <summary>Ends waits that were taken out of their list and linked, each with an error of its own, outside of every lock.</summary>
    public static void FailAll(Waiter<T>? waiter, Func<Exception> error)
    {
        while (waiter is not null)
        {
            var next = (Waiter<T>?)waiter.Next;
            waiter.Next = null;
            waiter.Fail(error());
            waiter = next;
        }
    }

    public T GetResult(short token)
    {
        // Reading a result twice, or too early, is the caller's mistake. It throws here, and must not give the waiter back a second time:
        // two waits would then share it.
        if (GetStatus(token) == ValueTaskSourceStatus.Pending)
        {
            throw new InvalidOperationException("The result was asked for before the wait ended: await it.");
        }

        try
        {
            return _core.GetResult(token);
        }
        finally
        {
            _core.Reset(); // From here on this token is stale.
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
        : throw new InvalidOperationException("The result was taken already: a ValueTask is awaited once. To await it more often keep the Task that AsTask() returns.");

    public void OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        // Not HasFlag, which boxes both (48 bytes a wait) wherever code is not optimized.
        if ((flags & ValueTaskSourceOnCompletedFlags.UseSchedulingContext) is not ValueTaskSourceOnCompletedFlags.None && (SynchronizationContext.Current is not null || TaskScheduler.Current != TaskScheduler.Default))
        {
            _postedState = state;
            _posted = continuation;
        }

        _core.OnCompleted(continuation, state, token, flags);
    }

    /// <summary>Drops what the wait held, before the waiter is kept for reuse.</summary>
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

/// <summary>Waiters kept for reuse by one list's owner. Called under that owner's lock or not at all concurrently; a small stack.</summary>
[SuppressMessage("Performance", "MA0158", Justification = "The lock is held for two assignments.")]
internal sealed class WaiterPool<TWaiter>
    where TWaiter : WaiterNode, new()
{
    // A socket rarely has more threads waiting than this; a waiter is about 150 bytes.
    private const int MaxKept = 64;

    private readonly Lock _gate = new();
    private readonly TWaiter?[] _cached = new TWaiter?[MaxKept];
    private int _count;

    public TWaiter Rent()
    {
        using (_gate.EnterScope())
        {
            if (_count > 0)
            {
                TWaiter waiter = _cached[--_count]!;
                _cached[_count] = null;
                return waiter;
            }
        }

        return new TWaiter();
    }

    public void Return(TWaiter waiter)
    {
        using (_gate.EnterScope())
        {
            if (_count < MaxKept)
            {
                _cached[_count++] = waiter;
            }
        }
    }
}
