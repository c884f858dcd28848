using System.Diagnostics.Metrics;

namespace Net.Zlink.Services;

/// <summary>Sends requests, to the next receiver where one refuses, and ends each of them once.</summary>
internal sealed class Requests : IDisposable
{
    /// <summary>How long a request waits at most for a receiver that makes its first attempt to connect.</summary>
    public static readonly TimeSpan MaxWaitForFirstAttempt = TimeSpan.FromSeconds(2);

    private readonly RouterSocket _router;
    private readonly TimeProvider _clock;
    private readonly MessageBuilderPool _builders;
    private readonly bool _triesNextWhenFull;

    public Requests(MessageSender sender, TimeProvider clock, bool triesNextWhenFull)
    {
        _router = sender.Router;
        _clock = clock;
        _builders = sender.Builders;
        _triesNextWhenFull = triesNextWhenFull;
        Pending = new PendingRequests(clock, request => Finish(request, new RequestOutcome(RequestOutcomeKind.TimedOut)));
    }

    private enum AttemptResult
    {
        /// <summary>It was handed to a receiver, or has ended meanwhile.</summary>
        Done,

        /// <summary>Whoever was not asked yet has no room.</summary>
        Full,

        /// <summary>Nobody is ready who was not asked yet.</summary>
        NobodyReady,
    }

    public RequestCounters Counters { get; } = new();

    public PendingRequests Pending { get; }

    /// <summary>Seconds from the request to its end.</summary>
    public Histogram<double>? Duration { get; set; }

    /// <summary>Begins a request.</summary>
    /// <param name="pool">The service.</param>
    /// <param name="target">The only receiver that may be asked; empty: any.</param>
    /// <param name="payload">The one part; or else <paramref name="parts"/>.</param>
    /// <param name="parts">The parts.</param>
    /// <param name="timeout">Its time, positive or infinite.</param>
    /// <param name="cancellation">The caller's.</param>
    public ValueTask<ServiceReply> SendAsync(
        ServicePool pool, RoutingId target, ReadOnlyMemory<byte> payload, MessageBuilder? parts, TimeSpan timeout,
            CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<ServiceReply>(cancellation);
        }

        PendingRequest request = Pending.Rent();
        request.Requests = this;
        request.Pool = pool;
        request.Target = target;
        request.Span = ServicesTracing.CurrentSpan;
        request.Payload = payload;
        request.Parts = parts;
        request.Timeout = timeout;
        request.Token = cancellation;
        Pending.Add(request);
        Interlocked.Increment(ref Counters.Started);
        if (cancellation.CanBeCanceled)
        {
            request.Registration = cancellation.UnsafeRegister(
                static (state, token) => ((PendingRequest)state!).Requests?.OnCancelled((PendingRequest)state, token), request);
        }

        short version = request.Version;
        GoOn(request);
        return new ValueTask<ServiceReply>(request, version);
    }

    /// <summary>What a receiver has answered.</summary>
    /// <returns>False: nobody waits for it, and the reply is still the caller's.</returns>
    public bool OnReply(ulong id, ReceiverLink link, in RequestOutcome outcome)
    {
        if (!Pending.TryTake(id, link, outcome, out PendingRequest? request))
        {
            return false;
        }

        if (request is not null)
        {
            GoOnOrFinish(request, outcome);
        }

        return true;
    }

    /// <summary>A connection has ended, and all that came over it was received.</summary>
    public void OnLost(ReceiverLink link)
    {
        // Requests of its next connection, which may be there already, are not lost. Between the two nothing could be sent.
        DateTimeOffset end = Pending.Now;
        if (_router.TryGetPeer(link.Name, out PeerInfo? peer) && peer is { IsConnected: true, ConnectedAt: { } connectedAt })
        {
            end = connectedAt + (end - _clock.GetUtcNow()) - TimeSpan.FromTicks(1); // By the clock of the requests.
        }

        var outcome = new RequestOutcome(RequestOutcomeKind.Lost);
        if (link.HasEndedService)
        {
            link.HasEndedService = false;
            outcome = new RequestOutcome(RequestOutcomeKind.Refused, Code: RefusalCode.Draining, Text: "the receiver was drained");
        }

        foreach (PendingRequest request in Pending.TakeLost(link, outcome, sentAt => sentAt <= end))
        {
            GoOnOrFinish(request, outcome);
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

    /// <param name="request">Found nobody.</param>
    /// <param name="ready">Among these: a later snapshot may have somebody, and nobody who makes a first attempt.</param>
    private static bool MayWait(PendingRequest request, PoolSnapshot ready) => request.Asked.Count == 0 && ready.IsFirstAttempt;

    private void OnCancelled(PendingRequest request, CancellationToken token)
    {
        // The request may be another one by now. Of the same token that one is to end, too.
        var outcome = new RequestOutcome(RequestOutcomeKind.Cancelled);
        if (request.Token == token && Pending.TryTake(request.Id, from: null, outcome, out PendingRequest? taken) && taken is not null)
        {
            Finish(taken, outcome);
        }
    }

    /// <summary>A request that was refused goes to the next receiver; any other outcome is its last.</summary>
    private void GoOnOrFinish(PendingRequest request, in RequestOutcome outcome)
    {
        if (outcome.Kind == RequestOutcomeKind.Refused)
        {
            GoOn(request);
        }
        else
        {
            Finish(request, outcome);
        }
    }

    /// <summary>Asks receivers until one has the request. It is marked as being sent.</summary>
    private void GoOn(PendingRequest request)
    {
        while (true)
        {
            PoolSnapshot ready = request.Pool.Ready;
            AttemptResult result;
            try
            {
                result = Attempt(request, ready, out _);
            }
            catch (Exception e)
            {
                Finish(request, Pending.EndBySender(request, new RequestOutcome(RequestOutcomeKind.Ended, Exception: e)));
                return;
            }

            if (result == AttemptResult.Full || (result == AttemptResult.NobodyReady && MayWait(request, ready)))
            {
                _ = WaitAsync(request);
                return;
            }

            if (result == AttemptResult.NobodyReady)
            {
                Finish(request, Pending.EndBySender(request, new RequestOutcome(RequestOutcomeKind.NoReceiver)));
                return;
            }

            if (!MustGoOn(request))
            {
                return;
            }
        }
    }

    /// <summary>The request is with a receiver, or has ended.</summary>
    /// <returns>True: it was refused already, and the next receiver is to be asked.</returns>
    private bool MustGoOn(PendingRequest request)
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

    /// <summary>Waits for room or for a receiver, and sends.</summary>
    private async Task WaitAsync(PendingRequest request)
    {
        long started = _clock.GetTimestamp();
        try
        {
            CancellationToken ended = Pending.BeginWaiting(request);
            bool isDone = false;
            while (!isDone && !ended.IsCancellationRequested)
            {
                PoolSnapshot ready = request.Pool.Ready;
                AttemptResult result = Attempt(request, ready, out int full);
                TimeSpan left = MaxWaitForFirstAttempt - _clock.GetElapsedTime(started);
                switch (result)
                {
                    case AttemptResult.Full:
                        isDone = await WaitForRoomAsync(request, ready, full, ended).ConfigureAwait(false);
                        break;
                    case AttemptResult.NobodyReady when !MayWait(request, ready) || left <= TimeSpan.Zero:
                        Finish(request, Pending.EndBySender(request, new RequestOutcome(RequestOutcomeKind.NoReceiver)));
                        return;
                    case AttemptResult.NobodyReady:
                        await request.Pool.ChangeAsync(ready).WaitAsync(left, _clock, ended)
                            .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                        break;
                    default:
                        isDone = true;
                        break;
                }
            }
        }
        catch (Exception e)
        {
            Finish(request, Pending.EndBySender(request, new RequestOutcome(RequestOutcomeKind.Ended, Exception: e)));
            return;
        }

        if (MustGoOn(request))
        {
            GoOn(request);
        }
    }

    /// <summary>Waits until one receiver has room, and sends.</summary>
    /// <returns>False: that one is gone.</returns>
    private async ValueTask<bool> WaitForRoomAsync(PendingRequest request, PoolSnapshot ready, int full, CancellationToken ended)
    {
        ReceiverLink link = ready.Links[full];
        if (!Pending.BeginAttempt(request, link, ready.Instances[full]))
        {
            return true;
        }

        MessageBuilder message = Build(request);
        try
        {
            await _router.SendAsync(link.Name, message, ended).ConfigureAwait(false);
            request.Asked.Add(link);
            return true;
        }
        catch (Exception e) when (e is OperationCanceledException or ZlinkException { Error: ZlinkError.HostUnreachable })
        {
            Pending.UndoAttempt(request);
            return false;
        }
        finally
        {
            _builders.Return(message);
        }
    }

    private AttemptResult Attempt(PendingRequest request, PoolSnapshot ready, out int full)
    {
        full = -1;
        int count = request.Target.IsEmpty ? ready.Count : Math.Min(ready.Count, 1);
        int first = count == 0 ? 0 : request.Target.IsEmpty ? request.Pool.Next(ready) : ready.IndexOf(request.Target);
        for (int i = 0; i < count && first >= 0; i++)
        {
            int index = (first + i) % ready.Count;
            if (request.Asked.Contains(ready.Links[index]))
            {
                continue;
            }

            switch (TryTransfer(request, ready.Links[index], ready.Instances[index]))
            {
                case null:
                case ZlinkError.None:
                    return AttemptResult.Done;
                case ZlinkError.Again:
                    full = full < 0 ? index : full;
                    break;
                default:
                    break; // It is lost, which its link has not heard of yet.
            }

            if (full >= 0 && !_triesNextWhenFull)
            {
                break;
            }
        }

        return full >= 0 ? AttemptResult.Full : AttemptResult.NobodyReady;
    }

    /// <returns>Null: the request has ended. Else what the socket says.</returns>
    private ZlinkError? TryTransfer(PendingRequest request, ReceiverLink link, ServiceInstance receiver)
    {
        if (!Pending.BeginAttempt(request, link, receiver))
        {
            return null;
        }

        MessageBuilder message = Build(request);
        ZlinkError error = ZlinkError.HostUnreachable;
        try
        {
            if (_router.TrySend(link.Name, message, out error))
            {
                request.Asked.Add(link);
                if (request.Asked.Count > 1)
                {
                    Interlocked.Increment(ref Counters.SentAgain);
                }
            }
        }
        finally
        {
            if (error != ZlinkError.None)
            {
                Pending.UndoAttempt(request);
            }

            _builders.Return(message);
        }

        return error;
    }

    private MessageBuilder Build(PendingRequest request)
    {
        var envelope = new RequestEnvelope
        {
            Kind = EnvelopeKind.Request,
            Id = request.Id,
            TimeLeft = request.Timeout == Timeout.InfiniteTimeSpan
                ? null
                : TimeSpan.FromTicks(Math.Max(0, (request.Timeout - _clock.GetElapsedTime(request.StartedAt)).Ticks)),
            SentAt = request.SentAt,
            Service = request.Pool.ServiceBytes,
            TraceParent = ServicesTracing.Write(request.Span, stackalloc byte[RequestEnvelope.TraceParentSize]),
        };
        MessageBuilder message = _builders.Rent();
        try
        {
            envelope.Write(message.AddSpace(envelope.Size));
            return request.Parts is { } parts ? message.AddParts(parts) : message.Add(request.Payload.Span);
        }
        catch
        {
            Pending.UndoAttempt(request); // The caller has disposed its builder.
            _builders.Return(message);
            throw;
        }
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
        Counters.Count(kind);
        Duration?.Record(elapsed.TotalSeconds);
        if (kind is RequestOutcomeKind.TimedOut or RequestOutcomeKind.Cancelled && request.Link is { } link)
        {
            Cancel(link, request.Id);
        }

        if (kind == RequestOutcomeKind.Replied)
        {
            request.Complete(new ServiceReply(outcome.Reply, request.Receiver!, request.Asked.Count, elapsed));
        }
        else
        {
            request.Fail(RequestFailure.Of(request, outcome with { Kind = kind }));
        }
    }

    /// <summary>Nobody waits for the reply: the receiver need not execute what it has not begun. If it cannot be said, it executes
    /// it.</summary>
    private void Cancel(ReceiverLink link, ulong id)
    {
        Span<byte> envelope = stackalloc byte[RequestEnvelope.HeaderSize];
        new RequestEnvelope { Kind = EnvelopeKind.Cancel, Id = id }.Write(envelope);
        try
        {
            _router.TrySend(link.Name, envelope, out _);
        }
        catch (Exception e) when (e is ZlinkException or ObjectDisposedException)
        {
            // The socket has ended, and with it all connections.
        }
    }
}
