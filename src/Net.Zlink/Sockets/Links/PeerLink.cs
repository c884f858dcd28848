using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>A socket's link to one peer: where messages to it go, and where those from it wait. Over a wire or inproc.</summary>
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

    /// <summary>The endpoint that made it, as Disconnect names it.</summary>
    public required string Endpoint { get; init; }

    /// <summary>True for the connecting side.</summary>
    public required bool IsActive { get; init; }

    /// <summary>The two ends as endpoints, as far as they are known. The bound or connected one always is.</summary>
    public (string Local, string Remote) Ends
    {
        get
        {
            PeerIdentity peer = Peer;
            return IsActive
                ? (peer.LocalAddress, peer.RemoteAddress.Length > 0 ? peer.RemoteAddress : Endpoint)
                : (peer.LocalAddress.Length > 0 ? peer.LocalAddress : Endpoint, peer.RemoteAddress);
        }
    }

    /// <summary>The state of the socket type for this link. Guarded by the socket's lock.</summary>
    public object? PatternState { get; set; }

    /// <summary>The id by which a ROUTER finds it. Null before it is known. Guarded by the socket's lock.</summary>
    public byte[]? RouteId { get; set; }

    /// <summary>A given name that replaces the peer's announced id.</summary>
    public byte[]? Alias { get; init; }

    /// <summary>Takes part in routing. Guarded by the socket's lock.</summary>
    public bool IsAttached { get; set; }

    /// <summary>Messages of the peer that were only subscription updates and entered no lane.</summary>
    public long Topics => Volatile.Read(ref _topics);

    /// <summary>Messages that were dropped because the peer was at its high-water mark, in messages or bytes.</summary>
    public long DroppedAtMark => Volatile.Read(ref _droppedAtMark);

    public void CountDroppedAtMark() => Interlocked.Increment(ref _droppedAtMark);

    public void CountTopics() => Interlocked.Increment(ref _topics);

    /// <summary>Its counters are final: the first caller adds them to the socket's.</summary>
    public bool TryFinalizeCounters() => !Interlocked.Exchange(ref _countersFinal, true);

    /// <summary>Why no peer is connected. Null: one is, or no reason is known.</summary>
    public virtual string? WhyNotConnected => null;

    public abstract OutboundCounts Outbound { get; }

    /// <summary>Queued for the peer: to be written, or with inproc to be received.</summary>
    public virtual (long Messages, long Bytes) Waiting
    {
        get
        {
            OutboundCounts counts = Outbound;
            return (counts.QueuedMessages, counts.QueuedBytes);
        }
    }

    /// <summary>Why the queue refused a message a moment ago.</summary>
    public abstract FullCause FullCause { get; }

    /// <summary>Sends a message if there is capacity. Any thread, without the socket's lock.</summary>
    /// <param name="message">The message.</param>
    /// <param name="force">Capacity was found before. Other threads' messages since then do not count.</param>
    public abstract SendStatus TrySend(in OutgoingMessage message, bool force = false);

    /// <summary>Sends short messages of one part at once, as many of the first ones as can be; 0 says nothing about why.</summary>
    public virtual int TrySendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads) => 0;

    /// <summary>Whether a message would be accepted now. If not, the socket is notified of capacity.</summary>
    public abstract bool HasCapacity { get; }

    /// <summary>Sends one frame of the socket itself, past the limits.</summary>
    public abstract void SendOwn(Protocol.Zmp.ZmpFlags flags, ReadOnlySpan<byte> body);

    /// <summary>The consumer made capacity in the lane: the sender may go on.</summary>
    public abstract void OnLaneCapacity();

    public abstract void SetLimits(QueueLimits outbound, QueueLimits inbound);

    /// <summary>Closes the link: accepted messages are delivered within <paramref name="linger"/>.</summary>
    public abstract void Close(Monitoring.DisconnectReason reason, TimeSpan linger);

    /// <summary>Closes the link at once and drops what is left.</summary>
    public abstract void Abort();
}
