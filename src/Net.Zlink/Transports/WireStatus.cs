namespace Net.Zlink.Transports;

/// <summary>The status of a <see cref="Wire"/>'s operation.</summary>
internal enum WireStatus
{
    Done,

    /// <summary>It would have to wait: nothing was read or written.</summary>
    WouldWait,

    /// <summary>The peer has ended its side in order.</summary>
    Ended,

    /// <summary>
    /// The peer violated the transport's protocol and was notified. Nothing can be sent any more, and further input is meaningless.
    /// </summary>
    Refused,

    /// <summary>The connection has failed.</summary>
    Failed,
}
