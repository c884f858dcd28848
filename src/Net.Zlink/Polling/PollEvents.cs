namespace Net.Zlink;

/// <summary>What a <see cref="Poller"/> waits for, with the native numbers.</summary>
[Flags]
public enum PollEvents
{
    /// <summary>Nothing: the item is never ready.</summary>
    None = 0,

    /// <summary>
    /// A message can be received now; with STREAM also a connect or disconnect event. Plain socket: data, a connection to accept, or the
    /// end of the stream.
    /// </summary>
    In = 1,

    /// <summary>
    /// A send would not wait now. STREAM is always ready, because each peer has its own capacity. As in the native core, PUB and XPUB are
    /// always ready, with NoDrop too, and a ROUTER with Mandatory while any peer has capacity. After a failed send use SendAsync to wait.
    /// </summary>
    Out = 2,

    /// <summary>Plain sockets only: an error, or urgent data. Always reported.</summary>
    Error = 4,
}
