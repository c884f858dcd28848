using Net.Zlink.Flow;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>
/// The receive queue of a socket: fair between its links, which take turns, or in order of arrival. The lock makes its holder the single
/// consumer of all lanes. A turn is one message, or until a limit of messages or bytes is reached: then a consumer answers one peer's
/// messages with one write.
/// </summary>
/// <param name="isInArrivalOrder">See <see cref="IsInArrivalOrder"/>.</param>
/// <param name="turn">Null: one message.</param>
/// <param name="total">Who waits for it reads on behind a dequeue.</param>
internal sealed class ReceiveQueue(bool isInArrivalOrder, QueueLimits? turn = null, SocketQuota? total = null)
    : ShardWork, IWaiterList
{
    /// <summary>At most a read, or the message that exceeds it: a flooding peer delays the others by one turn.</summary>
    public static readonly QueueLimits LongTurn = new(InboundLease.MaxSlots, ReceiveSlab.ReadSize);

    private ShortLock _gate;
    private ReadyLanes _readyLanes;
    private WaiterList<ReceiveWaiter> _waiters;
    private InboundLane? _currentLane;
    private bool _mayHaveMore;
    private bool _mustNotify;
    private int _turnMessages;
    private long _turnBytes;
    private Func<Exception>? _closed;

    public ReadinessWatchers Watchers { get; } = new();

    /// <summary>A lane is ready once for each message. Otherwise once, and again behind the others while it has messages.</summary>
    public bool IsInArrivalOrder => isInArrivalOrder;

    public bool IsWorthTaking => Volatile.Read(ref _mayHaveMore);

    /// <summary>Read without the lock.</summary>
    public bool HasCaughtUp => Volatile.Read(ref _currentLane) is { HasDequeued: false };

    public bool IsReadable
    {
        get
        {
            // The common case of a consumer that checks before each message: its last batch has more, and needs no lock.
            if (Volatile.Read(ref _currentLane) is { HasDequeued: true })
            {
                return true;
            }

            InboundLane? resume = null;
            bool isReadable;
            using (_gate.EnterScope())
            {
                isReadable = FindNext(ref resume);
            }

            ResumeAll(resume);
            return isReadable;
        }
    }

    /// <inheritdoc cref="InboundLane.Enqueue"/>
    public bool Publish(InboundLane lane, InboundLease lease)
    {
        bool continues = lane.Enqueue(lease, out int updates);
        if (updates > 0)
        {
            Enqueue(lane, updates);
        }

        return continues;
    }

    /// <summary>0 messages: the lane has only a notice.</summary>
    public void Enqueue(InboundLane lane, int messages)
    {
        if (!Serve(lane, messages, mayRunHere: messages > 0))
        {
            Drop(lane);
        }
    }

    /// <summary>
    /// As <see cref="Enqueue"/>, also under the socket's lock. <see cref="DispatchPlaced"/> follows outside of it. False: the queue is
    /// closed, and the caller drops the lane.
    /// </summary>
    public bool Place(InboundLane lane, int messages)
    {
        using (_gate.EnterScope())
        {
            return PlaceUnderLock(lane, messages);
        }
    }

    /// <summary>Outside of all locks.</summary>
    public void DispatchPlaced() => Serve(placed: null, messages: 0, mayRunHere: true);

    public void OnFilterChanged(ref int filterVersion)
    {
        using (_gate.EnterScope())
        {
            Volatile.Write(ref filterVersion, filterVersion + 1);
            _currentLane?.PutBack();
            for (int place = 0; place < _readyLanes.Count; place++)
            {
                _readyLanes[place].PutBack();
            }
        }
    }

    public bool TryDequeue(out DequeuedMessage dequeued)
    {
        // Not by DequeueMany, which takes 6 ns more: a third of a receive within the process.
        InboundLane? resume = null;
        bool found;
        bool startsTurn;
        Func<Exception>? closed;
        using (_gate.EnterScope())
        {
            closed = _closed;
            found = Dequeue(ref resume, out dequeued);
            startsTurn = _turnMessages == 1;
        }

        ResumeAll(resume);
        if (!found || startsTurn)
        {
            CallerFlush.Run(); // Before a wait or a peer's turn: the answers are written now.
        }

        return found || closed is null ? found : throw closed();
    }

    public int DequeueMany(Span<DequeuedMessage> into, bool mayThrow = true, bool ofThisTurn = false)
    {
        InboundLane? resume = null;
        int count = 0;
        bool startsTurn = false;
        Func<Exception>? closed;
        using (_gate.EnterScope())
        {
            closed = _closed;
            while (count < into.Length && Dequeue(ref resume, out into[count], ofThisTurn))
            {
                count++;
                startsTurn |= _turnMessages == 1;
            }
        }

        ResumeAll(resume);
        if ((count < into.Length && !ofThisTurn) || startsTurn)
        {
            CallerFlush.Run();
        }

        return count == 0 && mayThrow && !ofThisTurn && closed is not null ? throw closed() : count;
    }

    public bool IsDrained(InboundLane lane)
    {
        using (_gate.EnterScope())
        {
            return lane.IsDrained();
        }
    }

    /// <summary>Both lanes are of one peer: what the new connection sends is received behind all that the old one has left.</summary>
    public void Follow(InboundLane old, InboundLane successor)
    {
        using (_gate.EnterScope())
        {
            if (!old.IsDrained())
            {
                successor.Hold();
                old.Successor = successor;
            }
        }
    }

    public void Drop(InboundLane lane)
    {
        InboundLease? all;
        InboundLane? successor;
        using (_gate.EnterScope())
        {
            all = lane.Drop();
            successor = NextWithMessages(lane);
            if (ReferenceEquals(_currentLane, lane))
            {
                _currentLane = null;
            }
        }

        InboundLease.ReleaseAll(all);
        lane.ReleaseUnwanted();
        ResumeReadersOfAll();
        if (successor is not null)
        {
            Enqueue(successor, 1);
        }
    }

    /// <summary>Unread messages are dropped, also those of disconnected peers.</summary>
    public void Close(Func<Exception> error)
    {
        ReceiveWaiter? released;
        HashSet<InboundLane> unread = []; // In order of arrival a lane is there for each message.
        using (_gate.EnterScope())
        {
            if (_closed is not null)
            {
                return;
            }

            _closed = error;
            _mayHaveMore = true;
            while ((_currentLane ?? _readyLanes.Dequeue()) is { } lane)
            {
                unread.Add(lane);
                _currentLane = null;
            }

            released = _waiters.RemoveAll();
        }

        foreach (InboundLane lane in unread)
        {
            Drop(lane);
        }

        CompleteAll(released, mayRunHere: false, error);
        Watchers.Notify();
    }

    private void ResumeReadersOfAll()
    {
        if (total is { CanResume: true })
        {
            total.PausedReaders.ResumeWaiters();
        }
    }

    private void ResumeAll(InboundLane? lane)
    {
        ResumeReadersOfAll();
        while (lane is not null)
        {
            InboundLane? next = lane.NextToResume;
            lane.NextToResume = null;
            lane.IsToBeResumed = false;
            lane.ReleaseUnwanted();
            lane.Link.OnLaneCapacity();
            lane = next;
        }
    }

    private InboundLane? Next()
    {
        (_turnMessages, _turnBytes) = (0, 0);
        return _readyLanes.Dequeue();
    }

    /// <summary>A long turn ends at its limit, and when nothing is left: what comes later waits behind the others.</summary>
    private InboundLane? ContinueTurn(InboundLane lane, in DequeuedMessage dequeued, QueueLimits turn, ref bool hasCapacity)
    {
        _turnMessages++;
        _turnBytes += dequeued.Lease is { } lease ? lease.BytesOf(dequeued.Slot) : 0;
        if (lane.HasDequeued && !turn.IsFull(_turnMessages, _turnBytes))
        {
            return lane;
        }

        if (lane.HasDequeued)
        {
            hasCapacity |= lane.Report(); // Others may wait for that, and the lane's next turn is far.
        }
        else if (lane.LeaveIfEmpty(ref hasCapacity))
        {
            return null;
        }

        _readyLanes.Enqueue(lane);
        return null;
    }

    private bool Dequeue(ref InboundLane? resume, out DequeuedMessage dequeued, bool ofThisTurn = false)
    {
        while (true)
        {
            InboundLane? lane = _currentLane ?? (ofThisTurn ? null : Next());
            if (lane is null)
            {
                _mayHaveMore &= ofThisTurn || _closed is not null;
                dequeued = default;
                return false;
            }

            bool hasCapacity = false;
            bool found = lane.TryDequeue(out dequeued, ref hasCapacity);
            if (found && turn is { } limits)
            {
                _currentLane = ContinueTurn(lane, dequeued, limits, ref hasCapacity);
            }

            RecordCapacity(lane, hasCapacity, ref resume);

            if (!found)
            {
                _currentLane = NextWithMessages(lane);
                continue;
            }

            if (turn is null)
            {
                bool isOnly = _readyLanes.Count == 0;
                _currentLane = isOnly && !IsInArrivalOrder ? lane : null;
                if (!isOnly && !IsInArrivalOrder)
                {
                    _readyLanes.Enqueue(lane);
                }
            }

            return true;
        }
    }

    private bool FindNext(ref InboundLane? resume)
    {
        while ((_currentLane ?? Next()) is { } lane)
        {
            bool hasCapacity = false;
            bool isEmpty = lane.LeaveIfEmpty(ref hasCapacity);
            RecordCapacity(lane, hasCapacity, ref resume);

            if (!isEmpty)
            {
                _currentLane = lane;
                return true;
            }

            _currentLane = NextWithMessages(lane);
        }

        _mayHaveMore = _closed is not null;
        return false;
    }

    /// <summary>The lane is empty: those that waited for it may be received.</summary>
    private static InboundLane? NextWithMessages(InboundLane lane)
    {
        while (lane.Successor is { } next)
        {
            lane.Successor = null;
            if (next.EndHold())
            {
                return next;
            }

            lane = next;
        }

        return null;
    }

    private static void RecordCapacity(InboundLane lane, bool hasCapacity, ref InboundLane? resume)
    {
        if (hasCapacity && !lane.IsToBeResumed)
        {
            lane.IsToBeResumed = true;
            lane.NextToResume = resume;
            resume = lane;
        }
    }

    public bool DequeueOrWait(ReceiveWaiter waiter, out DequeuedMessage dequeued)
    {
        InboundLane? resume = null;
        LaneOwner? ready = null;
        bool found;
        using (_gate.EnterScope())
        {
            found = Dequeue(ref resume, out dequeued, ofThisTurn: waiter.RunsSynchronously);
            if (!found)
            {
                if (_closed is not null)
                {
                    throw _closed();
                }

                _waiters.Add(waiter);
                ready = waiter.RunsSynchronously && FindNext(ref resume) ? _currentLane!.Link : null;
            }
        }

        ResumeAll(resume);
        if (ready is not null)
        {
            // The consumer waits although there is data: its shard serves it later, elsewhere the shard of the data.
            (ShardLoop.Current ?? ready.Reader!.Shard).Post(this, 1);
        }

        if (!found && waiter.RunsSynchronously)
        {
            CallerFlush.Run();
        }

        return found;
    }

    public bool TryRemove(WaiterNode waiter)
    {
        using (_gate.EnterScope())
        {
            return _waiters.Remove(waiter);
        }
    }

    internal override void Run(int reasons) => DispatchPlaced();

    internal override string Describe() => "a receive that continues at once";

    private bool PlaceUnderLock(InboundLane lane, int messages)
    {
        if (_closed is not null)
        {
            return false;
        }

        _mustNotify |= _currentLane is null && _readyLanes.Count == 0;
        _mayHaveMore = true;
        for (int i = IsInArrivalOrder ? messages : 1; i > 0; i--)
        {
            _readyLanes.Enqueue(lane);
        }

        return true;
    }

    /// <summary>False: the queue is closed, and has not taken the lane.</summary>
    private bool Serve(InboundLane? placed, int messages, bool mayRunHere)
    {
        ReceiveWaiter? served;
        InboundLane? resume = null;
        bool isOpen;
        bool notifies;
        using (_gate.EnterScope())
        {
            isOpen = placed is null || PlaceUnderLock(placed, messages);
            served = Dispatch(ref resume);
            (notifies, _mustNotify) = (_mustNotify, false);
        }

        ResumeAll(resume);
        CompleteAll(served, mayRunHere);
        if (notifies)
        {
            Watchers.Notify();
        }

        return isOpen;
    }

    private static void CompleteAll(ReceiveWaiter? waiter, bool mayRunHere, Func<Exception>? error = null)
    {
        mayRunHere &= waiter is not null && ShardLoop.Current is { IsHelped: false };
        while (waiter is not null)
        {
            var next = (ReceiveWaiter?)waiter.Next;
            waiter.Next = null;
            DequeuedMessage dequeued = waiter.Given;
            waiter.Given = default;
            if (error is not null)
            {
                waiter.Fail(error());
            }
            else
            {
                waiter.Complete(dequeued, here: mayRunHere && waiter.RunsSynchronously);
            }

            waiter = next;
        }
    }

    /// <summary>Returns the served waiters in order, linked, to be completed outside of the lock.</summary>
    private ReceiveWaiter? Dispatch(ref InboundLane? resume)
    {
        WaiterList<ReceiveWaiter> served = default;
        while (_waiters.First is { } waiter && Dequeue(ref resume, out DequeuedMessage dequeued))
        {
            _waiters.Remove(waiter);
            waiter.Given = dequeued;
            served.Add(waiter);
        }

        return served.RemoveAll();
    }
}
