using System.Security.Cryptography.X509Certificates;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

/// <summary>A peer of a ZMP socket at one moment, for those who look for trouble.</summary>
public sealed record PeerInfo
{
    /// <summary>What the peer calls itself, or the name it was given; empty before the first handshake.</summary>
    public required ReadOnlyMemory<byte> RoutingId { get; init; }

    /// <summary>The endpoint by which it came in, or that was connected to.</summary>
    public required string Endpoint { get; init; }

    /// <summary>Its address as an endpoint; empty for inproc and while not connected.</summary>
    public required string RemoteEndpoint { get; init; }

    /// <summary>The certificate that it showed, over tls and wss; null where it showed none. A listener asks for one with <see cref="TlsOptions.RequireClientCertificate"/>. It is the connection's: do not dispose it.</summary>
    public required X509Certificate2? RemoteCertificate { get; init; }

    /// <summary>What it asked for its WebSocket with, of a peer that came in over ws or wss; null of any other.</summary>
    public required WebSocketRequest? WebSocketRequest { get; init; }

    /// <summary>When the handshake was complete; null while it is not.</summary>
    public required DateTimeOffset? ConnectedAt { get; init; }

    /// <summary>A connection is up.</summary>
    public required bool IsConnected { get; init; }

    /// <summary>Of an endpoint that this side connects to: why the last attempt failed, or its last connection ended, for people. Null while it is connected, before that is known, and of peers that came in.</summary>
    public required string? WhyNotConnected { get; init; }

    /// <summary>Reading is stopped because the application does not receive as fast as the peer sends.</summary>
    public required bool IsParked { get; init; }

    /// <summary>Whole messages sent, subscriptions among them.</summary>
    public required long MessagesSent { get; init; }

    /// <summary>Whole messages received: also subscriptions, and what is not for the application.</summary>
    public required long MessagesReceived { get; init; }

    /// <summary>Messages for this peer that it does not get: dropped because its queue was full (PUB, XPUB, ROUTER), or accepted and lost with a connection.</summary>
    public required long MessagesDropped { get; init; }

    /// <summary>Messages that wait to be written, and their bytes; over inproc those that the peer has not received yet.</summary>
    public required (long Messages, long Bytes) Outbound { get; init; }

    /// <summary>Messages that wait to be received, and their bytes.</summary>
    public required (long Messages, long Bytes) Unread { get; init; }

    /// <summary>What the application keeps with the peer: see <see cref="Message.PeerState"/>.</summary>
    public required object? State { get; init; }

    /// <summary>Since the last read from the connection; null without one, and for inproc.</summary>
    public required TimeSpan? SinceLastRead { get; init; }

    /// <summary>Since the last write to the connection; null without one, and for inproc.</summary>
    public required TimeSpan? SinceLastWrite { get; init; }

    /// <summary>Whom this is about.</summary>
    internal (PeerLink Pipe, PeerIdentity Peer) Of { get; private init; }

    internal static PeerInfo For(PeerLink link)
    {
        PeerIdentity peer = link.Peer;
        OutboundCounts outbound = link.Outbound;
        LaneCounts inbound = link.Lane.Counts;
        Connection? connection = (link as WireLink)?.Session?.Connection;
        bool isConnected = connection is not null || link is InprocLink { Other: not null };
        return new PeerInfo
        {
            Of = (link, peer),
            RoutingId = peer.RoutingId,
            Endpoint = link.Endpoint,
            RemoteEndpoint = peer.RemoteEndpoint,
            RemoteCertificate = peer.Certificate,
            WebSocketRequest = global::Net.Zlink.WebSocketRequest.Of(peer),
            ConnectedAt = peer.ConnectedAt == default ? null : peer.ConnectedAt,
            IsConnected = isConnected,
            WhyNotConnected = isConnected ? null : link.WhyNotConnected,
            IsParked = inbound.IsParked || connection is { IsParked: true }, // An XPUB's connection also rests while topics of whomever are unread.
            MessagesSent = outbound.WrittenMessages,
            MessagesReceived = inbound.Received + link.Topics,
            MessagesDropped = link.DroppedAtMark + outbound.DroppedMessages,
            Outbound = link.Waiting,
            Unread = (inbound.QueuedMessages, inbound.QueuedBytes),
            State = peer.Slot.State,
            SinceLastRead = connection?.SinceLastRead,
            SinceLastWrite = connection?.SinceLastWrite,
        };
    }
}
