using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

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
