using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink;

/// <summary>Failed handshakes by cause.</summary>
public readonly struct HandshakeFailureCounts
{
    /// <summary>The connection ended: the peer closed it, or it was lost.</summary>
    public long Lost { get; internal init; }

    /// <summary>It took longer than <see cref="SocketOptions.HandshakeInterval"/>.</summary>
    public long TimedOut { get; internal init; }

    /// <summary>The peer's bytes were not the protocol.</summary>
    public long Malformed { get; internal init; }

    /// <summary>The peer's socket type does not fit.</summary>
    public long TypeMismatch { get; internal init; }

    /// <summary>The peer answered with an ERROR frame.</summary>
    public long ErrorReceived { get; internal init; }

    /// <summary>A certificate was rejected by either side, or could not be read.</summary>
    public long Certificate { get; internal init; }

    /// <summary>The sum of all causes.</summary>
    public long Total => Lost + TimedOut + Malformed + TypeMismatch + ErrorReceived + Certificate;

    internal static HandshakeFailureCounts Of(FailedHandshakes counts) => new()
    {
        Lost = counts[HandshakeFailure.Lost],
        TimedOut = counts[HandshakeFailure.TimedOut],
        Malformed = counts[HandshakeFailure.Malformed],
        TypeMismatch = counts[HandshakeFailure.TypeMismatch],
        ErrorReceived = counts[HandshakeFailure.ErrorReceived],
        Certificate = counts[HandshakeFailure.Certificate],
    };
}
