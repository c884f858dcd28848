using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

internal enum PulledKind
{
    Connected,
    Disconnected,
    Data,
}

/// <summary>Consecutive messages of one peer for one consumer: slots of a lease, or an event.</summary>
internal readonly record struct PulledRun(
    PulledKind Kind, StreamLink Link, InboundLease? Lease, int FirstSlot, int Count, DisconnectReason Reason)
{
    public uint PeerId => Link.Id;
}

internal class PullWaiter : Waiter<PulledRun>
{
    public int Max { get; set; } = 1;

    /// <summary>Its continuation may run on a shard: it awaits, and the application allows it.</summary>
    public bool RunsSynchronously { get; set; }

    /// <summary>Its result, until it is completed outside of the lock.</summary>
    internal PulledRun Given { get; set; }
}
