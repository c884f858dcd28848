namespace Net.Zlink.Monitoring;

/// <summary>What happened to a socket's endpoint or peer. Values up to 0xFFFF are the native core's event numbers; those above are
/// ours.</summary>
[Flags]
public enum SocketEventTypes
{
    /// <summary>Nothing.</summary>
    None = 0,

    /// <summary>An outgoing transport connection is up. Value: the socket's handle.</summary>
    Connected = 0x0001,

    /// <summary>An outgoing attempt begins, its name having been looked up. Value: the native EINPROGRESS, 115.</summary>
    ConnectDelayed = 0x0002,

    /// <summary>The next attempt has been scheduled. Value: the pause in milliseconds; Detail: why the last one failed, or its connection
    /// ended.</summary>
    ConnectRetried = 0x0004,

    /// <summary>A bind succeeded. Value: the socket's handle.</summary>
    Listening = 0x0008,

    /// <summary>The operating system refused a bind. Value: the error's native errno.</summary>
    BindFailed = 0x0010,

    /// <summary>An incoming connection was taken. Value: the socket's handle.</summary>
    Accepted = 0x0020,

    /// <summary>An accept failed. Value: the system's error number; Detail says how accepting goes on.</summary>
    AcceptFailed = 0x0040,

    /// <summary>A listener closed, or an outgoing attempt failed. Value: the socket's handle, or 0.</summary>
    Closed = 0x0080,

    /// <summary>A socket could not be closed.</summary>
    CloseFailed = 0x0100,

    /// <summary>A connection was lost or refused by us. Value: a native reason number; Detail says more.</summary>
    Disconnected = 0x0200,

    /// <summary>The monitored socket closed; the last event.</summary>
    MonitorStopped = 0x0400,

    /// <summary>The peer closed or timed out in the handshake.</summary>
    HandshakeFailedNoDetail = 0x0800,

    /// <summary>A peer is ready for messages. Value: 0.</summary>
    ConnectionReady = 0x1000,

    /// <summary>The header of the peer's first frame was not as it should be. Who speaks something else altogether rarely gets that far: he
    /// is <see cref="Disconnected"/>, with what it looks like as the detail.</summary>
    HandshakeFailedProtocol = 0x2000,

    /// <summary>The peer could not be authenticated.</summary>
    HandshakeFailedAuth = 0x4000,

    /// <summary>Ours: the application's handler threw; the peer is being closed. Detail: the exception.</summary>
    HandlerFailed = 0x1_0000,

    /// <summary>Ours: a run held its shard longer than 50 ms. Value: milliseconds; Detail: who.</summary>
    SlowHandler = 0x2_0000,

    /// <summary>Ours: an incoming connection was turned away. Detail: why, and what to change.</summary>
    ConnectionRefused = 0x4_0000,

    /// <summary>
    /// Ours: messages were dropped. Value: how many, since the last such event of that cause; Detail: the cause. Messages that had been
    /// accepted are told when their connection ends. What a publisher, or a ROUTER without Mandatory, does not send because the peer is at
    /// its high-water mark, or unknown, is told at the first one and whenever there are twice as many.
    /// </summary>
    MessagesDropped = 0x8_0000,

    /// <summary>Ours: an endpoint that was connected to is given up, and no further attempt is made. Detail: why.</summary>
    ConnectGivenUp = 0x10_0000,

    /// <summary>Ours: messages were written to a connection that the peer ended within 5 s without sending a frame, or with an ERROR. They
    /// may be
    /// lost. Value: how many.</summary>
    MessagesUnconfirmed = 0x20_0000,

    /// <summary>Every native event.</summary>
    AllNative = Connected | ConnectDelayed | ConnectRetried | Listening | BindFailed | Accepted | AcceptFailed | Closed | CloseFailed
        | Disconnected
        | MonitorStopped | HandshakeFailedNoDetail | ConnectionReady | HandshakeFailedProtocol | HandshakeFailedAuth,

    /// <summary>Every event.</summary>
    All = AllNative | HandlerFailed | SlowHandler | ConnectionRefused | MessagesDropped | ConnectGivenUp | MessagesUnconfirmed,
}
