namespace Net.Zlink;

/// <summary>One ready socket of a <see cref="SocketPoller"/>.</summary>
public readonly struct PollResult
{
    /// <summary>The socket.</summary>
    public ZlinkSocket Socket { get; init; }

    /// <summary>What it is ready for.</summary>
    public PollEvents Events { get; init; }

    /// <summary>The object that was passed to Add.</summary>
    public object? UserState { get; init; }
}
