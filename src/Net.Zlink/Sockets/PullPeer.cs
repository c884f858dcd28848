using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>Guarded by the <see cref="PullQueue"/>'s lock.</summary>
internal sealed class PullPeer(StreamLink link, QueueLimits limits)
{
    public StreamLink Link => link;

    public QueueLimits Limits => limits;

    public InboundLease? First;
    public InboundLease? Last;
    public long Messages;
    public long Bytes;
    public long Delivered;
    public long Dropped;

    public int Leases;

    public bool IsQueued;

    public bool IsPaused;

    public bool IsWaitingForBudget;

    public bool IsConnectQueued;

    public bool IsConnectDequeued;

    public bool IsEnding;

    public bool IsDropped;

    public PullPeer? NextToResume;

    /// <summary>The thread that works off the list clears this first.</summary>
    public bool IsToBeResumed;

    public void Add(InboundLease first, InboundLease last, int messages, long bytes)
    {
        if (Last is null)
        {
            First = first;
        }
        else
        {
            Last.Next = first;
        }

        Last = last;
        Messages += messages;
        Bytes += bytes;
    }

    /// <summary>The caller releases the messages outside of the lock, because many take milliseconds.</summary>
    public void DropUnread(ref InboundLease? dropped)
    {
        if (Last is not null)
        {
            Last.Next = dropped;
            dropped = First;
        }

        Dropped += Messages;
        First = null;
        Last = null;
        Messages = 0;
        Bytes = 0;
    }
}
