namespace Net.Zlink.Monitoring;

/// <summary>Why a handshake was not completed.</summary>
public enum HandshakeFailure
{
    /// <summary>The connection ended: the peer closed it, or it broke.</summary>
    Lost,

    /// <summary>It was not complete within HandshakeInterval.</summary>
    TimedOut,

    /// <summary>What the peer sent was not the protocol.</summary>
    Malformed,

    /// <summary>The peer is of a type that this socket does not talk to.</summary>
    TypeMismatch,

    /// <summary>The peer answered with an ERROR frame.</summary>
    ErrorReceived,

    /// <summary>A certificate was not accepted, on this side or by the peer, or could not be read.</summary>
    Certificate,
}
