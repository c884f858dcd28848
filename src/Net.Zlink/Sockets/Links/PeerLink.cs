using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

internal abstract class PeerLink
{
    private bool _countersFinal;
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

    public bool AreCountersFinal => _countersFinal;

    public bool TryFinalizeCounters() => !Interlocked.Exchange(ref _countersFinal, true);

    public virtual string? WhyNotConnected => null;

    public abstract OutboundCounts Outbound { get; }

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

    public abstract void OnLaneCapacity();

    public abstract void SetLimits(QueueLimits outbound, QueueLimits inbound);

    public abstract void Close(Monitoring.DisconnectReason reason, TimeSpan linger);

    /// <summary>Ends an accepted connection at once.</summary>
    public abstract void Abort();
}
