namespace Net.Zlink.Sockets;

/// <summary>When a peer is greeted.</summary>
internal enum GreetingOccasion
{
    /// <summary>The socket has taken the pipe in, with a connection or before the first one.</summary>
    NewLink,

    /// <summary>Its first connection is ready, and it was greeted before: what was said then has waited in its queue, or was taken back
    /// since.</summary>
    FirstConnection,

    /// <summary>It has lost a connection, and this is the next; within the process, it has waited for its binder, and no topic with
    /// it.</summary>
    NextConnection,
}
