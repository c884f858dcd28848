using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Transports;

internal sealed class ConnectOperation : SocketAsyncEventArgs
{
    // Asynchronous, because a cancellation completes the connect on the canceller's thread, which must not run the dialer.
    private readonly TaskCompletionSource<SocketError> _completion = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public ConnectOperation(EndPoint remote)
        : base(unsafeSuppressExecutionContextFlow: true) => RemoteEndPoint = remote;

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
