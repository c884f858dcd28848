namespace Net.Zlink.Services;

/// <summary>The receives that wait at one queue, in order. All but <see cref="ReceiveWaiter{T}"/>'s own members need the queue's
/// lock.</summary>
/// <param name="gate">The queue's lock.</param>
internal sealed class ReceiveWaiters<T>(Lock gate)
{
    private ReceiveWaiter<T>? _first;
    private ReceiveWaiter<T>? _last;
    private ReceiveWaiter<T>? _spare;

    public bool IsEmpty => _first is null;

    public ReceiveWaiter<T> Add()
    {
        ReceiveWaiter<T> waiter = _spare ?? new ReceiveWaiter<T>(this);
        _spare = waiter.Next;
        (waiter.Next, waiter.Previous, waiter.IsWaiting) = (null, _last, true);
        _ = _last is null ? _first = waiter : _last.Next = waiter;
        _last = waiter;
        return waiter;
    }

    /// <summary>Takes the first one out, which the caller completes outside of the lock: a completion may run anything.</summary>
    public ReceiveWaiter<T>? TakeFirst()
    {
        ReceiveWaiter<T>? first = _first;
        if (first is not null)
        {
            Unlink(first);
        }

        return first;
    }

    /// <summary>Takes all of them out, linked, for <see cref="FailAll"/>.</summary>
    public ReceiveWaiter<T>? TakeAll()
    {
        ReceiveWaiter<T>? all = _first;
        for (ReceiveWaiter<T>? waiter = all; waiter is not null; waiter = waiter.Next)
        {
            waiter.IsWaiting = false;
        }

        (_first, _last) = (null, null);
        return all;
    }

    /// <summary>Outside of the lock.</summary>
    public static void FailAll(ReceiveWaiter<T>? waiters, Func<Exception> exception)
    {
        while (waiters is { } waiter)
        {
            waiters = waiter.Next; // A completed one may be in use again.
            (waiter.Next, waiter.Previous) = (null, null);
            waiter.Fail(exception());
        }
    }

    /// <summary>Outside of the lock.</summary>
    /// <returns>False: another thread has removed it, and completes it.</returns>
    public bool TryRemove(ReceiveWaiter<T> waiter)
    {
        lock (gate)
        {
            if (!waiter.IsWaiting)
            {
                return false;
            }

            Unlink(waiter);
            return true;
        }
    }

    /// <summary>Outside of the lock.</summary>
    public void Recycle(ReceiveWaiter<T> waiter)
    {
        lock (gate)
        {
            waiter.Next = _spare;
            _spare = waiter;
        }
    }

    private void Unlink(ReceiveWaiter<T> waiter)
    {
        _ = waiter.Previous is null ? _first = waiter.Next : waiter.Previous.Next = waiter.Next;
        _ = waiter.Next is null ? _last = waiter.Previous : waiter.Next.Previous = waiter.Previous;
        (waiter.Previous, waiter.Next, waiter.IsWaiting) = (null, null, false);
    }
}

/// <summary>A receive that waits.</summary>
internal sealed class ReceiveWaiter<T>(ReceiveWaiters<T> owner) : PooledSource<T>
{
    private CancellationTokenRegistration _registration;

    /// <summary>The neighbours among the waiters, and in lists of spare ones. Guarded by the queue's lock.</summary>
    public ReceiveWaiter<T>? Previous { get; set; }

    /// <inheritdoc cref="Previous"/>
    public ReceiveWaiter<T>? Next { get; set; }

    /// <summary>It is among the waiters: who takes it out completes it.</summary>
    public bool IsWaiting { get; set; }

    /// <summary>The task for its caller. Once, outside of the lock.</summary>
    public ValueTask<T> Begin(CancellationToken cancellationToken)
    {
        ValueTask<T> task = Task;
        if (cancellationToken.CanBeCanceled)
        {
            _registration = cancellationToken.UnsafeRegister(static (state, token) => ((ReceiveWaiter<T>)state!).Cancel(token), this);
        }

        return task;
    }

    protected override void BeforeRead()
    {
        _registration.Dispose(); // Waits for a cancel that is running, so that it cannot hit the next use of this object.
        _registration = default;
    }

    protected override void Recycle() => owner.Recycle(this);

    private void Cancel(CancellationToken cancellationToken)
    {
        if (owner.TryRemove(this))
        {
            Fail(new OperationCanceledException(cancellationToken));
        }
    }
}
