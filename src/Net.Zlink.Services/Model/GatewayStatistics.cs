namespace Net.Zlink.Services;

/// <summary>What a gateway has done so far: a snapshot.</summary>
public sealed class GatewayStatistics
{
    internal GatewayStatistics(SocketStatistics socket) => Socket = socket;

    /// <summary>Receivers that are ready.</summary>
    public int ReadyReceivers { get; internal init; }

    /// <summary>Receivers that are connected to, ready or not.</summary>
    public int Receivers { get; internal init; }

    /// <summary>Receivers that are connected and left requests unanswered: they get nothing for a while.</summary>
    public int EjectedReceivers { get; internal init; }

    /// <summary>How often a receiver was taken out so.</summary>
    public long Ejections { get; internal init; }

    /// <summary>Requests that wait for their end now.</summary>
    public long OutstandingRequests { get; internal init; }

    /// <summary>Requests that were begun. Each is outstanding or in one of the counts below.</summary>
    public long StartedRequests { get; internal init; }

    /// <summary>Requests that were answered.</summary>
    public long AnsweredRequests { get; internal init; }

    /// <summary>Requests that a receiver executed and reported as failed.</summary>
    public long FailedRequests { get; internal init; }

    /// <summary>Requests that each receiver which was asked refused.</summary>
    public long RefusedRequests { get; internal init; }

    /// <summary>Requests whose connection ended before the reply.</summary>
    public long LostRequests { get; internal init; }

    /// <summary>Requests whose time was over.</summary>
    public long TimedOutRequests { get; internal init; }

    /// <summary>Requests whose token was cancelled.</summary>
    public long CancelledRequests { get; internal init; }

    /// <summary>Requests for which nobody was ready.</summary>
    public long UnservedRequests { get; internal init; }

    /// <summary>Requests that the end of the gateway or an invalid argument ended.</summary>
    public long AbandonedRequests { get; internal init; }

    /// <summary>How often a request went to a further receiver, after a refusal.</summary>
    public long RequestsSentAgain { get; internal init; }

    /// <summary>Replies that nobody waited for: late ones.</summary>
    public long UnmatchedReplies { get; internal init; }

    /// <summary>Messages other than replies that the application has not received yet.</summary>
    public int UnreadMessages { get; internal init; }

    /// <summary>Their bytes, as <see cref="ServiceGatewayOptions.UnreadByteLimit"/> counts them.</summary>
    public long UnreadBytes { get; internal init; }

    /// <summary>Messages that were dropped because the application did not receive them: see
    /// <see cref="ServiceGatewayOptions.UnreadMessageLimit"/>.</summary>
    public long DroppedMessages { get; internal init; }

    /// <summary>What the socket has sent, received and dropped, requests and replies included.</summary>
    public SocketStatistics Socket { get; }
}

/// <summary>What a gateway knows of one receiver at one moment.</summary>
public sealed class ReceiverLinkInfo
{
    internal ReceiverLinkInfo()
    {
    }

    /// <summary>Where it is, as the directory lists it.</summary>
    public string Endpoint { get; internal init; } = "";

    /// <summary>What the directory says of it for each service that lists it; none: it is listed no more, and is disconnected when
    /// <see cref="ServiceGatewayOptions.RemovedEndpointTimeout"/> is over.</summary>
    public IReadOnlyList<ServiceInstance> Instances { get; internal init; } = [];

    /// <summary>It is connected and gets its share of messages.</summary>
    public bool IsReady { get; internal init; }

    /// <summary>It is connected, and has said that it is about to end: it gets nothing more until it connects anew.</summary>
    public bool IsDraining { get; internal init; }

    /// <summary>It is connected and left requests unanswered: see <see cref="ServiceGatewayOptions.EjectAfterTimeouts"/>.</summary>
    public bool IsEjected { get; internal init; }

    /// <summary>Why it is not ready, as text; null while it is.</summary>
    public string? WhyNotReady { get; internal init; }

    /// <summary>Since when it is connected, or not.</summary>
    public DateTimeOffset Since { get; internal init; }

    /// <summary>How often it was connected.</summary>
    public int Connections { get; internal init; }

    /// <summary>Requests that wait for its reply.</summary>
    public long OutstandingRequests { get; internal init; }

    /// <summary>Messages that wait to be written to it.</summary>
    public long QueuedMessages { get; internal init; }

    /// <summary>Messages that were written to its present connection.</summary>
    public long SentMessages { get; internal init; }
}
