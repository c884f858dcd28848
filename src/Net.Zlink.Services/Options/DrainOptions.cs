namespace Net.Zlink.Services;

/// <summary>How long a receiver goes on serving when it is drained.</summary>
public sealed record DrainOptions
{
    /// <summary>Requests are accepted for this long: lists and replies tell the gateways meanwhile. After that requests are refused, and
    /// gateways send them elsewhere. Default 1 s.</summary>
    public TimeSpan MinDelay { get; init; } = TimeSpan.FromSeconds(1);

    /// <summary>The drain ends when nothing was accepted and nothing was running for this long. Default 250 ms.</summary>
    public TimeSpan IdleTime { get; init; } = TimeSpan.FromMilliseconds(250);

    /// <summary>The drain ends after this time in any case. Default 30 s.</summary>
    public TimeSpan Deadline { get; init; } = TimeSpan.FromSeconds(30);
}
