namespace Net.Zlink.Monitoring;

/// <summary>Why a peer disconnected.</summary>
public enum DisconnectReason
{
    /// <summary>Nothing else fits.</summary>
    Unknown = 0,

    /// <summary>This side asked for it: Disconnect, Unbind or Dispose.</summary>
    Local = 1,

    /// <summary>The peer ended the connection in order.</summary>
    Remote = 2,

    /// <summary>The peer broke the protocol, for example with a frame over MaxMessageSize.</summary>
    ProtocolError = 3,

    /// <summary>A read or a write failed: a reset, a broken network, or a violation of the WebSocket protocol.</summary>
    TransportError = 4,

    /// <summary>The context was disposed.</summary>
    ContextTerminated = 5,

    /// <summary>Nothing arrived for IdleTimeout.</summary>
    IdleTimeout = 6,

    /// <summary>The peer read nothing for WriteTimeout.</summary>
    WriteTimeout = 7,

    /// <summary>The application's handler threw.</summary>
    HandlerFailed = 8,

    /// <summary>The connection ended before the handshake was complete: lost, or silent for too long.</summary>
    HandshakeFailed = 9,

    /// <summary>The peer was silent for longer than its announced TTL, or did not answer a heartbeat in time.</summary>
    HeartbeatTimeout = 10,

    /// <summary>
    /// The socket cannot accept this peer: a PAIR has a peer already, the routing id is in use, or MaxConnections is reached.
    /// </summary>
    Refused = 11,

    /// <summary>Another peer took over the routing id (ROUTER with handover).</summary>
    TakenOver = 12,

    /// <summary>The peer's unfinished messages exceeded <see cref="ZlinkContextOptions.UnfinishedByteLimit"/>.</summary>
    UnfinishedByteLimit = 13,

    /// <summary>
    /// The peer's subscriptions exceeded its share of <see cref="ZlinkContextOptions.SubscriptionByteLimit"/>, and all peers together
    /// exceeded the limit.
    /// </summary>
    SubscriptionByteLimit = 14,

    /// <summary>
    /// The publisher did not read a subscriber's updates. The limit is 100,000 updates and twice the number of topics once the publisher
    /// has read nothing for 10 s, and four times as many before. The connecting side reconnects and sends its topics again.
    /// </summary>
    TopicsUnread = 15,

    /// <summary>
    /// No buffer could be had for what the peer sends, or for what this side owes it, also after the pool released what it retained. The
    /// connecting side reconnects.
    /// </summary>
    OutOfMemory = 16,
}

internal static class DisconnectReasonExtensions
{
    public static string Words(this DisconnectReason reason) => reason switch
    {
        DisconnectReason.Local => "this side ended the connection",
        DisconnectReason.Remote => "the peer ended the connection",
        DisconnectReason.ProtocolError => "the peer broke the protocol",
        DisconnectReason.TransportError => "a read or a write failed",
        DisconnectReason.ContextTerminated => "the context was shut down",
        DisconnectReason.IdleTimeout => "nothing arrived within IdleTimeout",
        DisconnectReason.WriteTimeout => "the peer read nothing within WriteTimeout",
        DisconnectReason.HandlerFailed => "the application's handler threw",
        DisconnectReason.HandshakeFailed => "the connection ended during the handshake",
        DisconnectReason.HeartbeatTimeout => "the peer did not answer a heartbeat in time",
        DisconnectReason.Refused => "the socket could not accept this peer",
        DisconnectReason.UnfinishedByteLimit => "incomplete messages exceeded UnfinishedByteLimit",
        DisconnectReason.SubscriptionByteLimit => "the topics of all peers exceeded SubscriptionByteLimit",
        DisconnectReason.OutOfMemory => "there was no memory for a buffer",
        DisconnectReason.TopicsUnread => "the publisher did not read subscription updates, and too many were queued",
        DisconnectReason.TakenOver => "another peer took over its routing id",
        _ => "the reason is not known",
    };
}

/// <summary>Why a handshake failed.</summary>
public enum HandshakeFailure
{
    /// <summary>The connection ended: the peer closed it, or it was lost.</summary>
    Lost,

    /// <summary>The handshake took longer than HandshakeInterval.</summary>
    TimedOut,

    /// <summary>The peer's bytes were not the protocol.</summary>
    Malformed,

    /// <summary>The peer's socket type does not fit this socket.</summary>
    TypeMismatch,

    /// <summary>The peer answered with an ERROR frame.</summary>
    ErrorReceived,

    /// <summary>A certificate was rejected by either side, or could not be read.</summary>
    Certificate,
}
