namespace Net.Zlink.Services;

/// <summary>What happened while a receiver was drained.</summary>
public sealed record DrainReport
{
    /// <summary>Messages that were accepted during the drain: requests, and plain messages.</summary>
    public required long Accepted { get; init; }

    /// <summary>Requests that were refused, so that the gateway sends them to another receiver.</summary>
    public required long Refused { get; init; }

    /// <summary>Requests that were still being handled when the deadline came; 0 where the drain ended by itself.</summary>
    public required int Unfinished { get; init; }

    /// <summary>How long the drain took.</summary>
    public required TimeSpan Duration { get; init; }

    /// <summary>Whether the receiver was idle at the end. False: the deadline came first.</summary>
    public required bool IsIdle { get; init; }
}
