using System.Threading.Channels;

namespace Net.Zlink.Monitoring;

/// <summary>Reads one socket's events. Thread-safe.</summary>
/// <remarks>
/// Up to 4,096 events wait in a queue. Then the oldest are dropped and counted in <see cref="Dropped"/>, so an unread monitor never slows
/// its socket down.
/// </remarks>
public sealed class SocketMonitor : IDisposable
{
    // 4,096 events of about 100 bytes: enough for a burst of 2,000 connections (two events each), and 0.4 MB if nobody reads.
    internal const int Capacity = 4096;

    private readonly Channel<SocketEvent> _events;
    private readonly SocketMonitors _owner;
    private readonly Lock _gate = new();
    private long _dropped;
    private bool _ended;

    internal SocketMonitor(SocketMonitors owner, SocketEventTypes mask)
    {
        _owner = owner;
        Mask = mask;
        _events = Channel.CreateBounded<SocketEvent>(
            new BoundedChannelOptions(Capacity) { FullMode = BoundedChannelFullMode.DropOldest, AllowSynchronousContinuations = false },
            _ => Interlocked.Increment(ref _dropped));
    }

    /// <summary>The selected events.</summary>
    public SocketEventTypes Mask { get; }

    /// <summary>The number of events that were dropped because nobody read them in time.</summary>
    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>Takes the next event without waiting.</summary>
    /// <param name="socketEvent">The event.</param>
    /// <returns>False if there is none now.</returns>
    public bool TryRead(out SocketEvent socketEvent) => _events.Reader.TryRead(out socketEvent);

    /// <summary>Waits for the next event.</summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>The event. The task completes on the thread pool.</returns>
    /// <exception cref="OperationCanceledException">The token was cancelled.</exception>
    /// <exception cref="ObjectDisposedException">
    /// The socket, this monitor or the context was disposed, and every event was read.
    /// </exception>
    public ValueTask<SocketEvent> ReadAsync(CancellationToken cancellationToken = default)
    {
        ValueTask<SocketEvent> read = _events.Reader.ReadAsync(cancellationToken);
        return read.IsCompletedSuccessfully ? read : new ValueTask<SocketEvent>(new EventRead(read), token: 0);
    }

    /// <summary>Enumerates all events until the socket, this monitor or the context is disposed.</summary>
    /// <param name="cancellationToken">Ends the enumeration with an exception.</param>
    /// <returns>The events in order.</returns>
    public IAsyncEnumerable<SocketEvent> ReadAllAsync(CancellationToken cancellationToken = default) =>
        _events.Reader.ReadAllAsync(cancellationToken);

    /// <summary>Stops monitoring. Unread events can still be read. Idempotent.</summary>
    public void Dispose()
    {
        _owner.Remove(this);
        End(null);
    }

    internal void Publish(in SocketEvent socketEvent)
    {
        if ((socketEvent.Type & Mask) == SocketEventTypes.None)
        {
            return;
        }

        // Publishers may still see this monitor. The lock keeps them from writing behind its last event.
        lock (_gate)
        {
            if (!_ended)
            {
                Write(socketEvent);
            }
        }
    }

    internal void End(SocketEvent? last)
    {
        lock (_gate)
        {
            if (_ended)
            {
                return;
            }

            _ended = true;
            if (last is { } stop && (stop.Type & Mask) != SocketEventTypes.None)
            {
                Write(stop);
            }
        }

        try
        {
            _events.Writer.TryComplete();
        }
        catch (Exception)
        {
            // As in Write. The channel is complete before it notifies the readers.
        }
    }

    private void Write(in SocketEvent socketEvent)
    {
        try
        {
            _events.Writer.TryWrite(socketEvent);
        }
        catch (Exception)
        {
            // The waiting reader's SynchronizationContext is gone (a closed window): the event belongs to that reader and is lost.
            Interlocked.Increment(ref _dropped);
        }
    }
}

/// <summary>Publishing costs one volatile read while there are none.</summary>
internal sealed class SocketMonitors
{
    private readonly Lock _gate = new();
    private volatile SocketMonitor[] _monitors = [];
    private bool _stopped;

    public bool IsEmpty => _monitors.Length == 0;

    public SocketMonitor Open(SocketEventTypes mask)
    {
        var monitor = new SocketMonitor(this, mask);
        lock (_gate)
        {
            if (_stopped)
            {
                monitor.End(null);
            }
            else
            {
                _monitors = [.. _monitors, monitor];
            }
        }

        return monitor;
    }

    public void Publish(in SocketEvent socketEvent)
    {
        foreach (SocketMonitor monitor in _monitors)
        {
            monitor.Publish(socketEvent);
        }
    }

    public void Publish(SocketEventTypes type, long value, string local, string remote, uint peerId = 0, string? detail = null)
    {
        if (!IsEmpty)
        {
            Publish(new SocketEvent(type, value, ReadOnlyMemory<byte>.Empty, local, remote, peerId, detail));
        }
    }

    /// <summary>Sends the last event and ends every reader's stream.</summary>
    public void Stop()
    {
        SocketMonitor[] monitors;
        lock (_gate)
        {
            _stopped = true;
            monitors = _monitors;
            _monitors = [];
        }

        foreach (SocketMonitor monitor in monitors)
        {
            monitor.End(new SocketEvent(SocketEventTypes.MonitorStopped, 0, ReadOnlyMemory<byte>.Empty, "", "", 0, null));
        }
    }

    internal void Remove(SocketMonitor monitor)
    {
        lock (_gate)
        {
            _monitors = [.. _monitors.Where(m => !ReferenceEquals(m, monitor))];
        }
    }
}
