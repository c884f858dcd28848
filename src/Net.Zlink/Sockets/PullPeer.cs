using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>One peer's part of the fair queue: its unread messages, and whether its connection is stopped for them. Guarded by the
/// <see cref="PullQueue"/>'s lock.</summary>
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

    /// <summary>How many leases are linked from <see cref="First"/> on.</summary>
    public int Leases;

    /// <summary>Stands in the line of peers with unread messages.</summary>
    public bool IsQueued;

    /// <summary>Its connection was told to stop reading.</summary>
    public bool IsParked;

    /// <summary>Stands in the line of those parked because the socket's unread bytes are over their budget.</summary>
    public bool IsWaitingForBudget;

    /// <summary>Its connect event is in the queue or was read.</summary>
    public bool IsAnnounced;

    /// <summary>Its connect event was read: its messages may be.</summary>
    public bool IsShown;

    /// <summary>Gone, with its disconnect event to come behind its unread messages.</summary>
    public bool IsEnding;

    /// <summary>Disconnected by the application: what still comes is dropped.</summary>
    public bool IsDropped;

    /// <summary>The next peer whose connection a consumer has to resume after leaving the lock.</summary>
    public PullPeer? NextToResume;

    /// <summary>Stands in such a list: whoever works it off clears this first.</summary>
    public bool IsToBeResumed;

    /// <summary>Adds a chain of leases behind what is unread.</summary>
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

    /// <summary>Takes out what is unread and counts it, for the caller to release outside the lock: with many messages that takes
    /// milliseconds.</summary>
    /// <param name="dropped">What was taken out of others before; this comes in front of it.</param>
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
