using Net.Zlink.Monitoring;

namespace Net.Zlink.Porting;

/// <summary>The native core's monitor events: which there are, and the numbers that come with them.</summary>
public static class NativeEvents
{
    /// <summary>Every event that the native core has as well, with the same number.</summary>
    public const SocketEventTypes All = SocketEventTypes.Connected | SocketEventTypes.ConnectDelayed | SocketEventTypes.ConnectRetried
        | SocketEventTypes.Listening | SocketEventTypes.BindFailed | SocketEventTypes.Accepted | SocketEventTypes.AcceptFailed
        | SocketEventTypes.Closed | SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped
        | SocketEventTypes.HandshakeFailedNoDetail | SocketEventTypes.ConnectionReady | SocketEventTypes.HandshakeFailedProtocol;

    private const long InProgress = 115;
    private const long MalformedHello = 0x10000013;

    /// <summary>Returns the value that the native event has (docs/protocol.md section 3).</summary>
    /// <param name="socketEvent">The event.</param>
    /// <returns>
    /// Disconnected: a reason, 0 to 5. ConnectDelayed: 115, EINPROGRESS. HandshakeFailedProtocol: 0x10000013, a malformed HELLO. Otherwise
    /// the event's value.
    /// </returns>
    public static long ToNativeValue(this in SocketEvent socketEvent) => socketEvent.Type switch
    {
        SocketEventTypes.Disconnected => ((DisconnectReason)socketEvent.Value).ToNativeReason(),
        SocketEventTypes.ConnectDelayed => InProgress,
        SocketEventTypes.HandshakeFailedProtocol => MalformedHello,
        _ => socketEvent.Value,
    };

    /// <summary>Returns the number that a native DISCONNECTED event has for this reason (docs/protocol.md section 3).</summary>
    /// <param name="reason">The reason.</param>
    /// <returns>A native reason, 0 to 5.</returns>
    public static long ToNativeReason(this DisconnectReason reason) => reason switch
    {
        DisconnectReason.Remote or DisconnectReason.TransportError or DisconnectReason.IdleTimeout or DisconnectReason.WriteTimeout
            or DisconnectReason.HeartbeatTimeout or DisconnectReason.UnfinishedByteLimit or DisconnectReason.SubscriptionByteLimit
            or DisconnectReason.TopicsUnread or DisconnectReason.OutOfMemory => 4,
        DisconnectReason.ProtocolError or DisconnectReason.HandlerFailed or DisconnectReason.HandshakeFailed or DisconnectReason.Refused
            or DisconnectReason.TakenOver => 3,
        DisconnectReason.ContextTerminated => 5,
        _ => 0,
    };
}
