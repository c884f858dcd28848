namespace Net.Zlink.Monitoring;

/// <summary>Why a peer is gone. Values up to 5 carry the native core's numbers; the others are ours.</summary>
public enum DisconnectReason
{
    /// <summary>Nothing else fits.</summary>
    Unknown = 0,

    /// <summary>This side asked for it: Disconnect, Unbind or Dispose.</summary>
    Local = 1,

    /// <summary>The peer ended the connection in order.</summary>
    Remote = 2,

    /// <summary>The peer broke the protocol: a frame over MaxMessageSize, for one.</summary>
    ProtocolError = 3,

    /// <summary>A read or a write failed: a reset, a broken network, or a peer that broke the rules of what carries the protocol
    /// (WebSocket's).</summary>
    TransportError = 4,

    /// <summary>The context was disposed.</summary>
    ContextTerminated = 5,

    /// <summary>Nothing arrived for the length of IdleTimeout.</summary>
    IdleTimeout = 0x100,

    /// <summary>The peer took nothing for the length of WriteTimeout.</summary>
    WriteTimeout = 0x101,

    /// <summary>The application's handler threw.</summary>
    HandlerFailed = 0x102,

    /// <summary>The connection ended before the handshake was complete: lost, or silent for too long.</summary>
    HandshakeFailed = 0x103,

    /// <summary>The peer was silent for longer than the ttl it announced, or did not react to a heartbeat in time.</summary>
    HeartbeatTimeout = 0x104,

    /// <summary>The socket had no place for this peer: a PAIR that has one already, or a routing id that is in use.</summary>
    Refused = 0x105,

    /// <summary>Another peer took over its routing id (ROUTER with handover).</summary>
    TakenOver = 0x106,

    /// <summary>The peer began messages and did not end them, until what had come of such messages was more than
    /// <see cref="ZlinkContextOptions.UnfinishedByteLimit"/> allows.</summary>
    UnfinishedByteLimit = 0x107,

    /// <summary>The peer subscribed to more, together with all others, than <see cref="ZlinkContextOptions.SubscriptionByteLimit"/> allows,
    /// and to more than its part of that.</summary>
    SubscriptionByteLimit = 0x108,

    /// <summary>More than 100,000 changes of topics, and twice as many as there are topics, waited for the publisher (SUB, XSUB), which has
    /// read nothing for 10 seconds, or four times as many for one that reads. The side that connected connects again, and tells the topics
    /// anew.</summary>
    TopicsUnread = 0x109,
}

/// <summary>Conversions of <see cref="DisconnectReason"/>.</summary>
public static class DisconnectReasonExtensions
{
    /// <summary>The number a native DISCONNECTED event carries for this reason (docs/protocol.md section 3): 3 for protocol faults, 4 for
    /// lost connections, 5 at context termination.</summary>
    /// <param name="reason">The reason.</param>
    /// <returns>A native reason number, 0 to 5.</returns>
    public static long ToNativeReason(this DisconnectReason reason) => reason switch
    {
        DisconnectReason.Remote or DisconnectReason.TransportError or DisconnectReason.IdleTimeout or DisconnectReason.WriteTimeout
            or DisconnectReason.HeartbeatTimeout or DisconnectReason.UnfinishedByteLimit or DisconnectReason.SubscriptionByteLimit
            or DisconnectReason.TopicsUnread => 4,
        DisconnectReason.ProtocolError or DisconnectReason.HandlerFailed or DisconnectReason.HandshakeFailed or DisconnectReason.Refused
            or DisconnectReason.TakenOver => 3,
        DisconnectReason.ContextTerminated => 5,
        _ => 0,
    };

    /// <summary>In words, where nothing more is known: what an event or a log line says then.</summary>
    internal static string Words(this DisconnectReason reason) => reason switch
    {
        DisconnectReason.Local => "this side asked for it",
        DisconnectReason.Remote => "the peer ended the connection",
        DisconnectReason.ProtocolError => "the peer broke the protocol",
        DisconnectReason.TransportError => "a read or a write failed",
        DisconnectReason.ContextTerminated => "the context was shut down",
        DisconnectReason.IdleTimeout => "nothing arrived within IdleTimeout",
        DisconnectReason.WriteTimeout => "the peer took nothing within WriteTimeout",
        DisconnectReason.HandlerFailed => "the application's handler threw",
        DisconnectReason.HandshakeFailed => "the connection ended during the handshake",
        DisconnectReason.HeartbeatTimeout => "the peer did not answer a heartbeat in time",
        DisconnectReason.Refused => "the socket had no place for this peer",
        DisconnectReason.UnfinishedByteLimit => "too much had come of messages that are not whole",
        DisconnectReason.SubscriptionByteLimit => "its topics and those of all other peers were too many",
        DisconnectReason.TopicsUnread => "the publisher did not read the changes of topics, and too many waited for it",
        DisconnectReason.TakenOver => "another peer took over its routing id",
        _ => "why is not known",
    };
}
