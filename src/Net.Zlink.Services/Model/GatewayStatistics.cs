namespace Net.Zlink.Services;

/// <summary>What a gateway has done so far: a snapshot.</summary>
public sealed record GatewayStatistics
{
    /// <summary>Receivers that are ready.</summary>
    public required int ReadyReceivers { get; init; }

    /// <summary>Receivers that are connected to, ready or not.</summary>
    public required int Receivers { get; init; }

    /// <summary>Receivers that are connected and left requests unanswered: they get nothing for a while.</summary>
    public required int EjectedReceivers { get; init; }

    /// <summary>How often a receiver was taken out so.</summary>
    public required long Ejections { get; init; }

    /// <summary>Requests that wait for their end now.</summary>
    public required long OutstandingRequests { get; init; }

    /// <summary>Requests that were begun. Each is outstanding or in one of the counts below.</summary>
    public required long StartedRequests { get; init; }

    /// <summary>Requests that were answered.</summary>
    public required long AnsweredRequests { get; init; }

    /// <summary>Requests that a receiver executed and reported as failed.</summary>
    public required long FailedRequests { get; init; }

    /// <summary>Requests that each receiver which was asked refused.</summary>
    public required long RefusedRequests { get; init; }

    /// <summary>Requests whose connection ended before the reply.</summary>
    public required long LostRequests { get; init; }

    /// <summary>Requests whose time was over.</summary>
    public required long TimedOutRequests { get; init; }

    /// <summary>Requests whose token was cancelled.</summary>
    public required long CancelledRequests { get; init; }

    /// <summary>Requests for which nobody was ready.</summary>
    public required long UnservedRequests { get; init; }

    /// <summary>Requests that the end of the gateway or an invalid argument ended.</summary>
    public required long AbandonedRequests { get; init; }

    /// <summary>How often a request went to a further receiver, after a refusal.</summary>
    public required long RequestsSentAgain { get; init; }

    /// <summary>Replies that nobody waited for: late ones.</summary>
    public required long UnmatchedReplies { get; init; }

    /// <summary>Messages other than replies that the application has not received yet.</summary>
    public required int UnreadMessages { get; init; }

    /// <summary>Their bytes, as <see cref="GatewayOptions.UnreadByteLimit"/> counts them.</summary>
    public required long UnreadBytes { get; init; }

    /// <summary>Messages that were dropped because the application did not receive them: see
    /// <see cref="GatewayOptions.UnreadMessageLimit"/>.</summary>
    public required long DroppedMessages { get; init; }

    /// <summary>What the socket has sent, received and dropped, requests and replies included.</summary>
    public required SocketStatistics Socket { get; init; }
}

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

    /// <summary>It is connected and left requests unanswered: see <see cref="GatewayOptions.EjectAfterTimeouts"/>.</summary>
    public required bool IsEjected { get; init; }

    /// <summary>Why it is not ready, as text; null while it is.</summary>
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
