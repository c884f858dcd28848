namespace Net.Zlink.Services;

/// <summary>What a gateway knows of one receiver at one moment.</summary>
public sealed record ReceiverLinkInfo
{
    /// <summary>Where it is, as the directory lists it.</summary>
    public required string Endpoint { get; init; }

    /// <summary>What the directory says of it for each service that lists it; none: it is listed no more, and is disconnected when
    /// <see cref="GatewayOptions.RemovedEndpointTimeout"/> is over.</summary>
    public required IReadOnlyList<ServiceInstance> Instances { get; init; }

    /// <summary>It is connected and gets its share of messages.</summary>
    public required bool IsReady { get; init; }

    /// <summary>It is connected, and has said that it is about to end: it gets nothing more until it connects anew.</summary>
    public required bool IsDraining { get; init; }

    /// <summary>Why it is not ready, for people; null while it is.</summary>
    public required string? WhyNotReady { get; init; }

    /// <summary>Since when it is connected, or not.</summary>
    public required DateTimeOffset Since { get; init; }

    /// <summary>How often it was connected.</summary>
    public required int Connections { get; init; }

    /// <summary>Requests that wait for its reply.</summary>
    public required long OutstandingRequests { get; init; }

    /// <summary>Messages that wait to be written to it.</summary>
    public required long QueuedMessages { get; init; }

    /// <summary>Messages that were written to its present connection.</summary>
    public required long SentMessages { get; init; }
}
