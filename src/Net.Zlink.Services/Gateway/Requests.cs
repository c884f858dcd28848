namespace Net.Zlink.Services;

/// <summary>Sends requests, to the next receiver where one refuses, and ends each of them once.</summary>
internal sealed class Requests : IDisposable
{
    /// <summary>How long a request waits at most for a receiver that makes its first attempt to connect.</summary>
    public static readonly TimeSpan MaxWaitForFirstAttempt = TimeSpan.FromSeconds(2);

    private static readonly TimeSpan LongestWait = TimeSpan.FromDays(1);

    private readonly RouterSocket _router;
    private readonly TimeProvider _clock;
    private readonly MessageBuilderPool _builders;
    private readonly DurationHistogram _duration;
    private readonly bool _triesNextWhenFull;
    private readonly bool _waitsForReady;

    public Requests(RouterSocket router, MessageBuilderPool builders, TimeProvider clock, DurationHistogram duration,
        ServiceGatewayOptions options)
    {
        _router = router;
        _clock = clock;
        _duration = duration;
        _builders = builders;
        _triesNextWhenFull = options.TryNextWhenFull;
        _waitsForReady = options.WaitForReady;
        Pending = new PendingRequests(_clock, request => Finish(request, new RequestOutcome(RequestOutcomeKind.TimedOut)));
    }

    public RequestCounters Counters { get; } = new();

    public PendingRequests Pending { get; }

    /// <summary>Set before the first request.</summary>
    public Ejections Ejections { get; set; } = null!;

    /// <summary>Begins a request.</summary>
    public ValueTask<ServiceReply> SendAsync(in RequestCall call)
    {
        if (call.Token.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<ServiceReply>(call.Token);
        }

        PendingRequest request = Pending.Rent();
        request.Requests = this;
        request.Call = call;
        request.Span = ServicesTracing.CurrentSpan;
        Pending.Add(request);
        Interlocked.Increment(ref Counters.Started);
        Interlocked.Increment(ref call.Pool.Counters.Started);
        if (call.Token.CanBeCanceled)
        {
            request.Registration = call.Token.UnsafeRegister(
                static (state, token) => ((PendingRequest)state!).Requests?.OnCancelled((PendingRequest)state, token), request);
        }

        ValueTask<ServiceReply> task = request.Task;
        SendToNext(request);
        return task;
    }

    /// <summary>What a receiver has answered.</summary>
    /// <returns>False: no request waits for it, and the reply is still the caller's.</returns>
    public bool OnReply(ulong id, ReceiverLink link, in RequestOutcome outcome)
    {
        if (!Pending.TryTake(id, link, outcome, out PendingRequest? request))
        {
            return false;
        }

        if (request is not null)
        {
            SendToNextOrFinish(request, outcome);
        }

        return true;
    }

    /// <summary>A connection has ended, and all that came over it was received.</summary>
    public void OnLost(ReceiverLink link)
    {
        // Requests of its next connection, which may be there already, are not lost. Between the two nothing could be sent.
        DateTimeOffset end = Pending.Now;
        if (_router.TryGetPeer(link.Name, out PeerInfo? peer) && peer is { IsConnected: true, ConnectedFor: { } since })
        {
            end -= since + TimeSpan.FromTicks(1); // Not by the wall clock, which may have been set meanwhile.
        }

        var outcome = new RequestOutcome(RequestOutcomeKind.Lost);
        if (link.HasEndedService)
        {
            link.HasEndedService = false;
            outcome = new RequestOutcome(RequestOutcomeKind.Refused, Code: RefusalCode.Draining, Text: "the receiver was drained");
        }

        foreach (PendingRequest request in Pending.TakeLost(link, outcome, sentAt => sentAt <= end))
        {
            SendToNextOrFinish(request, outcome);
        }
    }

    /// <summary>Ends all requests, and refuses further ones.</summary>
    public void End(Exception exception)
    {
        foreach (PendingRequest request in Pending.End(exception))
        {
            Finish(request, new RequestOutcome(RequestOutcomeKind.Ended, Exception: exception));
        }
    }

    public void Dispose() => Pending.Dispose();

    /// <summary>How long a request that found nobody waits: a later snapshot may have somebody, and nobody who makes a first
    /// attempt.</summary>
    private TimeSpan WaitFor(PendingRequest request, PoolSnapshot ready)
    {
        ServicePool pool = request.Call.Pool;
        if (_waitsForReady && !pool.HasBeenReady && !pool.IsRemoved)
        {
            return LongestWait; // Its own time ends it.
        }

        TimeSpan left = MaxWaitForFirstAttempt - _clock.GetElapsedTime(request.StartedAt);
        return request.Tried.Count == 0 && ready.IsFirstAttempt && left > TimeSpan.Zero ? left : TimeSpan.Zero;
    }

    private void OnCancelled(PendingRequest request, CancellationToken token)
    {
        var outcome = new RequestOutcome(RequestOutcomeKind.Cancelled);
        if (Pending.TryTakeOf(request, token, outcome, out PendingRequest? taken) && taken is not null)
        {
            Finish(taken, outcome);
        }
    }

    /// <summary>A request that was refused goes to the next receiver; any other outcome is its last.</summary>
    private void SendToNextOrFinish(PendingRequest request, in RequestOutcome outcome)
    {
        if (outcome.Kind == RequestOutcomeKind.Refused)
        {
            SendToNext(request);
        }
        else
        {
            Finish(request, outcome);
        }
    }

    /// <summary>Offers the request to one receiver after another until one accepts it. The request is marked as being sent.</summary>
    private void SendToNext(PendingRequest request)
    {
        do
        {
            PoolSnapshot ready = request.Call.Pool.Ready;
            bool isDone;
            int full;
            try
            {
                isDone = Attempt(request, ready, out full);
            }
            catch (Exception e)
            {
                EndBySender(request, new RequestOutcome(RequestOutcomeKind.Ended, Exception: e));
                return;
            }

            if (!isDone && (full >= 0 || WaitFor(request, ready) > TimeSpan.Zero))
            {
                _ = WaitAsync(request, ready, full);
                return;
            }

            if (!isDone)
            {
                // Never synchronously: a caller that retries without a pause would keep the process from noticing a new receiver.
                ThreadPool.UnsafeQueueUserWorkItem(
                    static request => request.Requests!.EndBySender(request, new RequestOutcome(RequestOutcomeKind.NoReceiver)), request,
                    preferLocal: false);
                return;
            }
        }
        while (MustSendToNext(request));
    }

    private void EndBySender(PendingRequest request, in RequestOutcome outcome) => Finish(request, Pending.EndBySender(request, outcome));

    /// <summary>The request is with a receiver, or has ended.</summary>
    /// <returns>True: it was already refused, and must be sent to the next receiver.</returns>
    private bool MustSendToNext(PendingRequest request)
    {
        if (!Pending.EndSending(request, out RequestOutcome outcome))
        {
            return false; // It waits for its reply, and may be another request by now.
        }

        if (outcome.Kind == RequestOutcomeKind.Refused)
        {
            return true;
        }

        Finish(request, outcome);
        return false;
    }

    /// <summary>Waits for capacity or for a receiver, and sends.</summary>
    private async Task WaitAsync(PendingRequest request, PoolSnapshot ready, int full)
    {
        bool isDone;
        try
        {
            CancellationToken ended = Pending.BeginWaiting(request);
            isDone = full >= 0 && await WaitForCapacityAsync(request, ready, full, ended).ConfigureAwait(false);
            if (full < 0)
            {
                await ready.Replaced.WaitAsync(WaitFor(request, ready), _clock, ended)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            }

            isDone |= ended.IsCancellationRequested;
        }
        catch (Exception e)
        {
            EndBySender(request, new RequestOutcome(RequestOutcomeKind.Ended, Exception: e));
            return;
        }

        if (!isDone || MustSendToNext(request))
        {
            SendToNext(request);
        }
    }

    /// <summary>Waits until one receiver has capacity, and sends.</summary>
    /// <returns>False: that one is gone.</returns>
    private async ValueTask<bool> WaitForCapacityAsync(PendingRequest request, PoolSnapshot ready, int full, CancellationToken ended)
    {
        ReceiverLink link = ready.Links[full];
        if (!Pending.BeginAttempt(request, link, ready.Instances[full]))
        {
            return true;
        }

        using var rented = new RentedBuilder(_builders);
        try
        {
            await _router.To(link.Name).SendAsync(Write(request, rented.Message), ended).ConfigureAwait(false);
            request.Tried.Add(link);
            return true;
        }
        catch (Exception e) when (e is OperationCanceledException or ZlinkException { Error: ZlinkError.HostUnreachable })
        {
            Pending.UndoAttempt(request);
            return false;
        }
    }

    /// <param name="request">Marked as being sent.</param>
    /// <param name="ready">Who may be asked.</param>
    /// <param name="full">The first receiver that was not tried yet and has no capacity; -1: none.</param>
    /// <returns>True: a receiver has it, or it has ended meanwhile.</returns>
    private bool Attempt(PendingRequest request, PoolSnapshot ready, out int full)
    {
        full = -1;
        if (ready.TrialIndex >= 0 && request.Call.Target.IsEmpty && TryTrial(request, ready))
        {
            return true;
        }

        int count = request.Call.Target.IsEmpty ? ready.Count : 1;
        int first = count == 0 ? 0 : request.Call.Target.IsEmpty ? request.Call.Pool.Next(ready) : ready.IndexOf(request.Call.Target);
        for (int i = 0; i < count && first >= 0; i++)
        {
            int index = i == 0 ? first : (first + i) % ready.Count;
            if (request.Tried.Contains(ready.Links[index]))
            {
                continue;
            }

            SendResult? result = TryTransfer(request, ready.Links[index], ready.Instances[index]);
            if (result is null || result.Value)
            {
                return true;
            }

            // Any other reason: it is lost, which its link has not heard of yet.
            full = full < 0 && result.Value.Reason == SendFailure.Full ? index : full;
            if (full >= 0 && !_triesNextWhenFull)
            {
                break;
            }
        }

        return false;
    }

    /// <summary>Sends it to a receiver that is out of rotation, to see whether that one answers.</summary>
    /// <returns>False: it is not with that one.</returns>
    private bool TryTrial(PendingRequest request, PoolSnapshot ready)
    {
        ReceiverLink link = ready.Links[ready.TrialIndex];
        bool isLongEnough = request.Call.Timeout >= Ejections.LeastTime; // Of no time limit nothing could be learned.
        if (!isLongEnough || request.Tried.Contains(link) || !Ejections.TryBeginTrial(link))
        {
            return false;
        }

        DateTimeOffset at = Pending.Now;
        bool isDone = TryTransfer(request, link, ready.Instances[ready.TrialIndex]) is not { IsSent: false };
        if (!isDone)
        {
            Ejections.OnUnanswered(link, at, isTimeOut: false);
        }

        return isDone;
    }

    /// <returns>Null: the request has ended. Else what the socket says.</returns>
    private SendResult? TryTransfer(PendingRequest request, ReceiverLink link, ServiceInstance receiver)
    {
        if (!Pending.BeginAttempt(request, link, receiver))
        {
            return null;
        }

        using var rented = new RentedBuilder(_builders);
        SendResult result = SendFailure.NotTried;
        try
        {
            result = _router.To(link.Name).TrySend(Write(request, rented.Message));
            if (result)
            {
                request.Tried.Add(link);
                if (request.Tried.Count > 1)
                {
                    Interlocked.Increment(ref Counters.SentAgain);
                    Interlocked.Increment(ref request.Call.Pool.Counters.SentAgain);
                }
            }
        }
        finally
        {
            if (!result)
            {
                Pending.UndoAttempt(request);
            }
        }

        return result;
    }

    private MessageBuilder Write(PendingRequest request, MessageBuilder message)
    {
        Span<byte> fields = request.Span is null ? default : stackalloc byte[ServicesTracing.FieldsSize];
        ReadOnlySpan<byte> baggage = ServicesTracing.WriteFields(request.Span, fields, out ReadOnlySpan<byte> state);
        message.AddEnvelope(new RequestEnvelope
        {
            Kind = EnvelopeKind.Request,
            Id = request.Id,
            TimeLeft = request.Call.Timeout == Timeout.InfiniteTimeSpan
                ? null
                : TimeSpan.FromTicks(Math.Max(0, (request.Call.Timeout - _clock.GetElapsedTime(request.StartedAt)).Ticks)),
            SentAt = request.SentAt,
            Service = request.Call.Pool.ServiceBytes,
            TraceParent = ServicesTracing.Write(request.Span, stackalloc byte[RequestEnvelope.TraceParentSize]),
            TraceState = state,
            Baggage = baggage,
        });
        return request.Call.Parts is { } parts ? message.AddParts(parts) : message.Add(request.Call.Payload.Span);
    }

    /// <summary>Completes the task of the caller. The request is not in the table any more.</summary>
    private void Finish(PendingRequest request, in RequestOutcome outcome)
    {
        request.Registration.Unregister();
        TimeSpan elapsed = _clock.GetElapsedTime(request.StartedAt);
        RequestOutcomeKind kind = outcome.Kind != RequestOutcomeKind.NoReceiver || request.Refusal.Kind != RequestOutcomeKind.Refused
            ? outcome.Kind
            : request.Refusal.Code == RefusalCode.Expired ? RequestOutcomeKind.TimedOut // The receiver's clock was the first to say so.
            : RequestOutcomeKind.Refused;
        ServicePool pool = request.Call.Pool;
        Counters.Count(kind);
        pool.Counters.Count(kind);
        _duration.Record(elapsed, pool.MetricName, kind.ErrorType());
        if (kind is RequestOutcomeKind.TimedOut or RequestOutcomeKind.Cancelled && request.Link is { } link)
        {
            Cancel(link, request.Id);
            NoteUnanswered(request, link, kind);
        }

        if (kind == RequestOutcomeKind.Replied)
        {
            request.Complete(new ServiceReply(outcome.Reply, request.Receiver!, request.Tried.Count, elapsed));
        }
        else
        {
            request.Fail(RequestFailure.Of(request, outcome with { Kind = kind }));
        }
    }

    /// <summary>A logger of the application that throws must not keep the caller from its end.</summary>
    private void NoteUnanswered(PendingRequest request, ReceiverLink link, RequestOutcomeKind kind)
    {
        try
        {
            if (link.ReceivedCount == request.ReceivedBefore)
            {
                Ejections.OnUnanswered(link, request.SentAt, kind == RequestOutcomeKind.TimedOut);
            }
        }
        catch (Exception)
        {
            // The link's count is what matters, and it was made.
        }
    }

    /// <summary>The caller no longer waits: the receiver need not begin the request. If this message cannot be sent, it executes
    /// it.</summary>
    private void Cancel(ReceiverLink link, ulong id)
    {
        Span<byte> envelope = stackalloc byte[RequestEnvelope.HeaderSize];
        new RequestEnvelope { Kind = EnvelopeKind.Cancel, Id = id }.Write(envelope);
        try
        {
            _router.To(link.Name).TrySend(envelope);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // The socket has ended, and with it all connections.
        }
    }
}
