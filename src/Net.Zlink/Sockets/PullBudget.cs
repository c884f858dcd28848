using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>Which peers of a <see cref="PullQueue"/> are stopped: by their own limits, or because the socket's unread bytes are over their
/// budget. Not thread-safe: under the queue's lock.</summary>
/// <param name="limit">Unread bytes of all peers together; 0: no limit.</param>
/// <param name="context">How much may wait in the whole context; null: no limit.</param>
/// <param name="queue">The queue.</param>
internal sealed class PullBudget(long limit, ByteBudget? context, IShareOwner queue)
{
    // What one read of a short frame takes besides: its lease, with the places of 32 messages. Frames of some bytes, each of another peer,
    // were counted 8 MiB and took 530.
    private const int LeaseCost = 600;

    // Not counted, so that a small limit is one of bytes that were sent: 38 KB.
    private const int FreeLeases = 64;

    private readonly Queue<PullPeer> _waitingPeers = new();
    private int _leases;
    private QueueCapacity _available = new(new QueueLimits(0, limit), context);

    /// <summary>A chain of leases has come in.</summary>
    public void Add(PullPeer peer, InboundLease chain)
    {
        int length = LengthOf(chain);
        _leases += length;
        peer.Leases += length;
    }

    /// <summary>All leases of a peer are dropped. Told by its count: a walk along them would be one wait for memory each.</summary>
    public void Drop(PullPeer peer)
    {
        _leases -= peer.Leases;
        peer.Leases = 0;
    }

    /// <summary>Whether a peer's connection is to stop reading, which it is then told.</summary>
    public bool ShouldPark(PullPeer peer, long unread)
    {
        bool isOver = IsOver(unread);
        if (!isOver && !peer.Limits.IsFull(peer.Messages, peer.Bytes))
        {
            peer.IsParked = false;
            return false;
        }

        peer.IsParked = true;
        if (isOver)
        {
            Wait(peer);
        }

        return true;
    }

    /// <summary>So many bytes of a peer were taken out, and with them perhaps the last of a lease: adds those that may read
    /// again.</summary>
    public void OnDequeued(PullPeer peer, long bytes, bool isLeaseOver, long unread, ref PullPeer? resume)
    {
        if (isLeaseOver)
        {
            _leases--;
            peer.Leases--;
        }

        if (peer.IsParked && peer.Limits.IsBelowLowMark(peer.Messages, peer.Bytes))
        {
            if (IsOver(unread))
            {
                Wait(peer);
            }
            else
            {
                AddResume(peer, ref resume);
            }
        }

        Freed(bytes, unread, ref resume);
    }

    /// <summary>So many bytes are gone: adds those that were stopped for the budget and may read again.</summary>
    public void Freed(long bytes, long unread, ref PullPeer? resume)
    {
        _available.Shrink(unread + Besides);
        if (_waitingPeers.Count == 0 || IsOver(unread))
        {
            return;
        }

        // About as many readers as bytes were freed, a read being up to 64 KiB; when nothing is left unread, all of them, or the rest would
        // wait for ever.
        long wanted = unread == 0 ? _waitingPeers.Count : 1 + (bytes / ReceiveSlab.ReadSize);
        while (wanted > 0 && _waitingPeers.TryDequeue(out PullPeer? parked))
        {
            parked.IsWaitingForBudget = false;
            if (parked.IsParked)
            {
                AddResume(parked, ref resume);
                wanted--;
            }
        }
    }

    /// <summary>There is room: adds one that was stopped because there was none. Each that may read lets the next one follow, be it that it
    /// finds nothing.</summary>
    public void ResumeNext(long unread, ref PullPeer? resume)
    {
        if (_waitingPeers.Count > 0)
        {
            Freed(bytes: 0, unread, ref resume);
        }
    }

    /// <summary>Nothing is unread, nor will be.</summary>
    public void End()
    {
        _leases = 0;
        _available.Shrink(0);
    }

    private long Besides => (long)LeaseCost * Math.Max(0, _leases - FreeLeases);

    private bool IsOver(long unread) => unread > 0 && !_available.TryReserve(messages: 1, unread + Besides, queue);

    private static int LengthOf(InboundLease? chain)
    {
        int length = 0;
        for (; chain is not null; chain = chain.Next)
        {
            length++;
        }

        return length;
    }

    private void Wait(PullPeer peer)
    {
        if (!peer.IsWaitingForBudget)
        {
            peer.IsWaitingForBudget = true;
            _waitingPeers.Enqueue(peer);
        }
    }

    private static void AddResume(PullPeer peer, ref PullPeer? resume)
    {
        peer.IsParked = false;
        if (!Volatile.Read(ref peer.IsToBeResumed))
        {
            peer.IsToBeResumed = true;
            peer.NextToResume = resume;
            resume = peer;
        }
    }
}
