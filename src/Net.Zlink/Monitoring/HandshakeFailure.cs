namespace Net.Zlink.Monitoring;

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
