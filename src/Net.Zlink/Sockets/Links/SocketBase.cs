using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>What a ZMP socket and a STREAM have alike. Thread-safe.</summary>
internal abstract class SocketBase
{
    private bool _isClosing;
    private bool _isClosed; // A copy of the tracker's state: the tracker's cache line is written often, and each send would read it.

    protected SocketBase(EngineHost host, ReceiveQueue receive)
    {
        Host = host;
        Receive = receive;
        BlockedSends = new BlockedSendQueue(Route);
        Table = new EndpointTable(host, Monitors, Counters, Parts);
    }

    public EngineHost Host { get; }

    public ReceiveQueue Receive { get; }

    public BlockedSendQueue BlockedSends { get; }

    public EndpointTable Table { get; }

    public SocketMonitors Monitors { get; } = new();

    public SocketCounters Counters { get; } = new();

    public CloseTracker Parts { get; } = new();

    public ReadinessWatchers WritableWatchers { get; } = new();

    public bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Valid after the close.</summary>
    public SocketEnd End { get; private set; }

    public abstract string TypeName { get; }

    public abstract int PeerCount { get; }

    public virtual string DescribeTopics() => "";

    public abstract bool CanSend { get; }

    /// <summary>Ends all connections at once, whatever is queued.</summary>
    public abstract void Abort();

    /// <summary>Sends the message of one that waits, and is the first.</summary>
    protected abstract SendStatus Route(SendWaiter waiter);

    /// <summary>True once: the caller closes all parts, and then leaves.</summary>
    protected bool TryEnd(SocketEnd end)
    {
        if (Interlocked.Exchange(ref _isClosing, true))
        {
            return false;
        }

        End = end;
        Volatile.Write(ref _isClosed, true);
        return Parts.TryClose();
    }
}
