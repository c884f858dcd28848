using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Handshakes that were not completed, by cause.</summary>
/// <param name="Lost">The connection ended: the peer closed it, or it broke.</param>
/// <param name="TimedOut">Not complete within <see cref="SocketOptions.HandshakeInterval"/>.</param>
/// <param name="Malformed">What the peer sent was not the protocol.</param>
/// <param name="TypeMismatch">The peer was of a type that the socket does not talk to.</param>
/// <param name="ErrorReceived">The peer answered with an ERROR frame.</param>
/// <param name="Certificate">A certificate was not accepted, on this side or by the peer, or could not be read.</param>
public readonly record struct HandshakeFailureCounts(
    long Lost, long TimedOut, long Malformed, long TypeMismatch, long ErrorReceived, long Certificate)
{
    /// <summary>All of them.</summary>
    public long Total => Lost + TimedOut + Malformed + TypeMismatch + ErrorReceived + Certificate;

    internal static HandshakeFailureCounts Of(FailedHandshakes counts) => new(
        counts[HandshakeFailure.Lost],
        counts[HandshakeFailure.TimedOut],
        counts[HandshakeFailure.Malformed],
        counts[HandshakeFailure.TypeMismatch],
        counts[HandshakeFailure.ErrorReceived],
        counts[HandshakeFailure.Certificate]);
}
