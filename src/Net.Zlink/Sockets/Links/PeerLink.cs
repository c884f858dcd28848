using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

internal abstract class PeerLink : LaneOwner
{
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
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    } = PeerIdentity.Unknown;

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

    /// <summary>Without a connection its queue may accept for a moment.</summary>
    public abstract bool IsConnected { get; }

    /// <summary>The peer is a socket of this context.</summary>
    public virtual bool IsInproc => false;

    public virtual OutboundQueue? Queue => null;

    /// <summary>The link itself, if its connection was accepted: others may wait for its place, and it for theirs.</summary>
    public virtual WireLink? AcceptedWire => null;

    /// <summary>No connection lasted, and the last one ended right after the handshake.</summary>
    public bool WasRejected { get; set; }

    /// <summary>This link took its peer's routing id from another link (ROUTER with Handover).</summary>
    public bool HasReplaced { get; set; }

    /// <summary>Another link took its peer's routing id: it is not attached again.</summary>
    public bool IsDisplaced { get; set; }

    public override Connection? Reader => null;

    public override QueueCounts Inbound => Lane.Counts;

    public override bool IsFiltered => Socket.InboundRole == InboundRole.Filtered;

    public override int FilterVersion => Socket.FilterVersion;

    public override bool IsInArrivalOrder => Socket.Receive.IsInArrivalOrder;

    public override bool Accepts(ReadOnlySpan<byte> firstPart) => Socket.Accepts(firstPart);

    public override UndeliveredLink Undelivered(long messages, long bytes) => new(0, Endpoint, Peer.RemoteAddress, messages, bytes);

    public virtual (long Messages, long Bytes) Waiting
    {
        get
        {
            QueueCounts counts = Outbound;
            return (counts.QueuedMessages, counts.QueuedBytes);
        }
    }

    public abstract FullCause FullCause { get; }

    /// <summary>Any thread, without the socket's lock. <paramref name="force"/>: capacity was found before.</summary>
    public abstract SendStatus TrySend(in OutgoingMessage message, bool force = false);

    /// <summary>A message that is encoded already, where that helps.</summary>
    public virtual SendStatus TrySendShared(Buffers.Slab encoded, int length, in OutgoingMessage message, bool force) =>
        TrySend(message, force);

    /// <summary>As many of the first messages as can be sent at once; 0 says nothing about why.</summary>
    public virtual int TrySendMany(ReadOnlySpan<byte> firstPart, bool hasFirst, ReadOnlySpan<ReadOnlyMemory<byte>> lastParts) => 0;

    public abstract bool HasCapacity { get; }

    public abstract void SendOwn(Protocol.Zmp.ZmpFlags flags, ReadOnlySpan<byte> body);

    public abstract void SetLimits(QueueLimits outbound, QueueLimits inbound);

    public abstract void Close(Monitoring.DisconnectReason reason, TimeSpan linger);

    /// <summary>Ends an accepted connection at once.</summary>
    public abstract void Abort();

    /// <summary>Another peer took over the routing id; <paramref name="whenFree"/>: until that peer has gone.</summary>
    public virtual void Displace(Func<Task> whenFree) => Close(Monitoring.DisconnectReason.TakenOver, TimeSpan.Zero);

    /// <summary>Outside of all locks.</summary>
    public virtual void OnDetached()
    {
    }
}
