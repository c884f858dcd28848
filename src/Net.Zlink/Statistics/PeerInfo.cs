using System.Security.Cryptography.X509Certificates;
using System.Text.Json.Serialization;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>A peer of a ZMP socket at one moment.</summary>
/// <remarks><c>JsonSerializer.Serialize(socket.GetPeers())</c> shows every figure, and routing ids as text. Objects of the connection and
/// of the application are left out.</remarks>
public sealed record PeerInfo
{
    /// <summary>What the peer calls itself, or the name it was given; empty before the first handshake.</summary>
    public required RoutingId RoutingId { get; init; }

    /// <summary>The endpoint by which it came in, or that was connected to.</summary>
    public required string Endpoint { get; init; }

    /// <summary>Its address as an endpoint; empty for inproc and while not connected.</summary>
    public required string RemoteAddress { get; init; }

    /// <summary>The certificate that it showed, over tls and wss; null where it showed none. A listener asks for one with
    /// <see cref="TlsOptions.RequireClientCertificate"/>. It is the connection's: do not dispose it.</summary>
    [JsonIgnore]
    public X509Certificate2? RemoteCertificate { get; init; }

    /// <summary>What it asked for its WebSocket with, of a peer that came in over ws or wss; null of any other.</summary>
    [JsonIgnore]
    public WebSocketRequest? WebSocketRequest { get; init; }

    /// <summary>When the handshake was complete; null while it is not.</summary>
    public required DateTimeOffset? ConnectedAt { get; init; }

    /// <summary>A connection is up.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>Of an endpoint that this side connects to: why the last attempt failed, or its last connection ended, for people. Null
    /// while it is connected, before that is known, and of peers that came in.</summary>
    public required string? WhyNotConnected { get; init; }

    /// <summary>Reading is stopped because the application does not receive as fast as the peer sends.</summary>
    public required bool IsParked { get; init; }

    /// <summary>Whole messages sent, subscriptions among them.</summary>
    public required long MessagesSent { get; init; }

    /// <summary>Whole messages received: also subscriptions, and what is not for the application.</summary>
    public required long MessagesReceived { get; init; }

    /// <summary>Messages for this peer that it does not get: dropped because its queue was full (PUB, XPUB, ROUTER), or accepted and lost
    /// with a connection.</summary>
    public required long MessagesDropped { get; init; }

    /// <summary>Messages that wait to be written, and their bytes; over inproc those that the peer has not received yet.</summary>
    public required QueueDepth Outbound { get; init; }

    /// <summary>Messages that wait to be received, and their bytes.</summary>
    public required QueueDepth Unread { get; init; }

    /// <summary>What the application keeps with the peer: see <see cref="Message.UserState"/>.</summary>
    [JsonIgnore]
    public object? UserState { get; init; }

    /// <summary>Since the last read from the connection; null without one, and for inproc.</summary>
    public required TimeSpan? SinceLastRead { get; init; }

    /// <summary>Since the last write to the connection; null without one, and for inproc.</summary>
    public required TimeSpan? SinceLastWrite { get; init; }

    /// <summary>Whom this is about.</summary>
    internal (PeerLink Pipe, PeerIdentity Peer) Of { get; private init; }

    /// <summary>An endpoint that has no pipe: nothing was sent to it and nothing waits for it.</summary>
    internal static PeerInfo For(ZmpDialer dialer) => new()
    {
        Of = (dialer.Pipe, PeerIdentity.Unknown),
        RoutingId = dialer.Alias ?? [],
        Endpoint = dialer.Text,
        RemoteAddress = "",
        ConnectedAt = null,
        IsConnected = false,
        WhyNotConnected = dialer.Problem,
        IsParked = false,
        MessagesSent = 0,
        MessagesReceived = 0,
        MessagesDropped = 0,
        Outbound = default,
        Unread = default,
        SinceLastRead = null,
        SinceLastWrite = null,
    };

    internal static PeerInfo For(PeerLink link)
    {
        PeerIdentity peer = link.Peer;
        OutboundCounts outbound = link.Outbound;
        (long waitingMessages, long waitingBytes) = link.Waiting;
        LaneCounts inbound = link.Lane.Counts;
        Connection? connection = (link as WireLink)?.Session?.Connection;
        bool isConnected = connection is not null || link is InprocLink { Other: not null };
        return new PeerInfo
        {
            Of = (link, peer),
            RoutingId = peer.RoutingId,
            Endpoint = link.Endpoint,
            RemoteAddress = peer.RemoteAddress,
            RemoteCertificate = peer.Certificate,
            WebSocketRequest = global::Net.Zlink.WebSocketRequest.Of(peer),
            ConnectedAt = peer.ConnectedAt == default ? null : peer.ConnectedAt,
            IsConnected = isConnected,
            WhyNotConnected = isConnected ? null : link.WhyNotConnected,
            // An XPUB's connection also rests while topics of whomever are unread.
            IsParked = inbound.IsParked || connection is { IsParked: true },
            MessagesSent = outbound.WrittenMessages,
            MessagesReceived = inbound.Received + link.Topics,
            MessagesDropped = link.DroppedAtMark + outbound.DroppedMessages,
            Outbound = new QueueDepth(waitingMessages, waitingBytes),
            Unread = new QueueDepth(inbound.QueuedMessages, inbound.QueuedBytes),
            UserState = peer.Slot.State,
            SinceLastRead = connection?.SinceLastRead,
            SinceLastWrite = connection?.SinceLastWrite,
        };
    }
}
