namespace Net.Zlink;

/// <summary>Why a message was not sent: <see cref="SendResult.Reason"/>. In each case but <see cref="None"/> the message, and memory that
/// was handed over with it, still belongs to the caller.</summary>
public enum SendFailure
{
    /// <summary>Nothing was tried: the default value of <see cref="SendResult"/>.</summary>
    NotTried = 0,

    /// <summary>The message was sent, and belongs to the socket now.</summary>
    None = 1,

    /// <summary>
    /// No peer has capacity: none is connected, or each is at its high-water mark or a byte limit. Try again later, or use SendAsync, which
    /// waits.
    /// </summary>
    Full = 2,

    /// <summary>There is no such peer: it has not connected yet, or its connection has ended.</summary>
    NoPeer = 3,

    /// <summary>There is no memory for a buffer, even after the pool released its retained buffers.</summary>
    NoMemory = 4,

    /// <summary>The message has several parts, but STREAM peers and sockets with Conflate take messages of one part.</summary>
    TooManyParts = 5,

    /// <summary>The peer is a pipe (<see cref="StreamSocket.BindPipe"/>): write to its Output.</summary>
    IsPipe = 6,
}
