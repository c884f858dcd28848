using System.Diagnostics;
using System.Globalization;

namespace Net.Zlink.Services;

/// <summary>One request from RequestAsync to its end. Its fields are guarded by the lock of
/// <see cref="PendingRequests"/> while it is pending.</summary>
/// <param name="recycle">Takes it back when its result was read.</param>
internal sealed class PendingRequest(Action<PendingRequest> recycle) : PooledSource<ServiceReply>
{
    /// <summary>What its caller asked for. A field, because a property would copy it at each read.</summary>
    public RequestCall Call;

    /// <summary>On the wire; 0 while it is not in the table.</summary>
    public ulong Id { get; set; }

    /// <summary>The gateway's requests; null while it is pooled.</summary>
    public Requests? Requests { get; set; }

    /// <summary>The caller's span; null: there is none that can be passed on.</summary>
    public Activity? Span { get; set; }

    public CancellationTokenRegistration Registration { get; set; }

    /// <summary>By the timestamp of the clock.</summary>
    public long StartedAt { get; set; }

    /// <summary>When it was sent to its present receiver.</summary>
    public DateTimeOffset SentAt { get; set; }

    /// <summary>What had come over its link by then.</summary>
    public long ReceivedBefore { get; set; }

    /// <summary>Who is to reply; null: it is not sent.</summary>
    public ReceiverLink? Link { get; set; }

    /// <summary>What the directory says of <see cref="Link"/>.</summary>
    public ServiceInstance? Receiver { get; set; }

    /// <summary>Each receiver is asked once at most.</summary>
    public List<ReceiverLink> Tried { get; } = [];

    public RequestState State { get; set; }

    /// <summary>What has happened to it while it is being sent, for the thread that sends it.</summary>
    public RequestOutcome Deferred { get; set; }

    /// <summary>Ends a wait for capacity or for a receiver.</summary>
    public CancellationTokenSource? Waiting { get; set; }

    /// <summary>The last refusal.</summary>
    public RequestOutcome Refusal { get; set; }

    protected override void Recycle()
    {
        if (Tried.Count > 0)
        {
            Call.Parts?.Clear(); // It was sent: as behind any other accepted send the builder is empty.
        }

        Clear();
        recycle(this);
    }

    private void Clear()
    {
        Requests = null;
        Call = default;
        Span = null;
        Registration = default;
        Link = null;
        Receiver = null;
        Tried.Clear();
        Deferred = default;
        Refusal = default;
        Waiting = null;
    }
}

/// <summary>Where a request stands in the table. Who moves it on is always one: the thread that sends it, or else the code that takes it
/// out.</summary>
internal enum RequestState
{
    /// <summary>It is not in the table: new, or ended. <see cref="Sending"/> follows.</summary>
    Done = 0,

    /// <summary>A thread looks for a receiver, or waits for one or for capacity, and reads the caller's memory. Whatever ends the request
    /// meanwhile is deferred to that thread. <see cref="Sent"/> or <see cref="Done"/> follows.</summary>
    Sending,

    /// <summary>A receiver has it. <see cref="Done"/> follows, or <see cref="Sending"/> after a refusal.</summary>
    Sent,
}

/// <summary>What a caller asks for.</summary>
/// <param name="Pool">The service.</param>
/// <param name="Target">The only receiver that may be asked; empty: any.</param>
/// <param name="Payload">The caller's memory, unchanged until the end; or else <paramref name="Parts"/>.</param>
/// <param name="Parts">The parts.</param>
/// <param name="Timeout">Its time, positive or infinite.</param>
/// <param name="Token">The caller's.</param>
internal readonly record struct RequestCall(ServicePool Pool, RoutingId Target, ReadOnlyMemory<byte> Payload, MessageBuilder? Parts,
    TimeSpan Timeout, CancellationToken Token);

/// <summary>How a request has ended, or what is to be done with it.</summary>
internal enum RequestOutcomeKind
{
    None = 0,
    Replied,
    Failed,

    /// <summary>Not executed: the next receiver may be asked.</summary>
    Refused,
    Lost,
    TimedOut,
    Cancelled,
    NoReceiver,

    /// <summary>The gateway, the context or the request itself has ended: see the exception.</summary>
    Ended,
}

internal static class RequestOutcomeKinds
{
    /// <summary>What spans and metrics say of it.</summary>
    /// <returns>Null: it ended with a reply.</returns>
    public static string? ErrorType(this RequestOutcomeKind kind) => kind switch
    {
        RequestOutcomeKind.Replied => null,
        RequestOutcomeKind.Failed => ErrorTypes.Failed,
        RequestOutcomeKind.Refused => ErrorTypes.Refused,
        RequestOutcomeKind.Lost => ErrorTypes.ReceiverLost,
        RequestOutcomeKind.TimedOut => ErrorTypes.TimedOut,
        RequestOutcomeKind.Cancelled => ErrorTypes.Cancelled,
        RequestOutcomeKind.NoReceiver => ErrorTypes.NoReceiver,
        _ => ErrorTypes.Ended,
    };
}

/// <summary>How a request has ended. The message is a reply, which the holder disposes.</summary>
internal readonly record struct RequestOutcome(
    RequestOutcomeKind Kind, Message Reply = default, ushort Code = 0, string? Text = null, Exception? Exception = null);

/// <summary>The error that the caller of an unanswered request gets.</summary>
internal static class RequestFailure
{
    /// <param name="request">Taken out of the table, not completed yet.</param>
    /// <param name="outcome">How it ended; not by a reply.</param>
    public static Exception Of(PendingRequest request, in RequestOutcome outcome)
    {
        string service = request.Call.Pool.Service;
        RedactedEndpoint receiver = request.Link?.Redacted ?? default;
        return outcome.Kind switch
        {
            RequestOutcomeKind.Failed when outcome.Code == FailureCode.Malformed => new ServiceException(
                ServiceError.Failed, $"{service} at {receiver} could not read the request and did not execute it: {outcome.Text}",
                outcome.Code),
            RequestOutcomeKind.Failed => new ServiceException(
                ServiceError.Failed, $"{service} at {receiver} executed the request and failed: {outcome.Text}", outcome.Code,
                wasExecuted: true)
            { Reason = outcome.Text },
            RequestOutcomeKind.Refused => new ServiceException(
                ServiceError.Refused,
                $"none of {request.Tried.Count} receivers of {service} executed the request; the last refusal: {request.Refusal.Text}",
                request.Refusal.Code)
            { Reason = request.Refusal.Text },
            RequestOutcomeKind.Lost => new ServiceException(
                ServiceError.ReceiverLost,
                $"the connection to {service} at {receiver} ended before its reply came; the request may have been executed",
                wasExecuted: true),
            RequestOutcomeKind.NoReceiver => new ServiceException(
                ServiceError.NoReceiver, $"no receiver of {service} is ready{WhyNoReceiver(request)}"),
            RequestOutcomeKind.Cancelled => new OperationCanceledException(request.Call.Token),
            RequestOutcomeKind.TimedOut => new TimeoutException(
                string.Create(CultureInfo.InvariantCulture,
                $"no reply of {service} came within {request.Call.Timeout.TotalMilliseconds:0} ms: {WhyLate(request, receiver)}")),
            _ => outcome.Exception ?? new ServiceException($"the request to {service} has ended"),
        };
    }

    private static string WhyLate(PendingRequest request, RedactedEndpoint receiver) =>
        request.Link is not null ? $"{receiver} got the request and has not answered"
        : request.Refusal is { Kind: RequestOutcomeKind.Refused, Code: RefusalCode.Expired }
            ? $"the last receiver refused: {request.Refusal.Text}"
        : request.Refusal.Kind == RequestOutcomeKind.Refused
            ? $"the last receiver refused ({request.Refusal.Text}), and no other receiver could accept the request"
        : request.Call.Pool.Ready.Count > 0 ? "no ready receiver could accept the request, so it was not sent"
        : $"the request was not sent{WhyNoReceiver(request)}";

    private static string WhyNoReceiver(PendingRequest request)
    {
        ServicePool pool = request.Call.Pool;
        if (!pool.Ready.IsListed)
        {
            return ": the directory lists no receiver";
        }

        if (!request.Call.Target.IsEmpty)
        {
            return $" that has the routing id {request.Call.Target}";
        }

        ReceiverLink[] links = pool.Links;
        return links.Length == 0 ? ""
            : $": {string.Join("; ", links.Take(3).Select(static link => $"{link.Redacted} "
            + $"({WhyNotReady(link)})"))}{(links.Length > 3 ? $" and {links.Length - 3} more" : "")}";
    }

    /// <summary>Why a link is in no pool, as text.</summary>
    public static string WhyNotReady(ReceiverLink link) =>
        link.IsInPools ? "ready"
        : link is { IsUsable: true, IsEjected: true } ? "the receiver left requests unanswered and is retried after a pause"
        : link is { IsDraining: true, State: LinkState.Ready } ? "the receiver is draining" // Else the reason is why it is not connected.
        : link.State == LinkState.Connecting ? link.WasDialled ? "connecting" : "not dialled yet: others are dialled first"
        : link.Problem ?? "not connected";
}

/// <summary>What became of the requests of a gateway, or of one of its services.</summary>
internal sealed class RequestCounters
{
    public long Started;
    public long SentAgain;
    public long UnmatchedReplies;
    private readonly long[] _ended = new long[Enum.GetValues<RequestOutcomeKind>().Length];

    /// <summary>How many ended so.</summary>
    public long this[RequestOutcomeKind kind] => Volatile.Read(ref _ended[(int)kind]);

    /// <summary>Requests that have not ended.</summary>
    public long Outstanding => Math.Max(0, Volatile.Read(ref Started) - _ended.Sum());

    /// <summary>Those that ended, by how they failed.</summary>
    public IEnumerable<Reading> Ended() =>
        from kind in Enum.GetValues<RequestOutcomeKind>()
        where kind != RequestOutcomeKind.None && (kind == RequestOutcomeKind.Replied || this[kind] > 0)
        select kind.ErrorType() is { } error ? new Reading(this[kind], MessagingTags.Error, error) : new Reading(this[kind]);

    public void Count(RequestOutcomeKind kind) => Interlocked.Increment(ref _ended[(int)kind]);
}
