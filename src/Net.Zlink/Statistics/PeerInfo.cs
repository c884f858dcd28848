using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Serialization;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;
using static Net.Zlink.DescriptionText;

namespace Net.Zlink;

/// <summary>A peer of a ZMP socket: a snapshot.</summary>
/// <remarks>
/// <c>JsonSerializer.Serialize(socket.GetPeers())</c> writes every figure, and routing ids as text. Objects of the connection and the
/// application are left out.
/// </remarks>
public sealed class PeerInfo
{
    /// <summary>The peer's routing id, or the name it was given. Empty before the first handshake.</summary>
    public RoutingId RoutingId { get; init; }

    /// <summary>The endpoint that accepted it, or that was connected. The query of a ws or wss endpoint is "?…".</summary>
    public string Endpoint { get; init; } = "";

    /// <summary>Its address as an endpoint. Empty for inproc and while not connected.</summary>
    public string RemoteAddress { get; init; } = "";

    /// <summary>
    /// Its certificate over tls and wss, or null. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>. The
    /// connection owns it: do not dispose it.
    /// </summary>
    [JsonIgnore]
    public X509Certificate2? RemoteCertificate { get; init; }

    /// <summary>Its upgrade request, if it was accepted over ws or wss, or null.</summary>
    [JsonIgnore]
    public WebSocketRequest? WebSocketRequest { get; init; }

    /// <summary>
    /// The sub-protocol over ws and wss that both sides agreed on, or null. See <see cref="WebSocketTransportOptions.SubProtocols"/>.
    /// </summary>
    public string? SubProtocol { get; init; }

    /// <summary>What the application passed to <see cref="ZlinkSocket.AcceptAsync"/>, or null.</summary>
    [JsonIgnore]
    public PeerDetails? Details { get; init; }

    /// <summary>When the handshake was complete, or null.</summary>
    public DateTimeOffset? ConnectedAt { get; init; }

    /// <summary>Time since then, by a clock that nobody sets. Null: as for <see cref="ConnectedAt"/>.</summary>
    public TimeSpan? ConnectedFor { get; init; }

    /// <summary>It has a connection.</summary>
    public bool IsConnected { get; init; }

    /// <summary>
    /// For a connected endpoint: why the last attempt failed or the last connection ended. Null while connected, before a reason is known,
    /// and for accepted peers.
    /// </summary>
    public string? WhyNotConnected { get; init; }

    /// <summary>Reading is paused because the application receives more slowly than the peer sends.</summary>
    public bool IsPaused { get; init; }

    /// <summary>Whole messages sent, with subscriptions.</summary>
    public long MessagesSent { get; init; }

    /// <summary>Bytes sent, with frame headers; inproc as over a wire.</summary>
    public long BytesSent { get; init; }

    /// <summary>Whole messages received, also subscriptions and filtered ones.</summary>
    public long MessagesReceived { get; init; }

    /// <summary>Bytes of received messages, with frame headers, those of filtered ones too; inproc as over a wire.</summary>
    public long BytesReceived { get; init; }

    /// <summary>
    /// Messages that the peer does not get: dropped because its queue was full (PUB, XPUB, ROUTER), or accepted and lost with a connection.
    /// </summary>
    public long MessagesDropped { get; init; }

    /// <summary>Messages that wait to be written, and their bytes. Inproc: those that the peer has not received.</summary>
    public QueueDepth Outbound { get; init; }

    /// <summary>Unread messages and their bytes.</summary>
    public QueueDepth Unread { get; init; }

    /// <summary>The application's object: see <see cref="Message.UserState"/>.</summary>
    [JsonIgnore]
    public object? UserState { get; init; }

    /// <summary>Time since the last read from the connection. Null without one, and for inproc.</summary>
    public TimeSpan? SinceLastRead { get; init; }

    /// <summary>Time since the last write to the connection. Null without one, and for inproc.</summary>
    public TimeSpan? SinceLastWrite { get; init; }

    /// <summary>Describes the peer for a log, as <see cref="ZlinkSocket.Describe"/> does. The format may change.</summary>
    /// <returns>One line of text.</returns>
    public override string ToString() => FormattableString.Invariant(
        $"{PeerIdentity.NameOf(RoutingId.Span)} {Quoted(RemoteAddress)} by {Quoted(Endpoint)}: {State}, sent {MessagesSent}, ")
        + FormattableString.Invariant($"to send {Outbound.Messages} ({Outbound.Bytes} bytes), dropped {MessagesDropped}, ")
        + FormattableString.Invariant($"received {MessagesReceived}, unread {Unread.Messages} ({Unread.Bytes} bytes), ")
        + $"last read {Ago(SinceLastRead)}, last write {Ago(SinceLastWrite)}";

    private string State => this switch
    {
        { IsConnected: false, WhyNotConnected: { } why } => $"not connected: {why}",
        { IsConnected: false } => "not connected",
        { IsPaused: true } => "not read: the application receives too slowly",
        _ => "connected",
    };

    internal (PeerLink Link, PeerIdentity Peer) Of { get; private init; }

    internal static PeerInfo For(ZmpConnecter connecter) => new()
    {
        Of = (connecter.Link, PeerIdentity.Unknown),
        RoutingId = connecter.Dialer.Name,
        Endpoint = connecter.Dialer.Target.Redacted.ToString(),
        WhyNotConnected = connecter.Dialer.Problem,
    };

    internal static PeerInfo For(PeerLink link)
    {
        PeerIdentity peer = link.Peer;
        QueueCounts outbound = link.Outbound;
        (long waitingMessages, long waitingBytes) = link.Waiting;
        QueueCounts inbound = link.Lane.Counts;
        Connection? connection = link.Reader;
        bool isConnected = link.IsConnected;
        return new PeerInfo
        {
            Of = (link, peer),
            RoutingId = peer.RoutingId,
            Endpoint = link.Endpoint.ToString(),
            RemoteAddress = peer.RemoteAddress,
            RemoteCertificate = peer.Certificate,
            WebSocketRequest = global::Net.Zlink.WebSocketRequest.Of(peer.Request, remote: null, peer.Certificate),
            SubProtocol = peer.SubProtocol,
            Details = peer.Details,
            ConnectedAt = peer.ConnectedAt,
            ConnectedFor = peer.ConnectedFor,
            IsConnected = isConnected,
            WhyNotConnected = isConnected ? null : link.WhyNotConnected,
            // An XPUB's connection also pauses while notices are unread.
            IsPaused = link.Lane.IsPaused || connection is { IsPaused: true },
            MessagesSent = outbound.TakenMessages,
            BytesSent = outbound.TakenBytes,
            MessagesReceived = inbound.AcceptedMessages + link.Topics,
            BytesReceived = inbound.AcceptedBytes,
            MessagesDropped = link.DroppedAtMark + outbound.DroppedMessages,
            Outbound = new QueueDepth { Messages = waitingMessages, Bytes = waitingBytes },
            Unread = new QueueDepth { Messages = inbound.QueuedMessages, Bytes = inbound.QueuedBytes },
            UserState = peer.Slot.State,
            SinceLastRead = connection?.SinceLastRead,
            SinceLastWrite = connection?.SinceLastWrite,
        };
    }
}

internal static class DescriptionText
{
    public static string Ago(TimeSpan? time) =>
        time is { } since ? FormattableString.Invariant($"{since.TotalMilliseconds:0} ms ago") : "never";

    public static string Quoted(string text) => text.Length == 0 ? "-" : text;
}
