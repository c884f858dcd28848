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

/// <summary>The receiving side of a socket: fair between its pipes, one whole message each in turn (what a peer that has left sent comes out in one go), or in the order of arrival; with a line of waiting consumers.</summary>
/// <remarks>
/// The lock makes its holder the single consumer of all lanes; it is held for pointer work only. Pipes with unread messages stand in a line, so finding the next message never looks at
/// empty pipes. Senders are told of room, waiters completed, and unwanted messages ended, after the lock is left.
/// <para>A filter was asked when a message came in. Where it has been narrowed since, it is asked once more when the message would be taken: of a topic that was cancelled nothing is received any more.</para>
/// </remarks>
internal sealed class ReceiveQueue(SocketCore? filter = null) : IWaiterList
{
    private ShortLock _gate;
    private LaneLine _line;
    private WaiterList<ReceiveWaiter> _waiters;
    private InboundLane? _turn;
    private bool _mayHaveMore;
    private int _narrowings;
    private Func<Exception>? _closed;

    /// <summary>Messages come out as they came in, whosever they are: a lane then stands in the line once for each of its messages. Set before the first pipe.</summary>
    public bool IsInArrivalOrder { get; init; }

    /// <summary>How often its filter has come to want less; what is noted in a lease is not asked about again as long as it is the same.</summary>
    public int Narrowings => Volatile.Read(ref _narrowings);

    /// <summary>Told, outside the lock, that a queue without messages has one, or is closed: for those who watch several sockets.</summary>
    public ReadinessWatchers Watchers { get; } = new();

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
            if (Narrowings == 0 && Volatile.Read(ref _turn) is { HasTaken: true })
            {
                return true;
            }

            Aftermath after = default;
            bool found;
            using (_gate.Hold())
            {
                found = FindNext(ref after);
            }

            after.Settle();
            return found;
        }
    }

    /// <summary>A lane that was empty has messages, or, in the order of arrival, so many more.</summary>
    public void Enqueue(InboundLane lane, int messages)
    {
        ReceiveWaiter? served;
        Aftermath after = default;
        bool tell = false;
        bool isClosed;
        using (_gate.Hold())
        {
            isClosed = _closed is not null;
            if (!isClosed)
            {
                tell = _turn is null && _line.Count == 0;
                for (int i = IsInArrivalOrder ? messages : 1; i > 0; i--)
                {
                    _line.Enqueue(lane);
                }

                _mayHaveMore = true;
            }

            served = isClosed ? null : Serve(ref after);
        }

        if (isClosed)
        {
            Drop(lane); // Its peer may be gone already: nobody else would.
            return;
        }

        after.Settle();
        CompleteAll(served);
        if (tell)
        {
            Watchers.Tell();
        }
    }

    /// <summary>The filter wants less than before: what lies here is looked at once more before it is given away.</summary>
    public void Narrow()
    {
        if (filter is not null)
        {
            Interlocked.Increment(ref _narrowings);
        }
    }

    /// <summary>Takes the next message without waiting.</summary>
    /// <exception cref="Exception">The queue is closed: what <see cref="Close"/> was given.</exception>
    public bool TryTake(out TakenMessage taken)
    {
        Aftermath after = default;
        bool found;
        Func<Exception>? closed;
        using (_gate.Hold())
        {
            closed = _closed;
            found = Take(ref after, out taken);
        }

        after.Settle();

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
    public int TakeMany(Span<TakenMessage> into)
    {
        Aftermath after = default;
        int count = 0;
        Func<Exception>? closed;
        using (_gate.Hold())
        {
            closed = _closed;
            while (count < into.Length && Take(ref after, out into[count]))
            {
                count++;
            }
        }

        after.Settle();
        if (count < into.Length)
        {
            OwedFlush.Pay();
        }

        return count == 0 && closed is not null ? throw closed() : count;
    }

    /// <summary>Takes at once if there is something; otherwise the waiter stands in line.</summary>
    public bool TakeOrWait(ReceiveWaiter waiter, out TakenMessage taken)
    {
        Aftermath after = default;
        bool found;
        using (_gate.Hold())
        {
            found = Take(ref after, out taken);
            if (!found)
            {
                if (_closed is not null)
                {
                    throw _closed();
                }

                _waiters.Add(waiter);
            }
        }

        after.Settle();
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
            if (ReferenceEquals(_turn, lane))
            {
                _turn = null;
            }
        }

        InboundLease.ReleaseAll(all.Taken);
        InboundLease.ReleaseAll(all.Added);
    }

    /// <summary>Ends the queue: every waiter is released with an error, later calls get it too. Unread messages are dropped, also those of peers that have gone.</summary>
    public void Close(Func<Exception> error)
    {
        ReceiveWaiter? released = null;
        List<InboundLane> unread;
        using (_gate.Hold())
        {
            if (_closed is not null)
            {
                return;
            }

            _closed = error;
            _mayHaveMore = true;
            unread = _line.Clear();
            if (_turn is not null)
            {
                unread.Add(_turn);
            }

            _turn = null;
            while (_waiters.First is { } waiter)
            {
                _waiters.Remove(waiter);
                waiter.Next = released;
                released = waiter;
            }
        }

        unread.ForEach(Drop);

        while (released is not null)
        {
            var next = (ReceiveWaiter?)released.Next;
            released.Next = null;
            released.Fail(error());
            released = next;
        }

        Watchers.Tell();
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

    private bool Take(ref Aftermath after, out TakenMessage taken)
    {
        while (true)
        {
            InboundLane? lane = _turn ?? _line.Dequeue();
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
                after.Resume(lane);
            }

            if (!found)
            {
                _turn = null;
                continue;
            }

            // One message, then the next pipe; alone, a pipe keeps its turn. One that has ended keeps it too: what the same peer sends over its next connection must not come before it.
            bool staysInTurn = !IsInArrivalOrder && (_line.Count == 0 || !lane.Pipe.IsAttached);
            _turn = staysInTurn ? lane : null;
            if (!staysInTurn && !IsInArrivalOrder)
            {
                _line.Enqueue(lane);
            }

            taken = new TakenMessage(lease, slot, lane.Pipe);
            if (IsWanted(lease, slot))
            {
                return true;
            }

            lane.CountUnwanted();
            after.End(taken);
        }
    }

    /// <summary>Finds the lane whose turn it is and leaves its message there; ends what stands before it and is not wanted any more.</summary>
    private bool FindNext(ref Aftermath after)
    {
        while ((_turn ?? _line.Dequeue()) is { } lane)
        {
            // A lane leaves the line only when it is found empty.
            if (lane.LeaveIfEmpty())
            {
                _turn = null;
                continue;
            }

            _turn = lane;
            bool hasRoom = false;
            if (_narrowings == 0 || !lane.TryPeek(out InboundLease lease, out int slot, ref hasRoom) || IsWanted(lease, slot))
            {
                return true;
            }

            lane.TryTake(out lease, out slot, ref hasRoom);
            lane.CountUnwanted();
            after.End(new TakenMessage(lease, slot, lane.Pipe));
            if (hasRoom)
            {
                after.Resume(lane);
            }
        }

        _mayHaveMore = _closed is not null;
        return false;
    }

    /// <summary>False if the message came in before its topic was cancelled.</summary>
    private bool IsWanted(InboundLease lease, int slot) =>
        lease.Narrowings == _narrowings || filter is null || filter.Accepts(lease.Payload(slot, lease.GenerationOf(slot)).Span);

    /// <summary>Gives what there is to those who wait; returns them in order, linked, to be completed outside the lock.</summary>
    private ReceiveWaiter? Serve(ref Aftermath after)
    {
        ReceiveWaiter? first = null;
        ReceiveWaiter? last = null;
        while (_waiters.First is { } waiter && Take(ref after, out TakenMessage taken))
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
