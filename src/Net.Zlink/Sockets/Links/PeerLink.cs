using Net.Zlink.Engine;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Links;

internal abstract class PeerLink : LaneOwner
{
    private PeerIdentity _peer = PeerIdentity.Unknown;
    private long _droppedAtMark;
    private long _topics;

    protected PeerLink(SocketCore socket, InboundLane lane)
    {
        Socket = socket;
        Lane = lane;
    }

    public SocketCore Socket { get; }

    public InboundLane Lane { get; }

    public PeerIdentity Peer
    {
        get => Volatile.Read(ref _peer);
        set => Volatile.Write(ref _peer, value);
    }

    public required RedactedEndpoint Endpoint { get; init; }

    public required bool IsActive { get; init; }

    public (string Local, string Remote) Ends
    {
        get
        {
            PeerIdentity peer = Peer;
            return IsActive
                ? (peer.LocalAddress, peer.RemoteAddress.Length > 0 ? peer.RemoteAddress : Endpoint.ToString())
                : (peer.LocalAddress.Length > 0 ? peer.LocalAddress : Endpoint.ToString(), peer.RemoteAddress);
        }
    }

    /// <summary>Guarded by the socket's lock.</summary>
    public object? PatternState { get; set; }

    /// <summary>Null before it is known. Guarded by the socket's lock.</summary>
    public byte[]? RouteId { get; set; }

    public byte[]? Alias { get; init; }

    public bool IsAttached { get; set; }

    public long Topics => Volatile.Read(ref _topics);

    public long DroppedAtMark => Volatile.Read(ref _droppedAtMark);

    public void CountDroppedAtMark() => Interlocked.Increment(ref _droppedAtMark);

    public void CountTopics() => Interlocked.Increment(ref _topics);

    public virtual string? WhyNotConnected => null;

    public override Connection? Reader => null;

    public override LaneCounts Inbound => Lane.Counts;

    public override SocketCore? Filter => Socket.InboundRole == InboundRole.Filtered ? Socket : null;

    public override bool IsInArrivalOrder => Socket.Receive.IsInArrivalOrder;

    public override UndeliveredLink Undelivered(long messages, long bytes) => new(0, Endpoint, Peer.RemoteAddress, messages, bytes);

    public override void Announce(InboundLane lane, int messages) => Socket.Announce(lane, messages);

    public virtual (long Messages, long Bytes) Waiting
    {
        get
        {
            OutboundCounts counts = Outbound;
            return (counts.QueuedMessages, counts.QueuedBytes);
        }
    }

    public abstract FullCause FullCause { get; }

    /// <summary>Any thread, without the socket's lock. <paramref name="force"/>: capacity was found before.</summary>
    public abstract SendStatus TrySend(in OutgoingMessage message, bool force = false);

    /// <summary>As many of the first messages as can be sent; 0 says nothing about why.</summary>
    public virtual int TrySendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => 0;

    public abstract bool HasCapacity { get; }

    public abstract void SendOwn(Protocol.Zmp.ZmpFlags flags, ReadOnlySpan<byte> body);

    public abstract void SetLimits(QueueLimits outbound, QueueLimits inbound);

    public abstract void Close(Monitoring.DisconnectReason reason, TimeSpan linger);

    /// <summary>Ends an accepted connection at once.</summary>
    public abstract void Abort();
}
