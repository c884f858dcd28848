using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>
/// One peer's part of the fair queue: its unread messages, and whether its connection is paused. Guarded by the <see cref="PullQueue"/>'s
/// lock.
/// </summary>
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

    /// <summary>The number of leases linked from <see cref="First"/> on.</summary>
    public int Leases;

    public bool IsQueued;

    public bool IsPaused;

    /// <summary>It waits in the queue of peers paused for the socket's limit.</summary>
    public bool IsWaitingForBudget;

    /// <summary>Its connect event is in the queue or was read.</summary>
    public bool IsAnnounced;

    /// <summary>Its connect event was read, so its messages can be received.</summary>
    public bool IsShown;

    /// <summary>It has disconnected; the event follows its unread messages.</summary>
    public bool IsEnding;

    /// <summary>Disconnected by the application: further messages are dropped.</summary>
    public bool IsDropped;

    /// <summary>The next peer that a consumer resumes after it has left the lock.</summary>
    public PullPeer? NextToResume;

    /// <summary>It is in such a list. The thread that works off the list clears this first.</summary>
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

    /// <summary>
    /// Removes and counts the unread messages. The caller releases them outside of the lock, because many take milliseconds.
    /// </summary>
    /// <param name="dropped">Messages that were removed before; these are put in front.</param>
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
