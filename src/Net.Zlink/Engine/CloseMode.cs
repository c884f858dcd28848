namespace Net.Zlink.Engine;

internal enum CloseMode
{
    /// <summary>Write what was accepted, end our side, read until the peer ends its side, then close.</summary>
    Orderly,

    /// <summary>The system still delivers what it has taken.</summary>
    Leave,

    /// <summary>As <see cref="Leave"/>, with a reset, which destroys what the system has taken.</summary>
    Abort,
}
