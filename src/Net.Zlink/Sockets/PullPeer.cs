using Net.Zlink.Engine;

namespace Net.Zlink.Sockets;

/// <summary>One peer's part of the fair queue: its unread messages, and whether its connection is stopped for them. Guarded by the <see cref="PullQueue"/>'s lock.</summary>
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

    /// <summary>Stands in the line of peers with unread messages.</summary>
    public bool IsInLine;

    /// <summary>Its connection was told to stop reading.</summary>
    public bool IsParked;

    /// <summary>Stands in the line of those parked because the socket's unread bytes are over their budget.</summary>
    public bool IsInBudgetLine;

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
}
