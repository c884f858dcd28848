namespace Net.Zlink.Engine;

/// <summary>What became of one send.</summary>
internal enum SendStatus
{
    /// <summary>Accepted: it will be written in order, or counted as dropped with a cause.</summary>
    Accepted,

    /// <summary>The peer is at its high-water mark, in messages or in bytes.</summary>
    Full,

    /// <summary>The peer is closing or gone; of a whole socket: it is disposed.</summary>
    Closed,

    /// <summary>The context was shut down.</summary>
    Terminated,

    /// <summary>Nobody is there to send it to, or nobody who has room and for whom a sender waits: dropped, by the rules of the socket's type, and counted.</summary>
    Dropped,

    /// <summary>There is no peer of that routing id.</summary>
    Unroutable,

    /// <summary>The peer is raw bytes: frames do not apply.</summary>
    NotFramed,
}
