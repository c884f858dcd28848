using Net.Zlink.Flow;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

internal readonly record struct DequeuedMessage(InboundLease Lease, int Slot, PeerLink Link);

internal class ReceiveWaiter : Waiter<DequeuedMessage>
{
    internal DequeuedMessage Given { get; set; }
}

/// <summary>
/// The receive queue of a socket: fair between its links, one message each in turn, or in order of arrival. The lock makes its holder the
/// single consumer of all lanes.
/// </summary>
internal sealed class ReceiveQueue : IWaiterList
{
    private readonly ArrivalOrder? _arrivals;
    private ShortLock _gate;
    private ReadyLanes _readyLanes;
    private WaiterList<ReceiveWaiter> _waiters;
    private InboundLane? _currentLane;
    private bool _mayHaveMore;
    private Func<Exception>? _closed;

    public ReceiveQueue(bool isInArrivalOrder) => _arrivals = isInArrivalOrder ? new ArrivalOrder() : null;

    public ReadinessWatchers Watchers { get; } = new();

    public bool IsInArrivalOrder => _arrivals is not null;

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

    public void Enqueue(InboundLane lane, int messages)
    {
        (InboundLane, int) updates = (lane, messages);
        Enqueue(new ReadOnlySpan<(InboundLane, int)>(in updates));
    }

    public void Enqueue(ReadOnlySpan<(InboundLane Lane, int Messages)> updates)
    {
        ReceiveWaiter? served;
        InboundLane? resume = null;
        bool notify = false;
        bool isClosed;
        using (_gate.EnterScope())
        {
            isClosed = _closed is not null;
            if (!isClosed)
            {
                notify = _currentLane is null && _readyLanes.Count == 0 && _arrivals is not { IsEmpty: false };
                foreach ((InboundLane lane, int messages) in updates)
                {
                    if (_arrivals is null)
                    {
                        _readyLanes.Enqueue(lane);
                    }
                    else
                    {
                        _arrivals.Enqueue(lane, messages);
                    }
                }

                _mayHaveMore = true;
            }

            served = isClosed ? null : Dispatch(ref resume);
        }

        if (isClosed)
        {
            foreach ((InboundLane lane, _) in updates)
            {
                Drop(lane);
            }

            return;
        }

        ResumeAll(resume);
        CompleteAll(served);
        if (notify)
        {
            Watchers.Notify();
        }
    }

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
        InboundLane? resume = null;
        bool found;
        Func<Exception>? closed;
        using (_gate.EnterScope())
        {
            closed = _closed;
            found = Dequeue(ref resume, out dequeued);
        }

        if (resume is not null)
        {
            ResumeAll(resume);
        }

        if (!found)
        {
            // Before a wait: the answers are written now.
            CallerFlush.Run();
            if (closed is not null)
            {
                throw closed();
            }
        }

        return found;
    }

    public int DequeueMany(Span<DequeuedMessage> into, bool mayThrow = true)
    {
        InboundLane? resume = null;
        int count = 0;
        Func<Exception>? closed;
        using (_gate.EnterScope())
        {
            closed = _closed;
            while (count < into.Length && Dequeue(ref resume, out into[count]))
            {
                count++;
            }
        }

        ResumeAll(resume);
        if (count < into.Length)
        {
            CallerFlush.Run();
        }

        return count == 0 && mayThrow && closed is not null ? throw closed() : count;
    }

    public bool DequeueOrWait(ReceiveWaiter waiter, out DequeuedMessage dequeued)
    {
        InboundLane? resume = null;
        bool found;
        using (_gate.EnterScope())
        {
            found = Dequeue(ref resume, out dequeued);
            if (!found)
            {
                if (_closed is not null)
                {
                    throw _closed();
                }

                _waiters.Add(waiter);
            }
        }

        ResumeAll(resume);
        return found;
    }

    public bool TryRemove(WaiterNode waiter)
    {
        using (_gate.EnterScope())
        {
            return _waiters.Remove(waiter);
        }
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
        (InboundLease? Taken, InboundLease? Added) all;
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

        InboundLease.ReleaseAll(all.Taken);
        InboundLease.ReleaseAll(all.Added);
        InboundLease.ReleaseAll(lane.DequeueUnwanted());
        if (successor is not null)
        {
            Enqueue(successor, 1);
        }
    }

    /// <summary>Unread messages are dropped, also those of disconnected peers.</summary>
    public void Close(Func<Exception> error)
    {
        ReceiveWaiter? released;
        List<InboundLane> unread;
        using (_gate.EnterScope())
        {
            if (_closed is not null)
            {
                return;
            }

            _closed = error;
            _mayHaveMore = true;
            unread = _arrivals?.Clear() ?? _readyLanes.Clear();
            if (_currentLane is not null)
            {
                unread.Add(_currentLane);
            }

            _currentLane = null;
            released = _waiters.RemoveAll();
        }

        unread.ForEach(Drop);
        ReceiveWaiter.FailAll(released, error);
        Watchers.Notify();
    }

    private static void ResumeAll(InboundLane? lane)
    {
        while (lane is not null)
        {
            InboundLane? next = lane.NextToResume;
            lane.NextToResume = null;
            lane.IsToBeResumed = false;
            InboundLease.ReleaseAll(lane.DequeueUnwanted());
            lane.Link.OnLaneCapacity();
            lane = next;
        }
    }

    private static void CompleteAll(ReceiveWaiter? waiter)
    {
        while (waiter is not null)
        {
            var next = (ReceiveWaiter?)waiter.Next;
            waiter.Next = null;
            DequeuedMessage dequeued = waiter.Given;
            waiter.Given = default;
            waiter.Complete(dequeued);
            waiter = next;
        }
    }

    private InboundLane? Next() => _arrivals is null ? _readyLanes.Dequeue() : _arrivals.Dequeue();

    private bool Dequeue(ref InboundLane? resume, out DequeuedMessage dequeued)
    {
        while (true)
        {
            InboundLane? lane = _currentLane ?? Next();
            if (lane is null)
            {
                _mayHaveMore = _closed is not null;
                dequeued = default;
                return false;
            }

            bool hasCapacity = false;
            bool found = lane.TryDequeue(out InboundLease lease, out int slot, ref hasCapacity);
            if (hasCapacity)
            {
                RecordCapacity(lane, ref resume);
            }

            if (!found)
            {
                _currentLane = NextWithMessages(lane);
                continue;
            }

            if (_arrivals is not null)
            {
                _currentLane = null;
            }
            else if (_readyLanes.Count == 0)
            {
                _currentLane = lane;
            }
            else
            {
                _currentLane = null;
                _readyLanes.Enqueue(lane);
            }

            dequeued = new DequeuedMessage(lease, slot, lane.Link);
            return true;
        }
    }

    private bool FindNext(ref InboundLane? resume)
    {
        while ((_currentLane ?? Next()) is { } lane)
        {
            bool hasCapacity = false;
            bool isEmpty = lane.LeaveIfEmpty(ref hasCapacity);
            if (hasCapacity)
            {
                RecordCapacity(lane, ref resume);
            }

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

    private static void RecordCapacity(InboundLane lane, ref InboundLane? resume)
    {
        if (!lane.IsToBeResumed)
        {
            lane.IsToBeResumed = true;
            lane.NextToResume = resume;
            resume = lane;
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
