namespace Net.Zlink.Services;

/// <summary>What a gateway has done so far: a snapshot.</summary>
public sealed record GatewayStatistics
{
    /// <summary>Receivers that are ready.</summary>
    public required int ReadyReceivers { get; init; }

    /// <summary>Receivers that are connected to, ready or not.</summary>
    public required int Receivers { get; init; }

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

    /// <summary>Messages that were dropped because the application did not receive them: see
    /// <see cref="GatewayOptions.UnreadMessageLimit"/>.</summary>
    public required long DroppedMessages { get; init; }

    /// <summary>What the socket has sent, received and dropped, requests and replies included.</summary>
    public required SocketStatistics Socket { get; init; }
}
