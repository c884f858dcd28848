using Net.Zlink.Interop.Tests.Native;

namespace Net.Zlink.Interop.Tests.Peers;

/// <summary>A monitor event with its native numbers.</summary>
internal sealed record PeerEvent(NativeEventTypes Type, long Value, byte[] RoutingId, string LocalAddress, string RemoteAddress)
{
    /// <summary>The reason of a Disconnected: the handshake or the protocol.</summary>
    public const long ReasonProtocol = 3;

    /// <summary>The reason of a Disconnected: the transport ended.</summary>
    public const long ReasonTransport = 4;

    /// <summary>As a comparison wants it: the type, and the value where it means the same everywhere (no descriptors, no random
    /// pauses).</summary>
    public override string ToString() => Type is NativeEventTypes.Disconnected or NativeEventTypes.HandshakeFailedProtocol
        ? string.Create(System.Globalization.CultureInfo.InvariantCulture, $"{Type}({Value})")
        : Type.ToString();
}
