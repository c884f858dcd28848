namespace Net.Zlink.Monitoring;

/// <summary>Publishing costs one volatile read while there are none.</summary>
internal sealed class SocketMonitors
{
    private readonly Lock _gate = new();
    private volatile EventStream[] _streams = [];
    private bool _isStopped;

    public bool IsEmpty => _streams.Length == 0;

    public EventStream Open(SocketEventTypes mask, CancellationToken cancellation = default)
    {
        var stream = new EventStream(this, mask);
        lock (_gate)
        {
            if (_isStopped)
            {
                stream.End(last: null); // Nobody waits for it yet.
            }
            else
            {
                _streams = [.. _streams, stream];
            }
        }

        stream.CancelWith(cancellation);
        return stream;
    }

    public void Publish(in SocketEvent socketEvent)
    {
        foreach (EventStream stream in _streams)
        {
            stream.Publish(socketEvent);
        }
    }

    public void Publish(
        SocketEventTypes type, long value, RedactedEndpoint local, RedactedEndpoint remote, uint peerId = 0, string? detail = null)
    {
        if (!IsEmpty)
        {
            Publish(new SocketEvent(type, value, ReadOnlyMemory<byte>.Empty, local, remote, peerId, detail));
        }
    }

    /// <summary>Sends the last event and ends every reader's stream.</summary>
    public void Stop()
    {
        EventStream[] streams;
        lock (_gate)
        {
            _isStopped = true;
            streams = _streams;
            _streams = [];
        }

        foreach (EventStream stream in streams)
        {
            stream.End(new SocketEvent(SocketEventTypes.MonitorStopped, 0, ReadOnlyMemory<byte>.Empty, "", "", 0, null));
        }
    }

    public void Remove(EventStream stream)
    {
        lock (_gate)
        {
            _streams = [.. _streams.Where(one => !ReferenceEquals(one, stream))];
        }
    }
}
