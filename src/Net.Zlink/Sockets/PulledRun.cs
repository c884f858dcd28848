using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

internal enum PulledKind
{
    Connected,
    Disconnected,
    Data,
}

internal readonly record struct PulledRun(
    PulledKind Kind, StreamLink Link, InboundLease? Lease, int FirstSlot, int Count, DisconnectReason Reason)
{
    public uint PeerId => Link.Id;
}

internal class PullWaiter : Waiter<PulledRun>
{
    public int Max { get; set; } = 1;

    public bool RunsSynchronously { get; set; }

    internal PulledRun Given { get; set; }
}
