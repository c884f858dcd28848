using System.Threading.Channels;
using Microsoft.Extensions.Logging;
using Net.Zlink.Flow;

namespace Net.Zlink.Monitoring;

/// <summary>One subscription to a socket's events, with its only reader.</summary>
/// <remarks>
/// Not an async iterator: one that is awaited with a SynchronizationContext that rejects posts would throw on a pool thread and end the
/// process. Here the post happens in <see cref="Write"/>. A wait is complete as soon as its event is raised, so a reader can also poll it.
/// </remarks>
internal sealed class EventStream : IAsyncEnumerable<SocketEvent>, IAsyncEnumerator<SocketEvent>
{
    // 4,096 events of about 100 bytes: enough for a burst of 2,000 connections (two events each), and 0.4 MB if nobody reads.
    internal const int Capacity = 4096;

    private readonly Channel<SocketEvent> _events;
    private readonly SocketMonitors _owner;
    private readonly SocketEventTypes _mask;
    private readonly List<CancellationTokenRegistration> _registrations = []; // Its own lock.
    private CancellationToken _cancelledBy;
    private SocketEvent _current;
    private long _dropped;
    private bool _isEnumerated;
    private bool _isAwaited;
    private volatile bool _hasEnded;
    private volatile bool _isDisposed;

    public EventStream(SocketMonitors owner, SocketEventTypes mask)
    {
        _owner = owner;
        _mask = mask;
        _events = Channel.CreateBounded<SocketEvent>(
            new BoundedChannelOptions(Capacity) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true },
            _ => Interlocked.Increment(ref _dropped));
    }

    public SocketEvent Current
    {
        get
        {
            if (_isAwaited)
            {
                _isAwaited = false;
                TryTake();
            }

            return _current;
        }
    }

    public IAsyncEnumerator<SocketEvent> GetAsyncEnumerator(CancellationToken cancellationToken = default)
    {
        if (Interlocked.Exchange(ref _isEnumerated, true))
        {
            throw new InvalidOperationException("These events are being read already. Call MonitorAsync for each reader.");
        }

        CancelWith(cancellationToken);
        return this;
    }

    public ValueTask<bool> MoveNextAsync()
    {
        if (_cancelledBy.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<bool>(_cancelledBy);
        }

        // A publisher that has not seen the end yet may have written behind the last event.
        if (_isDisposed || Current.Type == SocketEventTypes.MonitorStopped)
        {
            return ValueTask.FromResult(false);
        }

        if (TryTake())
        {
            return ValueTask.FromResult(true);
        }

        _isAwaited = true;
        return _events.Reader.WaitToReadAsync(CancellationToken.None);
    }

    /// <summary>Any thread, also while a wait is in progress, which ends then. Idempotent.</summary>
    public ValueTask DisposeAsync()
    {
        _isDisposed = true;
        _owner.Remove(this);
        End(last: null);
        return ValueTask.CompletedTask;
    }

    public void CancelWith(CancellationToken cancellation)
    {
        CancellationTokenRegistration made =
            cancellation.UnsafeRegister(static (stream, token) => ((EventStream)stream!).Cancel(token), this);
        lock (_registrations)
        {
            _registrations.Add(made);
        }

        if (_hasEnded)
        {
            Unregister();
        }
    }

    public void Publish(in SocketEvent socketEvent)
    {
        if (!_hasEnded && (socketEvent.Type & _mask) != SocketEventTypes.None)
        {
            Write(socketEvent);
        }
    }

    public void End(SocketEvent? last)
    {
        _hasEnded = true;
        if (last is { } stop && (stop.Type & _mask) != SocketEventTypes.None)
        {
            Write(stop);
        }

        Complete(error: null);
    }

    private void Unregister()
    {
        lock (_registrations)
        {
            _registrations.ForEach(static one => one.Unregister());
        }
    }

    private void Cancel(CancellationToken cancellation)
    {
        _owner.Remove(this);
        _cancelledBy = cancellation;
        _hasEnded = true;
        Complete(new OperationCanceledException(cancellation));
    }

    private bool TryTake()
    {
        long dropped = Interlocked.Exchange(ref _dropped, 0);
        if (dropped == 0)
        {
            return _events.Reader.TryRead(out _current);
        }

        _current = new SocketEvent(SocketEventTypes.EventsDropped, dropped, ReadOnlyMemory<byte>.Empty, "", "", 0,
            "events that were not read in time");
        return true;
    }

    private void Write(in SocketEvent socketEvent)
    {
        try
        {
            _events.Writer.TryWrite(socketEvent);
        }
        catch (OutOfMemoryException)
        {
            Interlocked.Increment(ref _dropped);
        }
        catch (Exception)
        {
            // The waiting reader's SynchronizationContext is gone (a closed window), and the reader with it.
        }
    }

    private void Complete(Exception? error)
    {
        try
        {
            _events.Writer.TryComplete(error);
        }
        catch (Exception)
        {
            // As above.
        }

        Unregister();
    }
}

internal sealed class EventCallback : IDisposable
{
    private readonly IAsyncEnumerator<SocketEvent> _events;
    private readonly Action<SocketEvent> _handler;
    private readonly ILogger _logger;
    private volatile bool _isDisposed;

    public EventCallback(IAsyncEnumerable<SocketEvent> events, Action<SocketEvent> handler, ILogger logger)
    {
        _events = events.GetAsyncEnumerator();
        _handler = handler;
        _logger = logger;
        _ = DefaultContext.Run(RunAsync);
    }

    public void Dispose()
    {
        _isDisposed = true;
        _ = _events.DisposeAsync().AsTask(); // Complete at once: see EventStream.
    }

    private async Task RunAsync()
    {
        // The caller's stack may be a shard's. After this yield the events continue on the pool, never on the publisher's stack.
        await Task.CompletedTask.ConfigureAwait(ConfigureAwaitOptions.ForceYielding);
        while (await _events.MoveNextAsync().ConfigureAwait(false) && !_isDisposed)
        {
            Call(_events.Current);
        }
    }

    private void Call(in SocketEvent one)
    {
        // An exception of the callback is an error of the application: it is logged, and the next events follow.
        try
        {
            _handler(one);
        }
        catch (Exception e)
        {
            Log.EventCallbackFailed(_logger, e, one.Type);
        }
        finally
        {
            DefaultContext.Restore(); // AsyncLocals that the callback has set must not reach its next call, nor stay alive until then.
        }
    }
}
