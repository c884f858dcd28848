namespace Net.Zlink.Engine;

/// <summary>How a connection is ended.</summary>
internal enum CloseMode
{
    /// <summary>Write what was accepted, end our side, read until the peer ends its own, then close. Bounded by the linger and close timeouts.</summary>
    Orderly,

    /// <summary>Close now: what is queued is dropped and counted. What the system has taken it goes on delivering.</summary>
    Leave,

    /// <summary>As <see cref="Leave"/>, with a reset, which destroys what the system has taken.</summary>
    Abort,
}
