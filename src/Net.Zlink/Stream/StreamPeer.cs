using System.Net;
using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>One peer of a <see cref="StreamSocket"/>. Safe for any number of threads.</summary>
public sealed class StreamPeer
{
    private readonly StreamSocket _socket;
    private readonly StreamLink _link;
    private object? _userState;

    internal StreamPeer(StreamSocket socket, StreamLink link)
    {
        _socket = socket;
        _link = link;
    }

    /// <summary>Its id on the socket: 1, 2, 3 ... in order of arrival, never used twice before the 32 bits wrap.</summary>
    public uint Id => _link.Id;

    /// <summary>Its address.</summary>
    public EndPoint? RemoteEndPoint => _link.Remote;

    /// <summary>The certificate that it showed, over tls and wss; null where it showed none. A listener asks for one with
    /// <see cref="TlsOptions.RequireClientCertificate"/>. It is the connection's: do not dispose it.</summary>
    public X509Certificate2? RemoteCertificate => _link.RemoteCertificate;

    /// <summary>What it asked for its WebSocket with, of a peer that came in over ws or wss; null of any other.</summary>
    public WebSocketRequest? WebSocketRequest => global::Net.Zlink.WebSocketRequest.Of(_link.Request, RemoteEndPoint, RemoteCertificate);

    /// <summary>Our address on this connection.</summary>
    public EndPoint? LocalEndPoint => _link.Connection?.LocalEndPoint ?? _link.Pipe?.LocalEndPoint;

    /// <summary>The endpoint it came in by, or the text it was connected with.</summary>
    public string Endpoint => _link.Endpoint;

    /// <summary>Anything the application wants to keep with this peer. The library never looks at it.</summary>
    public object? UserState
    {
        get => Volatile.Read(ref _userState);
        set => Volatile.Write(ref _userState, value);
    }

    internal StreamLink Link => _link;

    /// <summary>Sends a payload if there is room; copies it.</summary>
    /// <param name="payload">Any bytes, also none.</param>
    /// <returns>False if the peer is at its high-water mark or at a byte limit, or gone.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(ReadOnlySpan<byte> payload) => StreamSender.TrySend(_link, payload) == SendStatus.Accepted;

    /// <summary>Sends a payload if there is room; copies it.</summary>
    /// <param name="payload">Any bytes, also none.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone; NotSupported:
    /// it is a pipe.</param>
    /// <returns>True if it was accepted.</returns>
    /// <exception cref="ArgumentException">The payload is longer than a frame can be.</exception>
    public bool TrySend(ReadOnlySpan<byte> payload, out ZlinkError error)
    {
        error = StreamSender.ToError(StreamSender.TrySend(_link, payload));
        return error == ZlinkError.None;
    }

    /// <summary>
    /// Passes the frames that a handler was given on to this peer, in order and as they came, without copying what is long: an echo, a
    /// relay. Never waits.
    /// The frames stay valid as long as they were.
    /// </summary>
    /// <remarks>What is passed on keeps the memory it was received in until it is written.</remarks>
    /// <param name="frames">What a handler of any peer was given, while it is valid.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone; NotSupported:
    /// it is a pipe.</param>
    /// <returns>How many were accepted, from the first one on: all of them unless there is an error.</returns>
    public int SendMany(StreamFrames frames, out ZlinkError error) => StreamBatches.SendMany(_link, frames, out error);

    /// <summary>Sends payloads in order, as many as need not wait; copies them.</summary>
    /// <param name="payloads">Any bytes, also none.</param>
    /// <param name="error">None; Again: the peer is at its high-water mark or at a byte limit; HostUnreachable: it is gone; NotSupported:
    /// it is a pipe.</param>
    /// <returns>How many were accepted, from the first one on: all of them unless there is an error.</returns>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    public int SendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads, out ZlinkError error) =>
        StreamBatches.SendMany(_link, payloads, out error);

    /// <summary>Sends payloads in order, waiting for room until all are accepted; copies them.</summary>
    /// <param name="payloads">Any bytes, also none; unchanged until the task completes.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>How many were accepted, from the first one on. Fewer than there are only if something ended the wait behind the first one:
    /// the next call says what. Allocates nothing, waiting or not.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: the peer is gone; NotSupported: it is a pipe. Nothing was sent.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled; nothing was sent.</exception>
    /// <exception cref="ArgumentException">A payload is longer than a frame can be; those before it were sent.</exception>
    public ValueTask<int> SendManyAsync(ReadOnlyMemory<ReadOnlyMemory<byte>> payloads, CancellationToken cancellationToken = default) =>
        _socket.Batches.SendManyAsync(_link, payloads, cancellationToken);

    /// <summary>Sends a payload, waiting for room where there is none.</summary>
    /// <param name="payload">Any bytes; they must stay unchanged until the task completes, which is when they were copied.</param>
    /// <param name="cancellationToken">Ends the wait; the payload is then not sent.</param>
    /// <returns>Complete when the payload was accepted; nothing is allocated in either case.</returns>
    /// <exception cref="ZlinkException">HostUnreachable: the peer is gone.</exception>
    /// <exception cref="OperationCanceledException">The token was cancelled first.</exception>
    public ValueTask SendAsync(ReadOnlyMemory<byte> payload, CancellationToken cancellationToken = default) =>
        _socket.SendToAsync(_link, payload, cancellationToken);

    /// <summary>Ends the connection in order: what was accepted is still written, within <see cref="SocketOptions.Linger"/>, for ever by
    /// default. The id is invalid at once. Idempotent. For a peer that does not read: <see cref="Abort"/>.</summary>
    public void Disconnect() => _socket.Hub.Disconnect(_link.Id, CloseMode.Orderly);

    /// <summary>Ends the connection at once; what was not written yet is dropped and counted. Idempotent.</summary>
    public void Abort()
    {
        if (!_socket.Hub.Disconnect(_link.Id, CloseMode.Abort))
        {
            _link.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        }
    }

    /// <summary>What passed between us so far, and what waits: a snapshot.</summary>
    /// <returns>The statistics.</returns>
    public PeerStatistics GetStatistics() => PeerStatistics.Of(_link);

    /// <summary>Id and address, for logs.</summary>
    /// <returns>A short text.</returns>
    public override string ToString() => $"peer {Id} ({_link.RemoteText})";
}
