using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Services;

/// <summary>Reads a socket's events one by one, also without waiting. For one caller at a time.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each wait is kept until it is complete, and its result is taken once.")]
internal sealed class EventReader(ZlinkSocket socket, SocketEventTypes mask) : IDisposable
{
    private readonly IAsyncEnumerator<SocketEvent> _events = socket.MonitorAsync(mask).GetAsyncEnumerator();
    private ValueTask<bool> _next;
    private bool _isPending;

    /// <summary>Takes the next event that was raised; false: there is none now, or the socket has ended.</summary>
    public bool TryRead(out SocketEvent socketEvent)
    {
        Begin();
        if (!_next.IsCompleted || !End(_next.GetAwaiter().GetResult()))
        {
            socketEvent = default;
            return false;
        }

        socketEvent = _events.Current;
        return true;
    }

    /// <exception cref="ObjectDisposedException">The socket has ended, or this reader was disposed.</exception>
    public async ValueTask<SocketEvent> ReadAsync()
    {
        Begin();
        ObjectDisposedException.ThrowIf(!End(await _next.ConfigureAwait(false)), this);
        return _events.Current;
    }

    /// <summary>Also while <see cref="ReadAsync"/> waits, which ends then.</summary>
    public void Dispose() => _ = _events.DisposeAsync().AsTask(); // Complete at once.

    private void Begin()
    {
        if (!_isPending)
        {
            _next = _events.MoveNextAsync();
            _isPending = true;
        }
    }

    private bool End(bool hasEvent)
    {
        _isPending = false;
        return hasEvent;
    }
}
