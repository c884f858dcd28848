using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>One connect as an awaitable value: an unreachable peer is no exception. Used once.</summary>
internal sealed class ConnectOperation : SocketAsyncEventArgs
{
    // Asynchronous, because a cancellation completes the connect on the canceller's thread, which must not run the dialer's code.
    private readonly TaskCompletionSource<SocketError> _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);

    /// <summary>Prepares to connect to <paramref name="remote"/>.</summary>
    public ConnectOperation(EndPoint remote)
        : base(unsafeSuppressExecutionContextFlow: true) => RemoteEndPoint = remote;

    /// <summary>
    /// Connects <paramref name="socket"/>. Ends with an error value when the system refuses, or when <paramref name="cancellation"/> fires,
    /// which disposes the socket.
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

        // Disposing is the one way to end a connect that works on every system.
        using (cancellation.UnsafeRegister(static state => ((Socket)state!).Dispose(), socket))
        {
            return await _completion.Task.ConfigureAwait(false);
        }
    }

    /// <inheritdoc/>
    protected override void OnCompleted(SocketAsyncEventArgs e) => _completion.TrySetResult(SocketError);
}
