using Net.Zlink.Flow;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>A received message as it leaves the queue: where it is, whoever holds it then.</summary>
internal readonly record struct DequeuedMessage(InboundLease Lease, int Slot, PeerLink Link);

/// <summary>A consumer that waits for a message.</summary>
internal class ReceiveWaiter : Waiter<DequeuedMessage>
{
    /// <summary>What it was given, until it is completed outside the lock.</summary>
    internal DequeuedMessage Given { get; set; }
}

/// <summary>The receiving side of a socket: fair between its pipes, one whole message each in turn (what a peer sends over its next
/// connection waits until what it had sent is received), or in the order of arrival; with a line of waiting consumers.</summary>
/// <remarks>
/// The lock makes its holder the single consumer of all lanes; it is held for pointer work only, and after a SUB has cancelled a topic for
/// a look at what is taken over next. Pipes with unread messages stand in a line, so finding the next message never looks at empty pipes.
/// Senders are told of room, and waiters completed, after the lock is left.
/// </remarks>
internal sealed class ReceiveQueue : IWaiterList
{
    private readonly ArrivalOrder? _arrivals;
    private ShortLock _gate;
    private ReadyLanes _readyLanes;
    private WaiterList<ReceiveWaiter> _waiters;
    private InboundLane? _currentLane;
    private DetachedLanes? _detachedLanes;
    private bool _mayHaveMore;
    private Func<Exception>? _closed;

    /// <param name="isInArrivalOrder">Messages are read in the order in which they were announced, whosever they are; else each peer has
    /// its turn.</param>
    public ReceiveQueue(bool isInArrivalOrder) => _arrivals = isInArrivalOrder ? new ArrivalOrder() : null;

    /// <summary>Told, outside the lock, that a queue without messages has one, or is closed: for those who watch several sockets.</summary>
    public ReadinessWatchers Watchers { get; } = new();

    public bool IsInArrivalOrder => _arrivals is not null;

    /// <summary>There may be something to take, or the queue is closed: a look without the lock, for those who look again and
    /// again.</summary>
    public bool IsWorthTaking => Volatile.Read(ref _mayHaveMore);

    /// <summary>One peer alone sends, and all that was taken over from it is read: the next take meets it at its lane. Without the lock: a
    /// moment ago.</summary>
    public bool HasCaughtUp => Volatile.Read(ref _currentLane) is { HasDequeued: false };

    /// <summary>A message can be taken now. As of now: where others take too, it may be gone a moment later.</summary>
    public bool IsReadable
    {
        get
        {
            // The usual case of a consumer that looks before each message: it put this here itself, with a batch, and needs no lock to find
            // it.
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

    /// <summary>A lane that was empty has messages; in arrival order: has so many more.</summary>
    public void Enqueue(InboundLane lane, int messages)
    {
        (InboundLane, int) updates = (lane, messages);
        Enqueue(new ReadOnlySpan<(InboundLane, int)>(in updates));
    }

    /// <summary>As <see cref="Enqueue(InboundLane, int)"/>, for several.</summary>
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
                Drop(lane); // Its peer may be gone already: nobody else would.
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

    /// <summary>The socket's filter wants less than before: what lies here is looked at once more, when it is read.</summary>
    /// <param name="filterVersion">Counts that.</param>
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

            foreach (InboundLane waiting in _detachedLanes?.WaitingLanes ?? [])
            {
                waiting.PutBack();
            }
        }
    }

    /// <summary>The lane's connection is over. What is unread stays readable, and comes before what its peer sends over another
    /// one.</summary>
    public void End(InboundLane lane, byte[] routingId)
    {
        using (_gate.EnterScope())
        {
            if (_arrivals is not null || _closed is not null)
            {
                return; // In order by itself; or to be dropped.
            }

            if (lane.IsEmpty())
            {
                DetachFromLanes(lane);
            }
            else
            {
                (_detachedLanes ??= new DetachedLanes()).Add(lane, routingId);
            }
        }
    }

    /// <summary>The lane's peer is known. If it was here before, what it had sent then comes first.</summary>
    public void Follow(InboundLane lane, byte[] routingId)
    {
        using (_gate.EnterScope())
        {
            _detachedLanes?.AddFollower(lane, routingId);
        }
    }

    /// <summary>Takes the next message without waiting.</summary>
    /// <exception cref="Exception">The queue is closed: what <see cref="Close"/> was given.</exception>
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
            // About to wait: what was answered is written now.
            CallerFlush.Run();
            if (closed is not null)
            {
                throw closed();
            }
        }

        return found;
    }

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <exception cref="Exception">The queue is closed and nothing was taken: what <see cref="Close"/> was given.</exception>
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

    /// <summary>Takes at once if there is something; otherwise the waiter stands in line.</summary>
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

    /// <summary>Nothing of this lane is unread.</summary>
    public bool IsDrained(InboundLane lane)
    {
        using (_gate.EnterScope())
        {
            return lane.IsEmpty();
        }
    }

    /// <summary>Drops what is unread of one lane, which takes no more in.</summary>
    public void Drop(InboundLane lane)
    {
        (InboundLease? Taken, InboundLease? Added) all;
        using (_gate.EnterScope())
        {
            all = lane.Drop();
            DetachFromLanes(lane);
            if (ReferenceEquals(_currentLane, lane))
            {
                _currentLane = null;
            }
        }

        InboundLease.ReleaseAll(all.Taken);
        InboundLease.ReleaseAll(all.Added);
        InboundLease.ReleaseAll(lane.DequeueUnwanted());
    }

    /// <summary>Ends the queue: every waiter is released with an error, later calls get it too. Unread messages are dropped, also those of
    /// peers that have gone.</summary>
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
            unread.AddRange(_detachedLanes?.WaitingLanes ?? []);
            _detachedLanes = null;
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
            lane.Pipe.OnLaneCapacity();
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

    private InboundLane? Next()
    {
        if (_arrivals is not null)
        {
            return _arrivals.Dequeue();
        }

        InboundLane? lane = _readyLanes.Dequeue();
        while (lane is not null && _detachedLanes is not null && _detachedLanes.MustWaitFor(lane))
        {
            lane = _readyLanes.Dequeue();
        }

        return lane;
    }

    private void OnEmpty(InboundLane lane)
    {
        _currentLane = null;
        if (_detachedLanes is not null)
        {
            _detachedLanes.OnDrained(lane, ref _readyLanes);
            RemoveDetached();
        }
    }

    private void DetachFromLanes(InboundLane lane)
    {
        if (_detachedLanes is not null)
        {
            _detachedLanes.Remove(lane, ref _readyLanes);
            RemoveDetached();
        }
    }

    private void RemoveDetached() => _detachedLanes = _detachedLanes is { IsEmpty: true } ? null : _detachedLanes;

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
                OnEmpty(lane);
                continue;
            }

            // One message, then the next pipe; alone, a pipe keeps its turn.
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

            dequeued = new DequeuedMessage(lease, slot, lane.Pipe);
            return true;
        }
    }

    /// <summary>Finds the lane whose turn it is, and leaves it the turn.</summary>
    private bool FindNext(ref InboundLane? resume)
    {
        while ((_currentLane ?? Next()) is { } lane)
        {
            // A lane leaves the line only when it is found empty.
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

            OnEmpty(lane);
        }

        _mayHaveMore = _closed is not null;
        return false;
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

    /// <summary>Gives what there is to those who wait; returns them in order, linked, to be completed outside the lock.</summary>
    private ReceiveWaiter? Dispatch(ref InboundLane? resume)
    {
        ReceiveWaiter? first = null;
        ReceiveWaiter? last = null;
        while (_waiters.First is { } waiter && Dequeue(ref resume, out DequeuedMessage dequeued))
        {
            _waiters.Remove(waiter);
            waiter.Given = dequeued;
            if (last is null)
            {
                first = waiter;
            }
            else
            {
                last.Next = waiter;
            }

            last = waiter;
        }

        return first;
    }
}
