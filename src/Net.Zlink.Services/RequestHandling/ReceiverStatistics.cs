namespace Net.Zlink.Services;

/// <summary>What a receiver has done so far: a snapshot. Messages that the application takes from the raw socket are not among
/// them.</summary>
public sealed class ReceiverStatistics
{
    internal ReceiverStatistics()
    {
    }

    /// <summary>Requests that expect a reply, those that were refused included.</summary>
    public long Requests { get; internal init; }

    /// <summary>Messages without an envelope, which expect no reply.</summary>
    public long PlainMessages { get; internal init; }

    /// <summary>Replies to requests.</summary>
    public long Replies { get; internal init; }

    /// <summary>Requests that were executed and reported as failed.</summary>
    public long Failed { get; internal init; }

    /// <summary>Requests that were refused, thus not executed, for whatever cause.</summary>
    public long Refused { get; internal init; }

    /// <summary>Of <see cref="Refused"/>: the time of the request was over before a handler could begin.</summary>
    public long Expired { get; internal init; }

    /// <summary>Requests that their gateway cancelled, and that were still waiting or running then.</summary>
    public long Cancelled { get; internal init; }

    /// <summary>Handlers that threw.</summary>
    public long HandlerFaults { get; internal init; }

    /// <summary>Replies that could not be sent because the gateway was gone or its queue was full.</summary>
    public long LostReplies { get; internal init; }

    /// <summary>Requests whose id their connection has in use: they were dropped.</summary>
    public long DuplicateIds { get; internal init; }

    /// <summary>Requests that were received and are not disposed yet, and plain messages in handlers.</summary>
    public int Running { get; internal init; }
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
