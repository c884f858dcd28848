namespace Net.Zlink.Sockets.Endpoints;

/// <summary>How a connection, or an attempt to make one, ended.</summary>
/// <param name="Problem">What happened, for logs and events.</param>
internal readonly record struct ConnectionEnd(string Problem)
{
    public bool WasReady { get; init; }

    public TimeSpan ReadyFor { get; init; }

    /// <summary>The peer ended it right after the handshake.</summary>
    public bool WasBrief { get; init; }

    /// <summary>A fault of either side, after which the pauses grow.</summary>
    public bool IsFault { get; init; }

    /// <summary>The next connection would meet the same again: why none is made, unless faults are retried.</summary>
    public string? WhyNoFurther { get; init; }

    /// <summary>None is made, however faults are treated.</summary>
    public bool IsFinal { get; init; }

    /// <summary>The peer does the same for the same reason, so the next pause has a random part.</summary>
    public bool IsMutual { get; init; }
}
