namespace Net.Zlink;

/// <summary>What a <see cref="SocketPoller"/> waits for.</summary>
[Flags]
public enum PollEvents
{
    /// <summary>Nothing: the socket is never ready.</summary>
    None = 0,

    /// <summary>A message can be received now; with STREAM also a connect or disconnect event.</summary>
    In = 1,

    /// <summary>
    /// A send would not wait now. STREAM is always ready, because each peer has its own capacity. As in the native core, PUB and XPUB are
    /// always ready, with NoDrop too, and a ROUTER with Mandatory while any peer has capacity. After a failed send use SendAsync to wait.
    /// </summary>
    Out = 2,
}
