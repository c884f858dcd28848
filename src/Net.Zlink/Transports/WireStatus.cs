namespace Net.Zlink.Transports;

/// <summary>The status of a <see cref="Wire"/>'s operation.</summary>
internal enum WireStatus
{
    Done,

    /// <summary>It would have to wait: nothing was read or written.</summary>
    WouldWait,

    Ended,

    /// <summary>
    /// The peer violated the transport's protocol and was notified. Nothing can be sent any more, and further input is meaningless.
    /// </summary>
    Refused,

    Failed,
}
