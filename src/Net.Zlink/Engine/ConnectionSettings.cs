namespace Net.Zlink.Engine;

/// <summary>What a connection needs to know of its socket's options: a snapshot taken when its endpoint was made.</summary>
internal sealed record ConnectionSettings
{
    /// <summary>Largest payload accepted, in bytes.</summary>
    public required long MessageLimit { get; init; }

    /// <summary>Finds the frames of a STREAM connection; shared by the connections of an endpoint.</summary>
    public IFrameScanner StreamScanner => field ??= new StreamScanner(MessageLimit);

    public required QueueLimits Outbound { get; init; }

    /// <summary>Close when nothing arrived for so long; zero: never.</summary>
    public required TimeSpan IdleTimeout { get; init; }

    /// <summary>Abort when the peer took nothing for so long while something waits for it; zero: never.</summary>
    public required TimeSpan WriteTimeout { get; init; }

    /// <summary>How long a closing connection may go on writing what was accepted; infinite: as long as it takes.</summary>
    public required TimeSpan Linger { get; init; }

    /// <summary>How long to wait for the peer's end after ours.</summary>
    public required TimeSpan CloseTimeout { get; init; }
}
