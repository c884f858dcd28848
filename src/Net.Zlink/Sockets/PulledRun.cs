using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

/// <summary>What a run of received messages is.</summary>
internal enum PulledKind
{
    Connected,
    Disconnected,
    Data,
}

/// <summary>Consecutive messages of one peer, taken by one consumer: slots of a lease, or an event.</summary>
internal readonly record struct PulledRun(
    PulledKind Kind, StreamLink Link, InboundLease? Lease, int FirstSlot, int Count, DisconnectReason Reason)
{
    public uint PeerId => Link.Id;
}

/// <summary>A consumer that waits for messages.</summary>
internal class PullWaiter : Waiter<PulledRun>
{
    /// <summary>At most so many messages.</summary>
    public int Max { get; set; } = 1;

    /// <summary>Its code may go on in a shard: it awaits, and the application has allowed it.</summary>
    public bool RunsSynchronously { get; set; }

    /// <summary>What it was given, until it is completed outside the lock.</summary>
    internal PulledRun Given { get; set; }
}
