using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

/// <summary>
/// A turn serves one peer with at most 64 KiB or 256 messages, however many reads brought them. So a flooding peer delays the others by one
/// turn, and a consumer answers one peer's messages with one write. A peer's disconnect follows its unread data. A consumer with
/// synchronous continuations (<see cref="PullWaiter.RunsSynchronously"/>) runs on the shard that has just read. It gets one turn and then
/// waits, so the shard can do other work.
/// </summary>
internal sealed class PullQueue : IWaiterList, IShareOwner
{
    private ShortLock _gate;
    private readonly Queue<PullPeer> _readyPeers = new();
    private readonly PullEvents _events = new();
    private readonly PullBudget _budget;
    private WaiterList<PullWaiter> _waiters;
    private PullDispatch? _serving;
    private PullPeer? _currentPeer;
    private long _batchBytes;
    private int _batchMessages;
    private long _bytes;
    private long _messages;
    private long _dropped;
    private Func<Exception>? _closed;

    public PullQueue(long limit, ByteBudget? context = null) => _budget = new PullBudget(limit, context, this);

    public (long Messages, long Bytes, int Events, long Dropped) Depth
    {
        get
        {
            using (_gate.EnterScope())
            {
                return (_messages, _bytes, _events.Count, _dropped);
            }
        }
    }

    public ReadinessWatchers Watchers { get; } = new();

    public void PublishConnected(PullPeer peer)
    {
        PullWaiter? served;
        PullPeer? resume = null;
        using (_gate.EnterScope())
        {
            if (_closed is not null)
            {
                return;
            }

            _events.AddConnected(peer);
            peer.IsConnectQueued = true;
            if (peer.IsEnding)
            {
                _events.AddEnd(peer);
            }

            served = Dispatch(ref resume);
        }

        ResumeAll(resume);
        CompleteAll(served);
    }

    public Delivery Publish(PullPeer peer, InboundLease first, InboundLease last, int messages, long bytes)
    {
        PullWaiter? served = null;
        PullPeer? resume = null;
        bool pause = false;
        bool isUnwanted;
        using (_gate.EnterScope())
        {
            isUnwanted = peer.IsDropped || _closed is not null;
            if (isUnwanted)
            {
                peer.Dropped += messages;
                _dropped += messages;
            }
            else
            {
                Add(peer, first, last, messages, bytes);
                served = Dispatch(ref resume);
                pause = ShouldPause(peer, ref resume);
            }
        }

        if (isUnwanted)
        {
            InboundLease.ReleaseAll(first);
            return Delivery.Continue;
        }

        ResumeAll(resume);
        CompleteAll(served, maybeHere: true);
        return pause ? Delivery.Pause : Delivery.Continue;
    }

    public bool MayRead(PullPeer peer)
    {
        PullPeer? resume = null;
        bool pause;
        using (_gate.EnterScope())
        {
            pause = ShouldPause(peer, ref resume);
        }

        ResumeAll(resume);
        return !pause;
    }

    public void PublishDisconnected(PullPeer peer, bool dropUnread)
    {
        PullWaiter? served;
        PullPeer? resume = null;
        InboundLease? dropped = null;
        using (_gate.EnterScope())
        {
            if (_closed is not null)
            {
                return;
            }

            peer.IsEnding = true;
            if (dropUnread)
            {
                peer.IsDropped = true;
                long freed = peer.Bytes;
                Drop(peer, ref dropped);

                // Others may be paused because of these messages, with nothing of their own to read.
                _budget.OnBytesFreed(freed, _bytes, ref resume);
            }

            if (peer.First is null && peer.IsConnectQueued)
            {
                _events.AddEnd(peer);
            }

            served = Dispatch(ref resume);
        }

        ResumeAll(resume);
        CompleteAll(served);
        InboundLease.ReleaseAll(dropped);
    }

    public bool TryDequeue(int max, out PulledRun run, bool mayThrow = true)
    {
        PullPeer? resume = null;
        bool taken;
        bool isTurnOver;
        Func<Exception>? closed;
        using (_gate.EnterScope())
        {
            closed = _closed;
            taken = Dequeue(max, ref resume, out run);
            isTurnOver = run.Lease is null || _batchMessages == run.Count;
        }

        ResumeAll(resume);
        if (isTurnOver)
        {
            // Before a wait or the next peer: the answers to one peer's messages leave in one write.
            CallerFlush.Run();
        }

        return !taken && mayThrow && closed is not null ? throw closed() : taken;
    }

    public bool TryDequeueMore(int max, out PulledRun run)
    {
        PullPeer? resume = null;
        run = default;
        bool taken;
        using (_gate.EnterScope())
        {
            taken = HasMoreInBatch && Dequeue(max, ref resume, out run);
        }

        ResumeAll(resume);
        return taken;
    }

    public bool DequeueOrWait(PullWaiter waiter, out PulledRun run)
    {
        PullPeer? resume = null;
        PullPeer? next = null;
        bool taken;
        run = default;
        using (_gate.EnterScope())
        {
            taken = (!waiter.RunsSynchronously || HasMoreInBatch) && Dequeue(waiter.Max, ref resume, out run);
            if (!taken)
            {
                if (_closed is not null)
                {
                    throw _closed();
                }

                _waiters.Add(waiter);
                _readyPeers.TryPeek(out next);
            }
        }

        ResumeAll(resume);
        if (next is not null)
        {
            // The consumer waits although there is data: its shard serves it later, elsewhere the shard of the data.
            (ShardLoop.Current ?? next.Link.Connection!.Shard).Post(DispatchWork, 1);
        }

        if (!taken && waiter.RunsSynchronously)
        {
            CallerFlush.Run();
        }

        return taken;
    }

    public bool TryRemove(WaiterNode waiter)
    {
        using (_gate.EnterScope())
        {
            return _waiters.Remove(waiter);
        }
    }

    public void OnBudgetAvailable()
    {
        PullPeer? resume = null;
        using (_gate.EnterScope())
        {
            _budget.ResumeNext(_bytes, ref resume);
        }

        ResumeAll(resume);
    }

    public long Close(Func<Exception> error)
    {
        PullWaiter? released;
        InboundLease? unread;
        long dropped;
        using (_gate.EnterScope())
        {
            if (_closed is not null)
            {
                return 0;
            }

            _closed = error;
            released = _waiters.RemoveAll();
            dropped = _messages;
            unread = DropQueued();
        }

        InboundLease.ReleaseAll(unread);
        Watchers.NotifyFenced();
        PullWaiter.FailAll(released, error);
        return dropped;
    }

    private bool Dequeue(int max, ref PullPeer? resume, out PulledRun run)
    {
        if (_events.TryDequeue(_currentPeer, _readyPeers, out run))
        {
            return true;
        }

        PullPeer? peer = _currentPeer;
        while (peer is null || peer.First is null)
        {
            if (peer is not null)
            {
                peer.IsQueued = false;
            }

            if (!_readyPeers.TryDequeue(out peer))
            {
                _currentPeer = null;
                return false;
            }

            _batchBytes = 0;
            _batchMessages = 0;
        }

        InboundLease lease = peer.First;
        int first = lease.Cursor;
        int count = Math.Min(max, lease.Count - first);
        run = new PulledRun(PulledKind.Data, peer.Link, lease, first, count, DisconnectReason.Unknown);
        long bytes = lease.FramesAt(first, count).Length;

        // From here on a consumer may end these messages and so the lease.
        bool isLeaseOver = first + count == lease.Count;
        if (isLeaseOver)
        {
            peer.First = lease.Next;
            if (peer.First is null)
            {
                peer.Last = null;
            }
        }

        lease.Cursor = first + count;
        peer.Messages -= count;
        peer.Bytes -= bytes;
        peer.Delivered += count;
        _messages -= count;
        _bytes -= bytes;
        _batchMessages += count;
        _batchBytes += bytes;
        NextPeer(peer, isLeaseOver);
        _budget.OnDequeued(peer, bytes, isLeaseOver, _bytes, ref resume);
        return true;
    }

    private bool ShouldPause(PullPeer peer, ref PullPeer? resume)
    {
        bool pause = _budget.ShouldPause(peer, _bytes);
        if (!pause)
        {
            _budget.ResumeNext(_bytes, ref resume);
        }

        return pause;
    }

    private void NextPeer(PullPeer peer, bool isLeaseOver)
    {
        if (!isLeaseOver || (peer.First is { } next && FitsBatch(next)))
        {
            _currentPeer = peer;
            return;
        }

        _currentPeer = null;
        if (peer.First is not null)
        {
            _readyPeers.Enqueue(peer);
            return;
        }

        peer.IsQueued = false;
        if (peer.IsEnding)
        {
            _events.AddEnd(peer);
        }
    }

    private bool FitsBatch(InboundLease next) =>
        _batchMessages + next.Messages <= InboundLease.MaxSlots
            && _batchBytes + next.Bytes + (next.Messages * sizeof(uint)) <= ReceiveSlab.ReadSize;

    private static void ResumeAll(PullPeer? peer)
    {
        while (peer is not null)
        {
            PullPeer? next = peer.NextToResume;
            peer.NextToResume = null;
            Volatile.Write(ref peer.IsToBeResumed, false);
            peer.Link.Connection!.Resume();
            peer = next;
        }
    }

    private bool HasMoreInBatch => _currentPeer is not null || (_events.Count > 0 && !_events.IsDataNext(_currentPeer, _readyPeers));

    private PullDispatch DispatchWork => Volatile.Read(ref _serving)
        ?? Interlocked.CompareExchange(ref _serving, new PullDispatch(DispatchWaiting), null) ?? _serving!;

    private void DispatchWaiting()
    {
        PullWaiter? served;
        PullPeer? resume = null;
        using (_gate.EnterScope())
        {
            served = Dispatch(ref resume);
        }

        ResumeAll(resume);
        CompleteAll(served, maybeHere: true);
    }

    /// <summary>Returns the served waiters in order, linked, to be completed outside of the lock.</summary>
    private PullWaiter? Dispatch(ref PullPeer? resume)
    {
        WaiterList<PullWaiter> served = default;
        while (_waiters.First is { } waiter && Dequeue(waiter.Max, ref resume, out PulledRun run))
        {
            _waiters.Remove(waiter);
            waiter.Given = run;
            served.Add(waiter);
        }

        return served.RemoveAll();
    }

    private void CompleteAll(PullWaiter? waiter, bool maybeHere = false)
    {
        Watchers.Notify();
        maybeHere &= ShardLoop.Current is { IsHelped: false };
        while (waiter is not null)
        {
            var next = (PullWaiter?)waiter.Next;
            waiter.Next = null;
            PulledRun run = waiter.Given;
            waiter.Given = default;
            if (maybeHere && waiter.RunsSynchronously)
            {
                waiter.CompleteHere(run);
            }
            else
            {
                waiter.Complete(run);
            }

            waiter = next;
        }
    }

    private void Add(PullPeer peer, InboundLease first, InboundLease last, int messages, long bytes)
    {
        _budget.Add(peer, first);
        peer.Add(first, last, messages, bytes);
        _messages += messages;
        _bytes += bytes;
        if (!peer.IsQueued)
        {
            peer.IsQueued = true;
            _readyPeers.Enqueue(peer);
        }
    }

    private void Drop(PullPeer peer, ref InboundLease? dropped)
    {
        _messages -= peer.Messages;
        _bytes -= peer.Bytes;
        _dropped += peer.Messages;
        _budget.Drop(peer);
        peer.DropUnread(ref dropped);
    }

    private InboundLease? DropQueued()
    {
        InboundLease? dropped = null;
        if (_currentPeer is not null)
        {
            _readyPeers.Enqueue(_currentPeer);
            _currentPeer = null;
        }

        while (_readyPeers.TryDequeue(out PullPeer? peer))
        {
            Drop(peer, ref dropped);
        }

        _budget.End();
        _events.Clear();
        return dropped;
    }
}
