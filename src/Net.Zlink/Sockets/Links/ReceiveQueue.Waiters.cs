using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>Receives that wait.</summary>
internal sealed partial class ReceiveQueue
{
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
            (ShardLoop.Current ?? ready.Reader!.Shard).Post(DispatchWork, 1);
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

    private static void CompleteAll(ReceiveWaiter? waiter, bool mayRunHere)
    {
        mayRunHere &= waiter is not null && ShardLoop.Current is { IsHelped: false };
        while (waiter is not null)
        {
            var next = (ReceiveWaiter?)waiter.Next;
            waiter.Next = null;
            DequeuedMessage dequeued = waiter.Given;
            waiter.Given = default;
            if (mayRunHere && waiter.RunsSynchronously)
            {
                waiter.CompleteHere(dequeued);
            }
            else
            {
                waiter.Complete(dequeued);
            }

            waiter = next;
        }
    }

    private ReceiveDispatch DispatchWork => Volatile.Read(ref _dispatch)
        ?? Interlocked.CompareExchange(ref _dispatch, new ReceiveDispatch(DispatchWaiting), null) ?? _dispatch!;

    /// <summary>Gives what is placed to those that wait. Outside of all locks.</summary>
    public void DispatchWaiting()
    {
        ReceiveWaiter? served;
        InboundLane? resume = null;
        bool notify;
        using (_gate.EnterScope())
        {
            served = Dispatch(ref resume, out notify);
        }

        Finish(resume, served, notify, mayRunHere: true);
    }

    private void Finish(InboundLane? resume, ReceiveWaiter? served, bool notify, bool mayRunHere)
    {
        ResumeAll(resume);
        CompleteAll(served, mayRunHere);
        if (notify)
        {
            Watchers.Notify();
        }
    }

    /// <summary>Returns the served waiters in order, linked, to be completed outside of the lock.</summary>
    private ReceiveWaiter? Dispatch(ref InboundLane? resume, out bool notify)
    {
        notify = _mustNotify;
        _mustNotify = false;
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

/// <summary>One message of a lease, or a notice without one.</summary>
internal readonly record struct DequeuedMessage(InboundLease Lease, int Slot, LaneOwner Link, LaneNotice Notice = LaneNotice.None);

/// <summary>What a lane says of its peer.</summary>
internal enum LaneNotice : byte
{
    None,
    Connected,
    Disconnected,
}

internal class ReceiveWaiter : Waiter<DequeuedMessage>
{
    /// <summary>Continues on the shard that has just read. It gets one turn and then waits, so the shard can do other work.</summary>
    public bool RunsSynchronously { get; set; }

    internal DequeuedMessage Given { get; set; }
}

internal sealed class ReceiveDispatch(Action serve) : ShardWork
{
    internal override void Run(int reasons) => serve();

    internal override string Describe() => "a receive that continues at once";
}
