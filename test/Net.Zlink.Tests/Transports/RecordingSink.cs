using System.Net.Sockets;
using System.Threading.Channels;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports;

/// <summary>Keeps what a listener produced, lets a test await each of it, and disposes the connections at the end.</summary>
internal sealed class RecordingSink : IAcceptSink, IDisposable
{
    private readonly Channel<Socket> _accepted = Channel.CreateUnbounded<Socket>();
    private readonly Channel<(SocketError Error, TimeSpan BackOff)> _failures = Channel.CreateUnbounded<(SocketError, TimeSpan)>();
    private readonly TaskCompletionSource<SocketError> _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly List<Socket> _taken = [];
    private int _acceptedCount;
    private int _closedCount;

    /// <summary>Runs first in OnAccepted; a socket is recorded only when it returns.</summary>
    public Action<Socket>? Accepting { get; set; }

    public int AcceptedCount => Volatile.Read(ref _acceptedCount);

    public int ClosedCount => Volatile.Read(ref _closedCount);

    public int WaitingFailures => _failures.Reader.Count;

    public void OnAccepted(Wire wire)
    {
        Socket socket = ((SocketWire)wire).Socket;
        Accepting?.Invoke(socket);
        Adopt(socket);
        Interlocked.Increment(ref _acceptedCount);
        _accepted.Writer.TryWrite(socket);
    }

    public void OnAcceptFailed(SocketError error, TimeSpan backOff) => _failures.Writer.TryWrite((error, backOff));

    public void OnListenerClosed(SocketError error)
    {
        Interlocked.Increment(ref _closedCount);
        _closed.TrySetResult(error);
    }

    /// <summary>Disposes a test's own socket along with the accepted ones.</summary>
    public void Adopt(Socket socket)
    {
        lock (_taken)
        {
            _taken.Add(socket);
        }
    }

    public Task<Socket> NextAsync() => Guarded(_accepted.Reader.ReadAsync(TestContext.Current.CancellationToken).AsTask());

    public Task<(SocketError Error, TimeSpan BackOff)> NextFailureAsync() =>
        Guarded(_failures.Reader.ReadAsync(TestContext.Current.CancellationToken).AsTask());

    public Task<SocketError> ClosedAsync() => Guarded(_closed.Task);

    public void Dispose()
    {
        lock (_taken)
        {
            _taken.ForEach(static socket => socket.Dispose());
        }
    }

    private static Task<T> Guarded<T>(Task<T> task) => task.WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken);
}

internal static class DialResultExtensions
{
    public static Socket? Socket(this in DialResult result) => (result.Wire as SocketWire)?.Socket;
}
