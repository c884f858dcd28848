namespace Net.Zlink;

/// <summary>What a <see cref="Poller"/> waits for, and finds; with the native numbers.</summary>
[Flags]
public enum PollEvents
{
    /// <summary>Nothing: such an item never fires.</summary>
    None = 0,

    /// <summary>A message can be received now; of a STREAM socket also a connect or disconnect event. For a plain socket: there is data, a
    /// connection to accept, or the end of the stream.</summary>
    In = 1,

    /// <summary>A send would not have to wait now. A STREAM socket is always ready for it: room is a matter of each of its peers, and a
    /// send says at once that its own has none. As natively PUB and XPUB are always ready for it, with NoDrop too, and a ROUTER with
    /// Mandatory while any of its peers has room: who polls for it because a send of theirs found none gets no wait; use
    /// SendAsync.</summary>
    Out = 2,

    /// <summary>For plain sockets only: an error, or urgent data. Reported also where only the others are asked for.</summary>
    Error = 4,
}
