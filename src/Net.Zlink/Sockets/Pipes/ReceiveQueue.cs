using Net.Zlink.Flow;
using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>A received message as it leaves the queue: where it is, whoever holds it then.</summary>
internal readonly record struct TakenMessage(InboundLease Lease, int Slot, Pipe Pipe);

/// <summary>A consumer that waits for a message.</summary>
internal class ReceiveWaiter : Waiter<TakenMessage>
{
    /// <summary>What it was given, until it is completed outside the lock.</summary>
    internal TakenMessage Given { get; set; }
}

/// <summary>The receiving side of a socket: fair between its pipes, one whole message each in turn (what a peer sends over its next connection waits until what it had sent is received), or in the order of arrival; with a line of waiting consumers.</summary>
/// <remarks>
/// The lock makes its holder the single consumer of all lanes; it is held for pointer work only, and after a SUB has cancelled a topic for a look at what is taken over next. Pipes with unread messages stand in a line, so finding the next message never looks at
/// empty pipes. Senders are told of room, and waiters completed, after the lock is left.
/// </remarks>
internal sealed class ReceiveQueue : IWaiterList
{
    private readonly ArrivalLine? _arrivals;
    private ShortLock _gate;
    private LaneLine _line;
    private WaiterList<ReceiveWaiter> _waiters;
    private InboundLane? _turn;
    private Rests? _rests;
    private bool _mayHaveMore;
    private Func<Exception>? _closed;

    /// <param name="isInArrivalOrder">Messages are read in the order in which they were announced, whosever they are; else each peer has its turn.</param>
    public ReceiveQueue(bool isInArrivalOrder) => _arrivals = isInArrivalOrder ? new ArrivalLine() : null;

    /// <summary>Told, outside the lock, that a queue without messages has one, or is closed: for those who watch several sockets.</summary>
    public ReadinessWatchers Watchers { get; } = new();

    public bool IsInArrivalOrder => _arrivals is not null;

    /// <summary>There may be something to take, or the queue is closed: a look without the lock, for those who look again and again.</summary>
    public bool IsWorthTaking => Volatile.Read(ref _mayHaveMore);

    /// <summary>One peer alone sends, and all that was taken over from it is read: the next take meets it at its lane. Without the lock: a moment ago.</summary>
    public bool HasCaughtUp => Volatile.Read(ref _turn) is { HasTaken: false };

    /// <summary>A message can be taken now. As of now: where others take too, it may be gone a moment later.</summary>
    public bool IsReadable
    {
        get
        {
            // The usual case of a consumer that looks before each message: it put this here itself, with a batch, and needs no lock to find it.
            if (Volatile.Read(ref _turn) is { HasTaken: true })
            {
                return true;
            }

            InboundLane? resume = null;
            bool isReadable;
            using (_gate.Hold())
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
        (InboundLane, int) news = (lane, messages);
        Enqueue(new ReadOnlySpan<(InboundLane, int)>(in news));
    }

    /// <summary>As <see cref="Enqueue(InboundLane, int)"/>, for several.</summary>
    public void Enqueue(ReadOnlySpan<(InboundLane Lane, int Messages)> news)
    {
        ReceiveWaiter? served;
        InboundLane? resume = null;
        bool tell = false;
        bool isClosed;
        using (_gate.Hold())
        {
            isClosed = _closed is not null;
            if (!isClosed)
            {
                tell = _turn is null && _line.Count == 0 && _arrivals is not { IsEmpty: false };
                foreach ((InboundLane lane, int messages) in news)
                {
                    if (_arrivals is null)
                    {
                        _line.Enqueue(lane);
                    }
                    else
                    {
                        _arrivals.Enqueue(lane, messages);
                    }
                }

                _mayHaveMore = true;
            }

            served = isClosed ? null : Serve(ref resume);
        }

        if (isClosed)
        {
            foreach ((InboundLane lane, _) in news)
            {
                Drop(lane); // Its peer may be gone already: nobody else would.
            }

            return;
        }

        ResumeAll(resume);
        CompleteAll(served);
        if (tell)
        {
            Watchers.Tell();
        }
    }

    /// <summary>The socket's filter wants less than before: what lies here is looked at once more, when it is read.</summary>
    /// <param name="narrowings">Counts that.</param>
    public void Narrow(ref int narrowings)
    {
        using (_gate.Hold())
        {
            Volatile.Write(ref narrowings, narrowings + 1);
            _turn?.PutBack();
            for (int place = 0; place < _line.Count; place++)
            {
                _line[place].PutBack();
            }

            foreach (InboundLane waiting in _rests?.Waiting ?? [])
            {
                waiting.PutBack();
            }
        }
    }

    /// <summary>The lane's connection is over. What is unread stays readable, and comes before what its peer sends over another one.</summary>
    public void End(InboundLane lane, byte[] routingId)
    {
        using (_gate.Hold())
        {
            if (_arrivals is not null || _closed is not null)
            {
                return; // In order by itself; or to be dropped.
            }

            if (lane.IsEmpty())
            {
                LeaveRests(lane);
            }
            else
            {
                (_rests ??= new Rests()).Add(lane, routingId);
            }
        }
    }

    /// <summary>The lane's peer is known. If it was here before, what it had sent then comes first.</summary>
    public void Follow(InboundLane lane, byte[] routingId)
    {
        using (_gate.Hold())
        {
            _rests?.Follow(lane, routingId);
        }
    }

    /// <summary>Takes the next message without waiting.</summary>
    /// <exception cref="Exception">The queue is closed: what <see cref="Close"/> was given.</exception>
    public bool TryTake(out TakenMessage taken)
    {
        InboundLane? resume = null;
        bool found;
        Func<Exception>? closed;
        using (_gate.Hold())
        {
            closed = _closed;
            found = Take(ref resume, out taken);
        }

        if (resume is not null)
        {
            ResumeAll(resume);
        }

        if (!found)
        {
            // About to wait: what was answered is written now.
            OwedFlush.Pay();
            if (closed is not null)
            {
                throw closed();
            }
        }

        return found;
    }

    /// <summary>Takes as many messages as there are and fit, without waiting.</summary>
    /// <exception cref="Exception">The queue is closed and nothing was taken: what <see cref="Close"/> was given.</exception>
    public int TakeMany(Span<TakenMessage> into, bool mayThrow = true)
    {
        InboundLane? resume = null;
        int count = 0;
        Func<Exception>? closed;
        using (_gate.Hold())
        {
            closed = _closed;
            while (count < into.Length && Take(ref resume, out into[count]))
            {
                count++;
            }
        }

        ResumeAll(resume);
        if (count < into.Length)
        {
            OwedFlush.Pay();
        }

        return count == 0 && mayThrow && closed is not null ? throw closed() : count;
    }

    /// <summary>Takes at once if there is something; otherwise the waiter stands in line.</summary>
    public bool TakeOrWait(ReceiveWaiter waiter, out TakenMessage taken)
    {
        InboundLane? resume = null;
        bool found;
        using (_gate.Hold())
        {
            found = Take(ref resume, out taken);
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

    public bool TryTakeOut(WaiterNode waiter)
    {
        using (_gate.Hold())
        {
            return _waiters.Remove(waiter);
        }
    }

    /// <summary>Nothing of this lane is unread.</summary>
    public bool IsDrained(InboundLane lane)
    {
        using (_gate.Hold())
        {
            return lane.IsEmpty();
        }
    }

    /// <summary>Drops what is unread of one lane, which takes no more in.</summary>
    public void Drop(InboundLane lane)
    {
        (InboundLease? Taken, InboundLease? Added) all;
        using (_gate.Hold())
        {
            all = lane.Drop();
            LeaveRests(lane);
            if (ReferenceEquals(_turn, lane))
            {
                _turn = null;
            }
        }

        InboundLease.ReleaseAll(all.Taken);
        InboundLease.ReleaseAll(all.Added);
        InboundLease.ReleaseAll(lane.TakeUnwanted());
    }

    /// <summary>Ends the queue: every waiter is released with an error, later calls get it too. Unread messages are dropped, also those of peers that have gone.</summary>
    public void Close(Func<Exception> error)
    {
        ReceiveWaiter? released;
        List<InboundLane> unread;
        using (_gate.Hold())
        {
            if (_closed is not null)
            {
                return;
            }

            _closed = error;
            _mayHaveMore = true;
            unread = _arrivals?.Clear() ?? _line.Clear();
            unread.AddRange(_rests?.Waiting ?? []);
            _rests = null;
            if (_turn is not null)
            {
                unread.Add(_turn);
            }

            _turn = null;
            released = _waiters.TakeAll();
        }

        unread.ForEach(Drop);
        ReceiveWaiter.FailAll(released, error);
        Watchers.Tell();
    }

    private static void ResumeAll(InboundLane? lane)
    {
        while (lane is not null)
        {
            InboundLane? next = lane.NextToResume;
            lane.NextToResume = null;
            lane.IsToBeResumed = false;
            InboundLease.ReleaseAll(lane.TakeUnwanted());
            lane.Pipe.OnRoomInLane();
            lane = next;
        }
    }

    private static void CompleteAll(ReceiveWaiter? waiter)
    {
        while (waiter is not null)
        {
            var next = (ReceiveWaiter?)waiter.Next;
            waiter.Next = null;
            TakenMessage taken = waiter.Given;
            waiter.Given = default;
            waiter.Complete(taken);
            waiter = next;
        }
    }

    private InboundLane? Next()
    {
        if (_arrivals is not null)
        {
            return _arrivals.Dequeue();
        }

        InboundLane? lane = _line.Dequeue();
        while (lane is not null && _rests is not null && _rests.HoldsBack(lane))
        {
            lane = _line.Dequeue();
        }

        return lane;
    }

    private void OnEmpty(InboundLane lane)
    {
        _turn = null;
        if (_rests is not null)
        {
            _rests.OnEmpty(lane, ref _line);
            ForgetRests();
        }
    }

    private void LeaveRests(InboundLane lane)
    {
        if (_rests is not null)
        {
            _rests.Remove(lane, ref _line);
            ForgetRests();
        }
    }

    private void ForgetRests() => _rests = _rests is { IsEmpty: true } ? null : _rests;

    private bool Take(ref InboundLane? resume, out TakenMessage taken)
    {
        while (true)
        {
            InboundLane? lane = _turn ?? Next();
            if (lane is null)
            {
                _mayHaveMore = _closed is not null;
                taken = default;
                return false;
            }

            bool hasRoom = false;
            bool found = lane.TryTake(out InboundLease lease, out int slot, ref hasRoom);
            if (hasRoom)
            {
                NoteRoom(lane, ref resume);
            }

            if (!found)
            {
                OnEmpty(lane);
                continue;
            }

            // One message, then the next pipe; alone, a pipe keeps its turn.
            if (_arrivals is not null)
            {
                _turn = null;
            }
            else if (_line.Count == 0)
            {
                _turn = lane;
            }
            else
            {
                _turn = null;
                _line.Enqueue(lane);
            }

            taken = new TakenMessage(lease, slot, lane.Pipe);
            return true;
        }
    }

    /// <summary>Finds the lane whose turn it is, and leaves it the turn.</summary>
    private bool FindNext(ref InboundLane? resume)
    {
        while ((_turn ?? Next()) is { } lane)
        {
            // A lane leaves the line only when it is found empty.
            bool hasRoom = false;
            bool isEmpty = lane.LeaveIfEmpty(ref hasRoom);
            if (hasRoom)
            {
                NoteRoom(lane, ref resume);
            }

            if (!isEmpty)
            {
                _turn = lane;
                return true;
            }

            OnEmpty(lane);
        }

        _mayHaveMore = _closed is not null;
        return false;
    }

    private static void NoteRoom(InboundLane lane, ref InboundLane? resume)
    {
        if (!lane.IsToBeResumed)
        {
            lane.IsToBeResumed = true;
            lane.NextToResume = resume;
            resume = lane;
        }
    }

    /// <summary>Gives what there is to those who wait; returns them in order, linked, to be completed outside the lock.</summary>
    private ReceiveWaiter? Serve(ref InboundLane? resume)
    {
        ReceiveWaiter? first = null;
        ReceiveWaiter? last = null;
        while (_waiters.First is { } waiter && Take(ref resume, out TakenMessage taken))
        {
            _waiters.Remove(waiter);
            waiter.Given = taken;
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
