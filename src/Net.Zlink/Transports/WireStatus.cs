namespace Net.Zlink.Transports;

internal enum WireStatus
{
    Done,

    WouldWait,

    Ended,

    /// <summary>The peer violated the transport's protocol: nothing can be sent any more, and further input is meaningless.</summary>
    Refused,

    Failed,
}
