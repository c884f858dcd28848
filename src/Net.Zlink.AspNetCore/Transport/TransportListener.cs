using System.Net;
using System.Threading.Channels;
using Microsoft.AspNetCore.Connections;

namespace Net.Zlink.AspNetCore.Transport;

/// <summary>One endpoint of the server: a STREAM whose peers are pipes, in a context that ends with it.</summary>
internal sealed class TransportListener : IConnectionListener
{
    private const string TcpScheme = "tcp://";

    private readonly ZlinkContext _context;
    private readonly StreamSocket _socket;
    private readonly string _bound;
    private readonly Channel<TransportConnection> _accepted =
        Channel.CreateUnbounded<TransportConnection>(new UnboundedChannelOptions { SingleReader = true });

    public TransportListener(ZlinkContext context, StreamSocket socket, EndPoint endpoint)
    {
        _context = context;
        _socket = socket;
        bool isTcp = endpoint is IPEndPoint;
        _bound = socket.BindPipe((isTcp ? TcpScheme : "ipc://") + endpoint, ServeAsync);
        EndPoint = isTcp ? IPEndPoint.Parse(_bound.AsSpan(TcpScheme.Length)) : endpoint;
    }

    public EndPoint EndPoint { get; }

    public async ValueTask<ConnectionContext?> AcceptAsync(CancellationToken cancellationToken = default)
    {
        await _accepted.Reader.WaitToReadAsync(cancellationToken).ConfigureAwait(false);
        return _accepted.Reader.TryRead(out TransportConnection? connection) ? connection : null;
    }

    public ValueTask UnbindAsync(CancellationToken cancellationToken = default)
    {
        if (_accepted.Writer.TryComplete())
        {
            _socket.Unbind(_bound, keepPeers: true);
        }

        return ValueTask.CompletedTask;
    }

    public async ValueTask DisposeAsync()
    {
        _accepted.Writer.TryComplete();
        while (_accepted.Reader.TryRead(out TransportConnection? connection))
        {
            connection.Abort();
            await connection.DisposeAsync().ConfigureAwait(false);
        }

        await _context.DisposeAsync().ConfigureAwait(false);
    }

    private Task ServeAsync(StreamPipe pipe)
    {
        var connection = new TransportConnection(_socket, pipe, _context.Pool);
        if (_accepted.Writer.TryWrite(connection))
        {
            return connection.Disposed;
        }

        pipe.Abort("the server accepts no connections any more");
        return Task.CompletedTask;
    }
}
