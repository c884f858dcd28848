using System.IO.Pipelines;
using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink;

/// <summary>
/// One connection as two byte pipes, without frames. System.IO.Pipelines rules apply: one reader and one writer at a time.
/// </summary>
/// <remarks>
/// <para>
/// Input ends when the peer ends its side. It fails with an <see cref="IOException"/> when the connection is lost, or when this side ends
/// it from outside (Disconnect, Unbind, socket, context); then Output fails, too. Flushing Output waits while the peer does not read.
/// </para>
/// <para>
/// Over tcp, tls and ipc the end of the transport is the peer's end, over tls also without close_notify. If that matters, the protocol must
/// mark the end of its data. Over ws and wss a TCP end without CLOSE is a failure, after all received bytes.
/// </para>
/// <para>
/// Complete Output to end this side and read on; dispose the pipe to end both. Reading may continue while the peer keeps its side open;
/// <see cref="StreamOptions.IdleTimeout"/> ends a silent one. <see cref="SocketOptions.CloseTimeout"/> begins when Input is completed too,
/// the pipe is disposed, or the connection is ended from outside.
/// </para>
/// <para>
/// A WebSocket has no half-close: completing Output sends CLOSE, which the peer answers with its own. Bytes that it sent before are still
/// read, for at most CloseTimeout; then Input fails.
/// </para>
/// </remarks>
public sealed class StreamPipe : IDuplexPipe, IAsyncDisposable
{
    private readonly PipeSink _sink;

    internal StreamPipe(PipeSink sink) => _sink = sink;

    /// <summary>The bytes from the peer.</summary>
    public PipeReader Input => _sink.Input;

    /// <summary>The bytes to the peer.</summary>
    public PipeWriter Output => _sink.Output;

    /// <summary>
    /// Cancelled when nothing more comes: the peer has ended its side, or the connection is lost or closed. For who does not read at the
    /// moment. Bytes that came before may still be in <see cref="Input"/>. Callbacks run on the thread pool.
    /// </summary>
    public CancellationToken Ended => _sink.Ended;

    /// <summary>The peer's id on its socket.</summary>
    public uint Id => _sink.Link.Id;

    /// <summary>The peer's address.</summary>
    public EndPoint? RemoteEndPoint => _sink.Link.Wire?.RemoteEndPoint;

    /// <summary>The peer's certificate over tls and wss, or null. The connection owns it: do not dispose it.</summary>
    public X509Certificate2? RemoteCertificate => _sink.Link.Wire?.RemoteCertificate;

    /// <summary>What the TLS handshake agreed on over tls and wss, or null.</summary>
    public TlsSession? Tls => _sink.Link.Wire?.Tls;

    /// <summary>The peer's upgrade request, if it was accepted over ws or wss, or null.</summary>
    public WebSocketRequest? WebSocketRequest =>
        global::Net.Zlink.WebSocketRequest.Of(_sink.Link.Wire?.Request, RemoteEndPoint, RemoteCertificate);

    /// <summary>
    /// The sub-protocol over ws and wss that both sides agreed on, or null. See <see cref="WebSocketTransportOptions.SubProtocols"/>.
    /// </summary>
    public string? SubProtocol => _sink.Link.Wire?.SubProtocol;

    /// <summary>This side's address on the connection.</summary>
    public EndPoint? LocalEndPoint => _sink.Link.Wire?.LocalEndPoint;

    /// <summary>Ends the connection at once, with a reset. Unread and unwritten bytes are dropped. Idempotent. Thread-safe.</summary>
    /// <param name="reason">
    /// Why, for the exceptions with which <see cref="Input"/> and <see cref="Output"/> fail. Null: this side ended the connection.
    /// </param>
    public void Abort(string? reason = null) => _sink.Abort(reason);

    /// <summary>
    /// Completes both pipes. Flushed bytes are still written within <see cref="SocketOptions.Linger"/>, then the connection ends.
    /// Idempotent.
    /// </summary>
    /// <returns>A task that completes at once; the connection ends in the background.</returns>
    public ValueTask DisposeAsync()
    {
        _sink.Complete(DisconnectReason.Local);
        return default;
    }

    internal static Connection Open(StreamHub hub, StreamLink link, Wire wire, StreamSettings settings, out StreamPipe pipe)
    {
        var sink = new PipeSink(hub, link, wire, settings.Connection);
        pipe = new StreamPipe(sink);
        return sink.Connection;
    }

    /// <summary>The handler's task begins on a stack of its own: it may block before it returns its task.</summary>
    internal void Handle(StreamHub hub, Func<StreamPipe, Task> handle) => _sink.Handle = () => HandleAsync(hub, handle);

    private async Task HandleAsync(StreamHub hub, Func<StreamPipe, Task> handle)
    {
        DisconnectReason reason = DisconnectReason.Local;
        try
        {
            await handle(this).ConfigureAwait(false);
        }
        catch (Exception exception) when (_sink.HasReported(exception))
        {
            // The handler failed with the end of its connection, which a peer's reset causes. The peer's end reports it.
        }
        catch (Exception exception)
        {
            reason = DisconnectReason.HandlerFailed;
            hub.ReportFault(_sink.Link, exception);
        }

        _sink.Complete(reason);
    }
}
