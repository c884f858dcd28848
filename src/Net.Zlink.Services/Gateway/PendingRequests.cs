using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;

namespace Net.Zlink.Services;

/// <summary>The requests of a gateway that wait for their end, by id and by deadline. The code that takes a request out of here decides
/// how it ends: there is no second arbiter.</summary>
/// <remarks>A slot is used again with another generation, and a random mask covers both: a late reply, also one to an earlier gateway,
/// finds nobody. Safe for any number of threads.</remarks>
internal sealed class PendingRequests : IDisposable
{
    /// <summary>The most requests at once.</summary>
    public const int MaxRequests = 1 << SlotBits;

    private const int SlotBits = 20;

    // Deadlines are rounded up to this, so that all slots are scanned at most 100 times a second.
    private static readonly TimeSpan DeadlineStep = TimeSpan.FromMilliseconds(10);

    private readonly Lock _gate = new();
    private readonly TimeProvider _clock;
    private readonly Action<PendingRequest> _onExpired;
    private readonly ulong _mask = BitConverter.ToUInt64(RandomNumberGenerator.GetBytes(sizeof(ulong)));
    private readonly Stack<int> _free = [];
    private readonly Stack<PendingRequest> _kept = [];
    private readonly Action<PendingRequest> _recycle;
    private readonly long _origin;
    private readonly DateTimeOffset _startedAt;
    private readonly DeadlineTimer _timer;
    private Slot[] _slots = [];
    private int _used;
    private int _count;
    private Exception? _ended;
    private TaskCompletionSource? _empty;

    /// <param name="clock">The context's.</param>
    /// <param name="onExpired">The time of a request is over, and it was taken out. On the timer's thread, outside of the lock.</param>
    public PendingRequests(TimeProvider clock, Action<PendingRequest> onExpired)
    {
        _clock = clock;
        _onExpired = onExpired;
        _recycle = Recycle;
        _origin = clock.GetTimestamp();
        _startedAt = clock.GetUtcNow();
        _timer = new DeadlineTimer(clock, OnDue);
    }

    /// <summary>The time that requests carry: the wall clock as it was at the start, and what has passed since. Receivers would take a
    /// clock that is set for requests that are late.</summary>
    public DateTimeOffset Now => _startedAt + _clock.GetElapsedTime(_origin);

    /// <summary>How many wait for their end.</summary>
    public int Count => Volatile.Read(ref _count);

    /// <summary>Completes when no request waits for its end.</summary>
    public Task WhenEmptyAsync()
    {
        lock (_gate)
        {
            return _count == 0
                ? Task.CompletedTask
                : (_empty ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
        }
    }

    /// <summary>Slots that were ever used at once, and those of them that are free: equal at rest.</summary>
    public (int Used, int Free) Slots
    {
        get
        {
            lock (_gate)
            {
                return (_used, _free.Count);
            }
        }
    }

    public PendingRequest Rent()
    {
        lock (_gate)
        {
            return _kept.TryPop(out PendingRequest? kept) ? kept : new PendingRequest(_recycle);
        }
    }

    /// <summary>Enters a request, which is being sent from here on: <see cref="EndSending"/> follows.</summary>
    /// <exception cref="ZlinkException">Again: there are <see cref="MaxRequests"/>.</exception>
    public void Add(PendingRequest request)
    {
        lock (_gate)
        {
            if (_ended is not null)
            {
                throw _ended;
            }

            if (!_free.TryPop(out int slot))
            {
                if (_used == MaxRequests)
                {
                    throw new ZlinkException(ZlinkError.Again,
                        $"The gateway has {MaxRequests} outstanding requests, which is the maximum: await some of them first.");
                }

                slot = _used++;
                if (slot == _slots.Length)
                {
                    Array.Resize(ref _slots, Math.Max(16, 2 * _slots.Length));
                }
            }

            ref Slot place = ref _slots[slot];
            place.Generation++;
            place.Request = request;
            request.Id = ((place.Generation << SlotBits) | (uint)slot) ^ _mask;
            request.State = RequestState.Sending;
            request.StartedAt = _clock.GetTimestamp();
            Volatile.Write(ref _count, _count + 1);
            place.Deadline = DeadlineOf(request);
            _timer.Add(place.Deadline);
        }
    }

    /// <summary>Something has happened to a request: it is taken out, unless it is sent again after a refusal, or a thread is sending it,
    /// which then learns of it.</summary>
    /// <param name="id">On the wire.</param>
    /// <param name="from">The receiver that caused it; null: none. Ignored unless it is the request's present receiver.</param>
    /// <param name="outcome">What has happened.</param>
    /// <param name="request">The request, which the caller continues; null if the sending thread does.</param>
    /// <returns>False: there is no such request, and the outcome is still the caller's.</returns>
    public bool TryTake(ulong id, ReceiverLink? from, in RequestOutcome outcome, out PendingRequest? request)
    {
        CancellationTokenSource? waiting;
        lock (_gate)
        {
            if (!TryFind(id, out request) || (from is not null && !ReferenceEquals(request.Link, from)))
            {
                request = null;
                return false;
            }

            if (!TryTake(ref request, outcome, out waiting))
            {
                return false;
            }
        }

        waiting?.Cancel();
        return true;
    }

    /// <summary>As <see cref="TryTake(ulong, ReceiverLink?, in RequestOutcome, out PendingRequest?)"/>, for a token that was cancelled. The
    /// object may have another request by now, which is taken only if it has the same token.</summary>
    public bool TryTakeOf(PendingRequest held, CancellationToken token, in RequestOutcome outcome, out PendingRequest? request)
    {
        CancellationTokenSource? waiting;
        lock (_gate)
        {
            // Both under the lock under which a request enters and leaves the table: they are of one request.
            if (!TryFind(held.Id, out request) || !ReferenceEquals(request, held) || request.Call.Token != token)
            {
                request = null;
                return false;
            }

            if (!TryTake(ref request, outcome, out waiting))
            {
                return false;
            }
        }

        waiting?.Cancel();
        return true;
    }

    /// <summary>The sending thread is about to hand a request to a receiver, which may reply at once.</summary>
    /// <returns>False: it has ended meanwhile, and must not be sent.</returns>
    public bool BeginAttempt(PendingRequest request, ReceiverLink link, ServiceInstance receiver)
    {
        lock (_gate)
        {
            if (request.Deferred.Kind != RequestOutcomeKind.None)
            {
                return false;
            }

            request.Link = link;
            request.Receiver = receiver;
            request.SentAt = Now;
            request.ReceivedBefore = link.ReceivedCount;
            link.BeginRequest();
            return true;
        }
    }

    /// <summary>It was not handed over: what the receiver could have done to it has not happened.</summary>
    public void UndoAttempt(PendingRequest request)
    {
        lock (_gate)
        {
            request.Link!.EndRequest();
            request.Link = null;
            if (IsOfAttempt(request.Deferred))
            {
                request.Deferred = default;
            }
        }
    }

    /// <summary>The thread that sends a request has done so. It also handles a reply that came meanwhile.</summary>
    /// <returns>True: it is to end as <paramref name="outcome"/> says, and was taken out; or was refused, and is still being
    /// sent.</returns>
    public bool EndSending(PendingRequest request, out RequestOutcome outcome)
    {
        lock (_gate)
        {
            outcome = request.Deferred;
            request.Deferred = default;
            request.Waiting = null;
            request.State = RequestState.Sent;
            if (outcome.Kind == RequestOutcomeKind.None)
            {
                return false;
            }

            TakeOut(request, outcome);
            return true;
        }
    }

    /// <summary>The sending thread ends a request by itself; what came before that counts.</summary>
    public RequestOutcome EndBySender(PendingRequest request, in RequestOutcome outcome)
    {
        lock (_gate)
        {
            TryDefer(request, outcome);
            EndSending(request, out RequestOutcome end);
            return end;
        }
    }

    /// <summary>The sending thread waits, for capacity or for a receiver.</summary>
    /// <returns>Cancelled when the request has ended.</returns>
    public CancellationToken BeginWaiting(PendingRequest request)
    {
        lock (_gate)
        {
            request.Waiting ??= new CancellationTokenSource();
            if (request.Deferred.Kind != RequestOutcomeKind.None)
            {
                request.Waiting.Cancel();
            }

            return request.Waiting.Token;
        }
    }

    /// <summary>Takes out what went over a connection that has ended: those sent at a time of which <paramref name="wentBy"/> says so. They
    /// are the caller's to end.</summary>
    public List<PendingRequest> TakeLost(ReceiverLink link, RequestOutcome outcome, Func<DateTimeOffset, bool> wentBy)
    {
        var lost = new List<PendingRequest>();
        lock (_gate)
        {
            foreach (Slot slot in _slots.AsSpan(0, _used))
            {
                // Of those that are being sent each learns of it by its send.
                if (slot.Request is { } request && ReferenceEquals(request.Link, link) && wentBy(request.SentAt)
                    && TryTake(ref request, outcome, out _) && request is not null)
                {
                    lost.Add(request);
                }
            }
        }

        return lost;
    }

    /// <summary>Takes out all that there are, to be ended by the caller, and lets no further one in.</summary>
    public List<PendingRequest> End(Exception exception)
    {
        var outcome = new RequestOutcome(RequestOutcomeKind.Ended, Exception: exception);
        List<PendingRequest> ended = [];
        List<CancellationTokenSource> waiting = [];
        lock (_gate)
        {
            _ended ??= exception;
            foreach (Slot slot in _slots.AsSpan(0, _used))
            {
                Take(slot.Request, outcome, ended, waiting);
            }
        }

        waiting.ForEach(static one => one.Cancel());
        return ended;
    }

    public void Dispose() => _timer.Dispose();

    private void Recycle(PendingRequest request)
    {
        lock (_gate)
        {
            if (_kept.Count <= _used)
            {
                _kept.Push(request);
            }
        }
    }

    /// <param name="request">In the table; null after the call if the sending thread continues it.</param>
    /// <param name="outcome">What has happened.</param>
    /// <param name="waiting">To be cancelled outside of the lock.</param>
    /// <returns>False: something else has happened to it before.</returns>
    private bool TryTake(ref PendingRequest? request, in RequestOutcome outcome, out CancellationTokenSource? waiting)
    {
        waiting = null;
        if (request!.State == RequestState.Sent)
        {
            TakeOut(request, outcome);
            return true;
        }

        bool isFirst = TryDefer(request, outcome);
        waiting = isFirst && !IsOfAttempt(outcome) ? request.Waiting : null;
        request = null;
        return isFirst;
    }

    private bool TryFind(ulong id, [NotNullWhen(true)] out PendingRequest? request)
    {
        uint slot = (uint)((id ^ _mask) & (MaxRequests - 1));
        request = slot < (uint)_used ? _slots[slot].Request : null;
        return request is not null && request.Id == id;
    }

    /// <summary>A receiver's doing: void where the request turns out not to have been sent to it.</summary>
    private static bool IsOfAttempt(in RequestOutcome outcome) => outcome.Kind is RequestOutcomeKind.Refused or RequestOutcomeKind.Lost;

    /// <summary>Keeps an outcome for the thread that sends a request. Whatever ends it replaces a refusal and a loss; a loss replaces
    /// nothing, since what was refused before is not lost.</summary>
    private static bool TryDefer(PendingRequest request, in RequestOutcome outcome)
    {
        bool isFirst = request.Deferred.Kind == RequestOutcomeKind.None
            || (IsOfAttempt(request.Deferred) && outcome.Kind != RequestOutcomeKind.Lost);
        request.Deferred = isFirst ? outcome : request.Deferred;
        return isFirst;
    }

    private void TakeOut(PendingRequest request, in RequestOutcome outcome)
    {
        if (outcome.Kind == RequestOutcomeKind.Refused)
        {
            request.Refusal = outcome;
            request.State = RequestState.Sending;
            request.Link!.EndRequest();
            request.Link = null;
            return;
        }

        request.State = RequestState.Done;
        int slot = (int)((request.Id ^ _mask) & (MaxRequests - 1));
        _slots[slot].Request = null;
        _slots[slot].Deadline = long.MaxValue;
        _free.Push(slot);
        request.Link?.EndRequest();
        Volatile.Write(ref _count, _count - 1);
        if (_count == 0)
        {
            _empty?.TrySetResult(); // Its continuations run on the pool, not under this lock.
        }
    }

    private void Take(
        PendingRequest? request, in RequestOutcome outcome, List<PendingRequest> taken, List<CancellationTokenSource> waiting)
    {
        if (request is null || !TryTake(ref request, outcome, out CancellationTokenSource? wait))
        {
            return;
        }

        if (request is not null)
        {
            taken.Add(request);
        }

        if (wait is not null)
        {
            waiting.Add(wait);
        }
    }

    private long DeadlineOf(PendingRequest request)
    {
        if (request.Call.Timeout == Timeout.InfiniteTimeSpan)
        {
            return long.MaxValue;
        }

        double steps = Math.Ceiling(
            (_clock.GetElapsedTime(_origin, request.StartedAt) / DeadlineStep) + (request.Call.Timeout / DeadlineStep));
        return _origin + (long)Math.Min(steps * (_clock.TimestampFrequency * DeadlineStep.TotalSeconds), long.MaxValue / 2);
    }

    private void OnDue()
    {
        var outcome = new RequestOutcome(RequestOutcomeKind.TimedOut);
        List<PendingRequest> expired = [];
        List<CancellationTokenSource> waiting = [];
        lock (_gate)
        {
            long now = _clock.GetTimestamp();
            long next = long.MaxValue;
            foreach (ref Slot slot in _slots.AsSpan(0, _used))
            {
                if (slot.Deadline <= now)
                {
                    slot.Deadline = long.MaxValue;
                    Take(slot.Request, outcome, expired, waiting);
                }

                next = Math.Min(next, slot.Deadline);
            }

            _timer.Set(next);
        }

        waiting.ForEach(static one => one.Cancel());
        expired.ForEach(_onExpired);
    }

    private struct Slot
    {
        public PendingRequest? Request;
        public ulong Generation;

        /// <summary>A timestamp; <see cref="long.MaxValue"/>: none.</summary>
        public long Deadline;
    }
}
