using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>One connect as an awaitable value, so that an unreachable peer is no exception. Used once.</summary>
internal sealed class ConnectOperation : SocketAsyncEventArgs
{
    // Asynchronous, because a cancellation completes the connect on the canceller's thread, which must not run the dialer.
    private readonly TaskCompletionSource<SocketError> _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ConnectOperation(EndPoint remote)
        : base(unsafeSuppressExecutionContextFlow: true) => RemoteEndPoint = remote;

    /// <summary>
    /// Connects the socket. Ends with an error value when the system refuses, or on cancellation, which disposes the socket.
    /// </summary>
    public async Task<SocketError> RunAsync(Socket socket, CancellationToken cancellation)
    {
        try
        {
            if (!socket.ConnectAsync(this))
            {
                return SocketError;
            }
        }
        catch (SocketException e)
        {
            return e.SocketErrorCode;
        }

        // Only disposing ends a connect on every system.
        using (cancellation.UnsafeRegister(static state => ((Socket)state!).Dispose(), socket))
        {
            return await _completion.Task.ConfigureAwait(false);
        }
    }

    protected override void OnCompleted(SocketAsyncEventArgs e) => _completion.TrySetResult(SocketError);
}
