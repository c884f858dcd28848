namespace Net.Zlink.Engine;

internal enum SendStatus
{
    /// <summary>It will be written in order, or counted as dropped with a cause.</summary>
    Accepted,

    /// <summary>The peer is at its high-water mark, in messages or bytes.</summary>
    Full,

    /// <summary>The peer is closing or gone. For a socket: it is disposed.</summary>
    Closed,

    Terminated,

    /// <summary>No peer can take it, and the socket's type does not wait: dropped and counted.</summary>
    Dropped,

    Unroutable,

    /// <summary>A raw peer has no frames.</summary>
    NotFramed,
}
