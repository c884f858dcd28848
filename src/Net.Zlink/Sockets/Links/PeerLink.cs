using Net.Zlink.Engine;

namespace Net.Zlink.Sockets.Links;

/// <summary>A socket's way to one peer: where messages to it go, and where those from it wait. Over a wire or within the process.</summary>
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

    /// <summary>What was received and not read yet.</summary>
    public InboundLane Lane { get; }

    /// <summary>Who is at the other end.</summary>
    public PeerIdentity Peer
    {
        get => Volatile.Read(ref _peer);
        set => Volatile.Write(ref _peer, value);
    }

    /// <summary>The endpoint by which it was made: what Disconnect names.</summary>
    public required string Endpoint { get; init; }

    /// <summary>True for the side that connected.</summary>
    public required bool IsActive { get; init; }

    /// <summary>This end and the other one, as endpoints, as far as they are known: the one that was bound or connected to is, whatever the
    /// handshake has told.</summary>
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

    /// <summary>What the socket's pattern keeps with this pipe. Guarded by the socket's lock.</summary>
    public object? PatternState { get; set; }

    /// <summary>The id by which a ROUTER finds it; null before it is known. Guarded by the socket's lock.</summary>
    public byte[]? RouteId { get; set; }

    /// <summary>A name given beforehand, which takes the place of the id that the peer announces.</summary>
    public byte[]? Alias { get; init; }

    /// <summary>Takes part in the socket's routing. Guarded by the socket's lock.</summary>
    public bool IsAttached { get; set; }

    /// <summary>Messages of the peer that subscribed or cancelled, and are in no lane.</summary>
    public long Topics => Volatile.Read(ref _topics);

    /// <summary>Messages for this peer that were not taken in, and not waited with: it is at its high-water mark, in messages or in
    /// bytes.</summary>
    public long DroppedAtMark => Volatile.Read(ref _droppedAtMark);

    public void CountDroppedAtMark() => Interlocked.Increment(ref _droppedAtMark);

    public void CountTopics() => Interlocked.Increment(ref _topics);

    /// <summary>Its books are closed: whoever sets this first adds them to the socket's.</summary>
    public bool TryFinalizeCounters() => !Interlocked.Exchange(ref _countersFinal, true);

    /// <summary>Why nobody is at the other end, for people; null: somebody is, or nothing is known of it.</summary>
    public virtual string? WhyNotConnected => null;

    /// <summary>Messages that went the other way: the books of the sending side.</summary>
    public abstract OutboundCounts Outbound { get; }

    /// <summary>What waits for the peer at this moment: to be written, or in this process to be received.</summary>
    public virtual (long Messages, long Bytes) Waiting
    {
        get
        {
            OutboundCounts counts = Outbound;
            return (counts.QueuedMessages, counts.QueuedBytes);
        }
    }

    /// <summary>What the peer's queue is full of, if it was full a moment ago.</summary>
    public abstract FullCause FullCause { get; }

    /// <summary>Sends a message if there is room. Any thread, without the socket's lock.</summary>
    /// <param name="message">The message.</param>
    /// <param name="force">Room was found already: another thread's message that took it since does not count.</param>
    public abstract SendStatus TrySend(in OutgoingMessage message, bool force = false);

    /// <summary>Whether a message would be taken now; if not, the socket is told when there is room.</summary>
    public abstract bool HasCapacity { get; }

    /// <summary>Sends one frame, whatever the limits say: what the socket itself tells its peer.</summary>
    public abstract void SendOwn(Protocol.Zmp.ZmpFlags flags, ReadOnlySpan<byte> body);

    /// <summary>The consumer made room in the lane: the sender may go on.</summary>
    public abstract void OnLaneCapacity();

    /// <summary>New high-water marks.</summary>
    public abstract void SetLimits(QueueLimits outbound, QueueLimits inbound);

    /// <summary>Ends the pipe on the application's wish: what was accepted is delivered within <paramref name="linger"/>.</summary>
    public abstract void Close(Monitoring.DisconnectReason reason, TimeSpan linger);

    /// <summary>Ends it now, dropping what is left.</summary>
    public abstract void Abort();
}
