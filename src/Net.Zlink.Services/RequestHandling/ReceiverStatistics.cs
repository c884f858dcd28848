namespace Net.Zlink.Services;

/// <summary>What a receiver has done so far: a snapshot. Messages that the application takes from the raw socket are not among
/// them.</summary>
public sealed record ReceiverStatistics
{
    /// <summary>Requests that expect a reply, those that were refused included.</summary>
    public required long Requests { get; init; }

    /// <summary>Messages without an envelope, which expect no reply.</summary>
    public required long PlainMessages { get; init; }

    /// <summary>Replies to requests.</summary>
    public required long Replies { get; init; }

    /// <summary>Requests that were executed and reported as failed.</summary>
    public required long Failed { get; init; }

    /// <summary>Requests that were refused, thus not executed, for whatever cause.</summary>
    public required long Refused { get; init; }

    /// <summary>Of <see cref="Refused"/>: the time of the request was over before a handler could begin.</summary>
    public required long Expired { get; init; }

    /// <summary>Requests that their gateway cancelled, and that were still waiting or running then.</summary>
    public required long Cancelled { get; init; }

    /// <summary>Handlers that threw.</summary>
    public required long HandlerFaults { get; init; }

    /// <summary>Replies that could not be sent because the gateway was gone or its queue was full.</summary>
    public required long LostReplies { get; init; }

    /// <summary>Requests whose id their connection has in use: they were dropped.</summary>
    public required long DuplicateIds { get; init; }

    /// <summary>Requests that were received and are not disposed yet, and plain messages in handlers.</summary>
    public required int Running { get; init; }
}

/// <summary>What <see cref="ReceiverStatistics"/> shows, counted with Interlocked.</summary>
internal sealed class ReceiverCounters
{
    public long Requests;
    public long PlainMessages;
    public long Replies;
    public long Failed;
    public long Refused;
    public long Expired;
    public long Cancelled;
    public long HandlerFaults;
    public long LostReplies;
    public long DuplicateIds;
    public long PlainInHandlers;

    public ReceiverStatistics ToStatistics(int running) => new()
    {
        Requests = Interlocked.Read(ref Requests),
        PlainMessages = Interlocked.Read(ref PlainMessages),
        Replies = Interlocked.Read(ref Replies),
        Failed = Interlocked.Read(ref Failed),
        Refused = Interlocked.Read(ref Refused),
        Expired = Interlocked.Read(ref Expired),
        Cancelled = Interlocked.Read(ref Cancelled),
        HandlerFaults = Interlocked.Read(ref HandlerFaults),
        LostReplies = Interlocked.Read(ref LostReplies),
        DuplicateIds = Interlocked.Read(ref DuplicateIds),
        Running = running,
    };
}
