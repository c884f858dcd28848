using System.IO.Pipelines;
using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;

namespace Net.Zlink;

/// <summary>One connection as two byte pipes, without framing. Input and Output follow the rules of System.IO.Pipelines: one reader and one
/// writer at a time.</summary>
/// <remarks>
/// Input ends when the peer ends its side, or fails with an <see cref="IOException"/> when the connection is lost, or this side ends it
/// from outside (Disconnect, Unbind, the socket, the context) and does not wait for the peer, or not any longer; then Output fails with
/// one, too. Over ws and wss it is lost, too, where the peer's TCP ends without a CLOSE, in the middle of a message or behind one:
/// Input fails when all that had come is read. Over tcp, tls and ipc an end of the transport is the peer's end, whoever made it (over tls
/// also without close_notify): a protocol for which that matters says itself where its data ends.
/// Flushing Output waits while the peer does not read. Complete Output to end this side while still reading; dispose to end both.
/// Over tcp, tls and ipc such reading may go on for as long as the peer keeps its side open; <see cref="StreamOptions.IdleTimeout"/> ends
/// one that falls silent. <see cref="SocketOptions.CloseTimeout"/> begins when nobody reads any more:
/// Input is completed, too, the pipe is disposed of, or its peer, endpoint, socket or context is ended from outside. A WebSocket does not
/// end by halves: over ws and wss completing Output says CLOSE, which the peer answers with its own, and then says no more. What it had
/// sent before is still read, for CloseTimeout at most, after which Input fails.
/// </remarks>
public sealed class StreamPipe : IDuplexPipe, IAsyncDisposable
{
    private readonly PipeConnection _connection;

    internal StreamPipe(PipeConnection connection, PipeReader input, uint id)
    {
        _connection = connection;
        Input = input;
        Id = id;
    }

    /// <summary>What the peer sent.</summary>
    public PipeReader Input { get; }

    /// <summary>What goes to the peer.</summary>
    public PipeWriter Output => _connection.Output;

    /// <summary>The peer's id on its socket.</summary>
    public uint Id { get; }

    /// <summary>The peer's address.</summary>
    public EndPoint? RemoteEndPoint => _connection.RemoteEndPoint;

    /// <summary>The certificate that the peer showed, over tls and wss; null where it showed none. It is the connection's: do not dispose
    /// it.</summary>
    public X509Certificate2? RemoteCertificate => _connection.RemoteCertificate;

    /// <summary>What it asked for its WebSocket with, of a peer that came in over ws or wss; null of any other.</summary>
    public WebSocketRequest? WebSocketRequest =>
        global::Net.Zlink.WebSocketRequest.Of(_connection.Request, RemoteEndPoint, RemoteCertificate);

    /// <summary>Our address on this connection.</summary>
    public EndPoint? LocalEndPoint => _connection.LocalEndPoint;

    /// <summary>Completes both pipes: what was flushed is still written (within <see cref="SocketOptions.Linger"/>), then the connection
    /// ends. Idempotent.</summary>
    /// <returns>A task that completes at once; the connection ends in the background.</returns>
    public async ValueTask DisposeAsync()
    {
        _connection.LimitWriting();
        await _connection.Output.CompleteAsync().ConfigureAwait(false);
        await Input.CompleteAsync().ConfigureAwait(false);
    }
}
