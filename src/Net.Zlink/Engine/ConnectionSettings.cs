namespace Net.Zlink.Engine;

internal sealed record ConnectionSettings
{
    public required long MessageLimit { get; init; }

    public IFrameScanner StreamScanner => field ??= new StreamScanner(MessageLimit);

    public required QueueLimits Outbound { get; init; }

    public required TimeSpan IdleTimeout { get; init; }

    public required TimeSpan WriteTimeout { get; init; }

    public required TimeSpan Linger { get; init; }

    public required TimeSpan CloseTimeout { get; init; }
}
