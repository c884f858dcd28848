using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Tests.Support;

/// <summary>Reads a socket's events one by one, also without waiting. For one caller at a time.</summary>
[SuppressMessage("Reliability", "CA2012", Justification = "Each wait is kept until it is complete, and its result is taken once.")]
internal sealed class EventReader(IAsyncEnumerable<SocketEvent> events) : IDisposable
{
    private readonly IAsyncEnumerator<SocketEvent> _events = events.GetAsyncEnumerator();
    private ValueTask<bool> _next;
    private Task<bool>? _wait;
    private bool _isPending;

    public bool TryRead(out SocketEvent socketEvent)
    {
        Begin();
        bool hasEvent = IsCompleted && End(_wait is null ? _next.GetAwaiter().GetResult() : _wait.GetAwaiter().GetResult());
        socketEvent = hasEvent ? _events.Current : default;
        return hasEvent;
    }

    /// <exception cref="ObjectDisposedException">The socket has ended, or this reader was disposed.</exception>
    public async ValueTask<SocketEvent> ReadAsync(CancellationToken cancellation = default)
    {
        ObjectDisposedException.ThrowIf(!await MoveNextAsync(cancellation), this);
        return _events.Current;
    }

    public async IAsyncEnumerable<SocketEvent> ReadAllAsync([EnumeratorCancellation] CancellationToken cancellation = default)
    {
        while (await MoveNextAsync(cancellation))
        {
            yield return _events.Current;
        }
    }

    public void Dispose() => _ = _events.DisposeAsync().AsTask();

    /// <summary>A value task may be looked at by one way only: as a task, once it was made one.</summary>
    private bool IsCompleted => _wait?.IsCompleted ?? _next.IsCompleted;

    private async ValueTask<bool> MoveNextAsync(CancellationToken cancellation)
    {
        Begin();
        if (IsCompleted)
        {
            return End(_wait is null ? await _next : await _wait);
        }

        _wait ??= _next.AsTask();
        return End(await _wait.WaitAsync(cancellation));
    }

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
        _wait = null;
        return hasEvent;
    }
}

internal static class EventReaderExtensions
{
    public static EventReader ReadEvents(this ZlinkSocket socket, SocketEventTypes mask = SocketEventTypes.All) =>
        new(socket.MonitorAsync(mask));
}
