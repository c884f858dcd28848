using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>One peer of a <see cref="StreamSocket"/>. Thread-safe.</summary>
public sealed class StreamPeer
{
    private readonly IStreamOutput _output;
    private readonly StreamLink _link;
    private object? _userState;

    internal StreamPeer(IStreamOutput output, StreamLink link)
    {
        _output = output;
        _link = link;
    }

    /// <summary>Creates a peer without a connection, for a unit test of a <see cref="StreamHandler"/>.</summary>
    /// <example>
    /// <code>
    /// List&lt;byte[]&gt; sent = [];
    /// StreamPeer peer = StreamPeer.Create(payload =&gt; { sent.Add(payload.ToArray()); return ZlinkError.None; });
    /// await handler.OnReceivedAsync(peer, StreamFrames.Create("hello"u8.ToArray()));
    /// </code>
    /// </example>
    /// <param name="send">
    /// Gets a copy of each sent payload, on the sender's thread. Returns None, or the error that the send then has, such as Again: the peer
    /// does not read. Sends that wait throw it. After <see cref="Disconnect"/> it is not called: the error is HostUnreachable.
    /// </param>
    /// <param name="id">The <see cref="Id"/>.</param>
    /// <returns>The peer. It has no addresses, and its statistics are zero.</returns>
    public static StreamPeer Create(Func<ReadOnlyMemory<byte>, ZlinkError> send, uint id = 1)
    {
        ArgumentNullException.ThrowIfNull(send);
        return new StreamPeer(new TestStreamOutput(send), new StreamLink(id, "", send, wire: null, remote: null));
    }

    /// <summary>The id on the socket: 1, 2, 3 ... in order of arrival. It is not reused before the 32 bits wrap.</summary>
    public uint Id => _link.Id;

    /// <summary>The peer's address.</summary>
    public EndPoint? RemoteEndPoint => _link.Remote;

    /// <summary>
    /// The peer's certificate over tls and wss, or null. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>.
    /// The connection owns it: do not dispose it.
    /// </summary>
    public X509Certificate2? RemoteCertificate => _link.RemoteCertificate;

    /// <summary>The peer's upgrade request, if it was accepted over ws or wss, or null.</summary>
    public WebSocketRequest? WebSocketRequest => global::Net.Zlink.WebSocketRequest.Of(_link.Request, RemoteEndPoint, RemoteCertificate);

    /// <summary>
    /// The sub-protocol over ws and wss that both sides agreed on, or null. See <see cref="WebSocketTransportOptions.SubProtocols"/>.
    /// </summary>
    public string? SubProtocol => _link.SubProtocol;

    /// <summary>This side's address on the connection.</summary>
    public EndPoint? LocalEndPoint => _link.Connection?.LocalEndPoint ?? _link.Pipe?.LocalEndPoint;

    /// <summary>The endpoint that accepted it, or the text that was connected. The query of a ws or wss endpoint is "?…".</summary>
    public string Endpoint => _link.Endpoint;

    /// <summary>An object that the application keeps with this peer. The library ignores it.</summary>
    public object? UserState
    {
        get => Volatile.Read(ref _userState);
        set => Volatile.Write(ref _userState, value);
    }

    internal StreamLink Link => _link;

    /// <summary>Sends a payload without waiting. Copies it.</summary>
    /// <param name="payload">The payload. It may be empty.</param>
    /// <returns>False if the peer is at its high-water mark or a byte limit, or has disconnected.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(ReadOnlySpan<byte> payload) => _output.TrySend(_link, payload) == ZlinkError.None;

    /// <summary>Sends a payload without waiting, and returns the reason of a failure. Copies it.</summary>
    /// <param name="payload">The payload. It may be empty.</param>
    /// <param name="error">
    /// None; Again: the peer is at its high-water mark or a byte limit; HostUnreachable: it has disconnected; NotSupported: it is a pipe.
    /// </param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = _output.TrySend(_link, payload);
        return error == ZlinkError.None;
    }

    /// <summary>
    /// Forwards a handler's frames to this peer in order without waiting, without a copy of long ones. The frames stay valid as before.
    /// </summary>
    /// <remarks>Forwarded frames keep their receive buffer until they are written.</remarks>
    /// <param name="frames">A handler's frames, while they are valid.</param>
    /// <param name="error">
    /// None; Again: the peer is at its high-water mark or a byte limit; HostUnreachable: it has disconnected; NotSupported: it is a pipe.
    /// </param>
    /// <returns>How many were accepted, from the first on: all, unless there is an error.</returns>
    public int SendMany(StreamFrames frames, out ZlinkError error) => _output.SendMany(_link, frames, out error);

    /// <summary>Sends payloads in order without waiting. Copies them.</summary>
    /// <param name="payloads">The payloads. They may be empty.</param>
    /// <param name="error">
    /// None; Again: the peer is at its high-water mark or a byte limit; HostUnreachable: it has disconnected; NotSupported: it is a pipe.
    /// </param>
    /// <returns>How many were accepted, from the first on: all, unless there is an error.</returns>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        _output.SendMany(_link, payloads, out error);

    /// <summary>Sends payloads in order, and waits until all are accepted. Copies them.</summary>
    /// <param name="payloads">The payloads. They must not change until the task completes.</param>
    /// <param name="cancellationToken">Cancels the wait.</param>
    /// <returns>
    /// How many were accepted, from the first on. Fewer than all only if the wait ended after the first one; the next call then fails with
    /// the reason. Allocates nothing.
    /// </returns>
    /// <exception cref="ZlinkException">
    /// HostUnreachable: the peer has disconnected; NotSupported: it is a pipe. Nothing was sent.
    /// </exception>
    /// <exception cref="OperationCanceledException">The token was cancelled. Nothing was sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be. Those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        _output.SendManyAsync(_link, payloads, cancellationToken);

    /// <summary>Sends a payload, and waits for capacity if needed. Copies it.</summary>
    /// <param name="payload">The payload, which must not change until the task completes. It may be empty.</param>
    /// <param name="cancellationToken">Cancels the wait. Nothing is sent then.</param>
    /// <returns>A task that completes when the payload is accepted. Allocates nothing.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: the peer has disconnected.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled first.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _output.SendAsync(_link, payload, cancellationToken);

    /// <summary>Ends the connection. The id is invalid at once. Idempotent.</summary>
    /// <param name="abort">
    /// False: accepted payloads are still written within <see cref="SocketOptions.Linger"/>, by default without limit. True, for a peer
    /// that does not read: the connection ends at once, also after a call with false. Unwritten payloads are dropped and counted.
    /// </param>
    public void Disconnect(bool abort = false)
    {
        if (!_output.Disconnect(_link, abort ? CloseMode.Abort : CloseMode.Orderly) && abort)
        {
            _link.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        }
    }

    /// <summary>Returns the statistics of this peer.</summary>
    /// <returns>A snapshot.</returns>
    public PeerStatistics GetStatistics() => PeerStatistics.Of(_link);

    /// <summary>Returns id and address, for logs.</summary>
    /// <returns>A short text.</returns>
    public override string ToString() => $"peer {Id} ({_link.RemoteText})";
}
