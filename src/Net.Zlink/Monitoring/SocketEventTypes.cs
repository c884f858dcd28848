namespace Net.Zlink.Monitoring;

/// <summary>What happened to a socket's endpoint or peer.</summary>
[Flags]
public enum SocketEventTypes
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>An outgoing transport connection is up. Value: the socket's handle.</summary>
    Connected = 0x0001,

    /// <summary>An outgoing attempt begins; its name has been resolved.</summary>
    ConnectDelayed = 0x0002,

    /// <summary>
    /// The next attempt is scheduled. Value: the pause in milliseconds. Detail: why the last attempt failed or its connection ended.
    /// </summary>
    ConnectRetried = 0x0004,

    /// <summary>A bind succeeded. Value: the socket's handle.</summary>
    Listening = 0x0008,

    /// <summary>The operating system refused a bind. Value: the system's error number.</summary>
    BindFailed = 0x0010,

    /// <summary>An incoming connection was accepted. Value: the socket's handle.</summary>
    Accepted = 0x0020,

    /// <summary>An accept failed. Value: the system's error number. Detail: how accepting continues.</summary>
    AcceptFailed = 0x0040,

    /// <summary>A listener was closed, or an outgoing attempt failed. Value: the socket's handle, or 0.</summary>
    Closed = 0x0080,

    /// <summary>A connection was lost, or this side ended it. Value: a <see cref="DisconnectReason"/>. Detail: more about it.</summary>
    Disconnected = 0x0200,

    /// <summary>The monitored socket was closed. This is the last event.</summary>
    MonitorStopped = 0x0400,

    /// <summary>The peer closed or timed out in the handshake.</summary>
    HandshakeFailedNoDetail = 0x0800,

    /// <summary>A peer is ready for messages. Value: 0.</summary>
    ConnectionReady = 0x1000,

    /// <summary>
    /// The header of the peer's first frame was wrong. A peer with another protocol usually appears as <see cref="Disconnected"/>, and the
    /// detail names the protocol.
    /// </summary>
    HandshakeFailedProtocol = 0x2000,

    /// <summary>The application's handler threw, and the peer is closed. Detail: the exception.</summary>
    HandlerFailed = 0x1_0000,

    /// <summary>A handler held its shard for longer than 50 ms. Value: milliseconds. Detail: which handler.</summary>
    SlowHandler = 0x2_0000,

    /// <summary>An incoming connection was rejected. Detail: why, and which option changes it.</summary>
    ConnectionRefused = 0x4_0000,

    /// <summary>
    /// Messages were dropped. Value: how many since the last such event of the same cause. Detail: the cause. Accepted messages are
    /// reported when their connection ends. Messages that a publisher, or a ROUTER without Mandatory, drops at once are reported at counts
    /// 1, 2, 4, 8 and so on.
    /// </summary>
    MessagesDropped = 0x8_0000,

    /// <summary>A connected endpoint is given up: no further attempt is made. Detail: why.</summary>
    ConnectGivenUp = 0x10_0000,

    /// <summary>
    /// Messages were written and may be lost: the peer ended the connection within 5 s without sending a frame, or with an ERROR, or was
    /// lost or fell silent after its last frame. Value: how many.
    /// </summary>
    MessagesUnconfirmed = 0x20_0000,

    /// <summary>
    /// A publisher did not take a subscription, because its topic is longer than <see cref="ZmpSocketOptions.MaxMessageSize"/>. The
    /// subscriber's other topics hold. Value: the topic's bytes.
    /// </summary>
    SubscriptionRefused = 0x40_0000,

    /// <summary>
    /// The reader was too slow, and the oldest of its events were dropped. It comes in their place, with any mask. Value: how many.
    /// </summary>
    EventsDropped = 0x80_0000,

    /// <summary>Every event.</summary>
    All = Connected | ConnectDelayed | ConnectRetried | Listening | BindFailed | Accepted | AcceptFailed | Closed | Disconnected
        | MonitorStopped | HandshakeFailedNoDetail | ConnectionReady | HandshakeFailedProtocol | HandlerFailed | SlowHandler
        | ConnectionRefused | MessagesDropped | ConnectGivenUp | MessagesUnconfirmed | SubscriptionRefused | EventsDropped,
}
