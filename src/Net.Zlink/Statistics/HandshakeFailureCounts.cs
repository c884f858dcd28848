using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;

namespace Net.Zlink;

/// <summary>Failed handshakes by cause.</summary>
/// <param name="Lost">The connection ended: the peer closed it, or it was lost.</param>
/// <param name="TimedOut">It took longer than <see cref="SocketOptions.HandshakeInterval"/>.</param>
/// <param name="Malformed">The peer's bytes were not the protocol.</param>
/// <param name="TypeMismatch">The peer's socket type does not fit.</param>
/// <param name="ErrorReceived">The peer answered with an ERROR frame.</param>
/// <param name="Certificate">A certificate was rejected by either side, or could not be read.</param>
public readonly record struct HandshakeFailureCounts(
    long Lost, long TimedOut, long Malformed, long TypeMismatch, long ErrorReceived, long Certificate)
{
    /// <summary>The sum of all causes.</summary>
    public long Total => Lost + TimedOut + Malformed + TypeMismatch + ErrorReceived + Certificate;

    internal static HandshakeFailureCounts Of(FailedHandshakes counts) => new(
        counts[HandshakeFailure.Lost],
        counts[HandshakeFailure.TimedOut],
        counts[HandshakeFailure.Malformed],
        counts[HandshakeFailure.TypeMismatch],
        counts[HandshakeFailure.ErrorReceived],
        counts[HandshakeFailure.Certificate]);
}
