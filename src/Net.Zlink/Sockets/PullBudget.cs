using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>Decides which peers of a <see cref="PullQueue"/> stop reading: for their own limits, or for the socket's limit.</summary>
internal sealed class PullBudget(long limit, ByteBudget? context, IShareOwner queue)
{
    // A read of one short frame costs a lease with 32 slots. Without this charge, many peers with one small frame each were counted as
    // 8 MiB but used 530 MiB.
    private const int LeaseCost = 600;

    private const int FreeLeases = 64;

    private readonly Queue<PullPeer> _waitingPeers = new();
    private int _leases;
    private QueueCapacity _available = new(new QueueLimits(0, limit), context);

    public void Add(PullPeer peer, InboundLease chain)
    {
        int length = LengthOf(chain);
        _leases += length;
        peer.Leases += length;
    }

    /// <summary>Leases are subtracted by their count, because walking them costs a cache miss each.</summary>
    public void Drop(PullPeer peer)
    {
        _leases -= peer.Leases;
        peer.Leases = 0;
    }

    public bool ShouldPause(PullPeer peer, long unread)
    {
        bool isOver = IsOver(unread);
        if (!isOver && !peer.Limits.IsFull(peer.Messages, peer.Bytes))
        {
            peer.IsPaused = false;
            return false;
        }

        peer.IsPaused = true;
        if (isOver)
        {
            WaitForBudget(peer);
        }

        return true;
    }

    public void OnDequeued(PullPeer peer, long bytes, bool isLeaseOver, long unread, ref PullPeer? resume)
    {
        if (isLeaseOver)
        {
            _leases--;
            peer.Leases--;
        }

        if (peer.IsPaused && peer.Limits.IsBelowLowMark(peer.Messages, peer.Bytes))
        {
            if (IsOver(unread))
            {
                WaitForBudget(peer);
            }
            else
            {
                AddResume(peer, ref resume);
            }
        }

        OnBytesFreed(bytes, unread, ref resume);
    }

    public void OnBytesFreed(long bytes, long unread, ref PullPeer? resume)
    {
        _available.Shrink(unread + LeaseBytes);
        if (_waitingPeers.Count == 0 || IsOver(unread))
        {
            return;
        }

        // With nothing unread all of them resume, because no later release would do it.
        long wanted = unread == 0 ? _waitingPeers.Count : 1 + (bytes / ReceiveSlab.ReadSize);
        while (wanted > 0 && _waitingPeers.TryDequeue(out PullPeer? paused))
        {
            paused.IsWaitingForBudget = false;
            if (paused.IsPaused)
            {
                AddResume(paused, ref resume);
                wanted--;
            }
        }
    }

    /// <summary>Each resumed peer resumes the next one, also if it finds nothing to read.</summary>
    public void ResumeNext(long unread, ref PullPeer? resume)
    {
        if (_waitingPeers.Count > 0)
        {
            OnBytesFreed(bytes: 0, unread, ref resume);
        }
    }

    public void End()
    {
        _leases = 0;
        _available.Shrink(0);
    }

    private long LeaseBytes => (long)LeaseCost * Math.Max(0, _leases - FreeLeases);

    private bool IsOver(long unread) => unread > 0 && !_available.TryReserve(messages: 1, unread + LeaseBytes, queue);

    private static int LengthOf(InboundLease? chain)
    {
        int length = 0;
        for (; chain is not null; chain = chain.Next)
        {
            length++;
        }

        return length;
    }

    private void WaitForBudget(PullPeer peer)
    {
        if (!peer.IsWaitingForBudget)
        {
            peer.IsWaitingForBudget = true;
            _waitingPeers.Enqueue(peer);
        }
    }

    private static void AddResume(PullPeer peer, ref PullPeer? resume)
    {
        peer.IsPaused = false;
        if (!Volatile.Read(ref peer.IsToBeResumed))
        {
            peer.IsToBeResumed = true;
            peer.NextToResume = resume;
            resume = peer;
        }
    }
}
