using System.Threading.Tasks.Sources;

namespace Net.Zlink.Monitoring;

/// <summary>One subscription to a socket's events, with its only reader.</summary>
/// <remarks>
/// Not an async iterator: one that is awaited with a SynchronizationContext that rejects posts would throw on a pool thread and end the
/// process. Here the post happens in <see cref="Wake"/>. A wait is complete as soon as its event is raised, so a reader can also poll it.
/// </remarks>
internal sealed class EventStream : IAsyncEnumerable<SocketEvent>, IAsyncEnumerator<SocketEvent>, IValueTaskSource<bool>
{
    // 4,096 events of about 100 bytes: enough for a burst of 2,000 connections (two events each), and 0.4 MB if nobody reads.
    internal const int Capacity = 4096;

    private readonly Queue<SocketEvent> _queue = new();
    private readonly SocketMonitors _owner;
    private readonly SocketEventTypes _mask;
    private readonly Lock _gate = new();
    private ManualResetValueTaskSourceCore<bool> _wait = new() { RunContinuationsAsynchronously = true };
    private CancellationTokenRegistration _ofCall;
    private CancellationTokenRegistration _ofEnumeration;
    private CancellationToken _cancelledBy;
    private SocketEvent _current;
    private long _dropped;
    private bool _isEnumerated;
    private bool _isWaiting;
    private bool _hasEnded;

    public EventStream(SocketMonitors owner, SocketEventTypes mask)
    {
        _owner = owner;
        _mask = mask;
    }

    public SocketEvent Current => _current;

    public IAsyncEnumerator<SocketEvent> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        lock (_gate)
        {
            if (_isEnumerated)
            {
                throw new InvalidOperationException("These events are being read already. Call MonitorAsync for each reader.");
            }

            _isEnumerated = true;
        }

        CancelWith(cancellationToken, ref _ofEnumeration);
        return this;
    }

    public ValueTask<bool> MoveNextAsync()
    {
        lock (_gate)
        {
            if (_cancelledBy.IsCancellationRequested)
            {
                return ValueTask.FromCanceled<bool>(_cancelledBy);
            }

            if (TryTake())
            {
                return ValueTask.FromResult(true);
            }

            if (_hasEnded)
            {
                return ValueTask.FromResult(false);
            }

            _wait.Reset();
            _isWaiting = true;
            return new ValueTask<bool>(this, _wait.Version);
        }
    }

    /// <summary>Any thread, also while a wait is in progress, which ends then. Idempotent.</summary>
    public ValueTask DisposeAsync()
    {
        _owner.Remove(this);
        lock (_gate)
        {
            _queue.Clear();
            _dropped = 0;
        }

        End(last: null);
        return ValueTask.CompletedTask;
    }

    public void CancelWith(CancellationToken cancellation) => CancelWith(cancellation, ref _ofCall);

    public void Publish(in SocketEvent socketEvent)
    {
        if ((socketEvent.Type & _mask) == SocketEventTypes.None)
        {
            return;
        }

        // Publishers may still see a stream that has ended. The lock keeps them from writing behind its last event.
        bool wakes;
        lock (_gate)
        {
            wakes = !_hasEnded && Add(socketEvent);
        }

        if (wakes)
        {
            Wake(hasEvent: true);
        }
    }

    public void End(SocketEvent? last)
    {
        bool hasEvent = false;
        bool wakes = false;
        lock (_gate)
        {
            if (!_hasEnded)
            {
                _hasEnded = true;
                hasEvent = last is { } stop && (stop.Type & _mask) != SocketEventTypes.None && Add(stop);
                wakes = hasEvent || _isWaiting;
                _isWaiting = false;
            }
        }

        Unregister();
        if (wakes)
        {
            Wake(hasEvent);
        }
    }

    bool IValueTaskSource<bool>.GetResult(short token) => _wait.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<bool>.GetStatus(short token) => _wait.GetStatus(token);

    void IValueTaskSource<bool>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _wait.OnCompleted(continuation, state, token, flags);

    private void CancelWith(CancellationToken cancellation, ref CancellationTokenRegistration place)
    {
        CancellationTokenRegistration made =
            cancellation.UnsafeRegister(static (stream, token) => ((EventStream)stream!).Cancel(token), this);
        lock (_gate)
        {
            place = made;
            if (!_hasEnded)
            {
                return;
            }
        }

        Unregister();
    }

    private void Unregister()
    {
        _ofCall.Unregister();
        _ofEnumeration.Unregister();
    }

    private void Cancel(CancellationToken cancellation)
    {
        _owner.Remove(this);
        bool wakes;
        lock (_gate)
        {
            _cancelledBy = cancellation;
            _hasEnded = true;
            wakes = _isWaiting;
            _isWaiting = false;
        }

        Unregister();
        if (wakes)
        {
            Wake(hasEvent: false, new OperationCanceledException(cancellation));
        }
    }

    /// <summary>True: a wait has its event, and is to be woken outside of the lock.</summary>
    private bool Add(in SocketEvent socketEvent)
    {
        if (_isWaiting)
        {
            _current = socketEvent;
            _isWaiting = false;
            return true;
        }

        if (_queue.Count == Capacity)
        {
            _queue.Dequeue();
            _dropped++;
        }

        try
        {
            _queue.Enqueue(socketEvent);
        }
        catch (OutOfMemoryException)
        {
            _dropped++;
        }

        return false;
    }

    private bool TryTake()
    {
        if (_dropped == 0)
        {
            return _queue.TryDequeue(out _current);
        }

        _current = new SocketEvent(SocketEventTypes.EventsDropped, _dropped, ReadOnlyMemory<byte>.Empty, "", "", 0,
            "events that were not read in time");
        _dropped = 0;
        return true;
    }

    private void Wake(bool hasEvent, Exception? error = null)
    {
        try
        {
            if (error is null)
            {
                _wait.SetResult(hasEvent);
            }
            else
            {
                _wait.SetException(error);
            }
        }
        catch (Exception)
        {
            // The waiting reader's SynchronizationContext is gone (a closed window), and the reader with it.
        }
    }
}
