namespace Net.Zlink.Transports;

/// <summary>How an operation of a <see cref="Wire"/> ended.</summary>
internal enum WireStatus
{
    /// <summary>It did what it was asked for.</summary>
    Done,

    /// <summary>It would have to wait: nothing was read or written.</summary>
    WouldWait,

    /// <summary>The peer has ended its side in order.</summary>
    Ended,

    /// <summary>The peer broke the transport's own protocol and has been told; nothing can be sent any more, and what still comes means
    /// nothing.</summary>
    Refused,

    /// <summary>The connection is broken.</summary>
    Failed,
}
