namespace Net.Zlink.Engine;

/// <summary>A snapshot of the socket's options, taken when the endpoint was created.</summary>
internal sealed record ConnectionSettings
{
    public required long MessageLimit { get; init; }

    /// <summary>Shared by the STREAM connections of an endpoint.</summary>
    public IFrameScanner StreamScanner => field ??= new StreamScanner(MessageLimit);

    public required QueueLimits Outbound { get; init; }

    /// <summary>Zero: never.</summary>
    public required TimeSpan IdleTimeout { get; init; }

    /// <summary>Abort if a write makes no progress for so long. Zero: never.</summary>
    public required TimeSpan WriteTimeout { get; init; }

    public required TimeSpan Linger { get; init; }

    public required TimeSpan CloseTimeout { get; init; }
}
