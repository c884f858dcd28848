using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Links;

/// <summary>A link over a connection. On the connecting side it outlives the connection and continues with the next.</summary>
internal sealed class WireLink : PeerLink
{
    private ZmpSession? _session;
    private PausedReader? _pausedReader;
    private bool _asksWhenQueued;
    private long _unconfirmed;

    public WireLink(SocketCore socket, ZmpSettings settings)
        : base(socket, new InboundLane(settings.Inbound, socket.Host.Budget) { Conflates = settings.Conflate })
    {
        Queue = new OutboundQueue(socket.Host.Pool, settings.Outbound, socket.Host.Budget)
        {
            CapacityAvailable = OnCapacityAvailable,
            Conflates = settings.Conflate
        };
        Queue.PauseSending();
        Lane.BelongTo(this);
    }

    public OutboundQueue Queue { get; }

    /// <summary>The connection's session after the handshake, or null.</summary>
    public ZmpSession? Session
    {
        get => Volatile.Read(ref _session);
        set => Volatile.Write(ref _session, value);
    }

    /// <summary>Its entry among the paused readers of a shared lane. Null: it was never paused.</summary>
    public PausedReader? PausedReader
    {
        get => Volatile.Read(ref _pausedReader);
        set => Volatile.Write(ref _pausedReader, value);
    }

    /// <summary>A handshake was completed on it before.</summary>
    public bool WasConnected { get; set; }

    /// <summary>One of its connections lasted, so the peer accepts it. Guarded by the socket's lock.</summary>
    public bool HasLasted { get; set; }

    /// <summary>No connection lasted, and the last one ended right after the handshake. Guarded by the socket's lock.</summary>
    public bool WasRejected { get; set; }

    /// <summary>It took its peer's routing id from another link (ROUTER with Handover). Guarded by the socket's lock.</summary>
    public bool HasReplaced { get; set; }

    /// <summary>Another link took its peer's routing id: it is not attached again. Guarded by the socket's lock.</summary>
    public bool IsDisplaced { get; set; }

    /// <summary>The last connection was brief, so nothing leaves on the next one before a frame has come. On the shard.</summary>
    public bool MustConfirm { get; set; }

    /// <summary>The next queued message must notify the session, which then asks the peer.</summary>
    public bool AsksWhenQueued
    {
        get => Volatile.Read(ref _asksWhenQueued);
        set => Volatile.Write(ref _asksWhenQueued, value);
    }

    /// <summary>The session of an accepted connection; null: this side dialled.</summary>
    public ZmpSession? Accepted { get; set; }

    /// <summary>The session that waits for this link's place. Guarded by the lock of <see cref="PlaceClaims"/>.</summary>
    public ZmpSession? Newcomer { get; set; }

    /// <summary>The peer is being asked. Guarded by the same lock.</summary>
    public bool IsAsked { get; set; }

    /// <summary>The dialer of its next connection. Null on the accepting side.</summary>
    public ZmpDialer? Dialer { get; set; }

    public override string? WhyNotConnected => Session is null ? Dialer?.Problem : null;

    public override OutboundCounts Outbound
    {
        get
        {
            OutboundCounts counts = Queue.Counts;
            counts.UnconfirmedMessages = Volatile.Read(ref _unconfirmed);
            return counts;
        }
    }

    public void AddUnconfirmed(long messages) => Interlocked.Add(ref _unconfirmed, messages);

    public override FullCause FullCause => Queue.FullCause;

    public override bool HasCapacity => Queue.Status == SendStatus.Accepted;

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false)
    {
        SendStatus status = Queue.TryAppend(message, out bool schedule, force);
        if (schedule)
        {
            Flush();
        }
        else if (AsksWhenQueued)
        {
            Session?.Connection.PostToSink();
        }

        return status;
    }

    public override int TrySendMany(ReadOnlySpan<ReadOnlyMemory<byte>> payloads)
    {
        int count = Queue.TryAppendMany(payloads, out bool schedule);
        if (schedule)
        {
            Flush();
        }

        return count;
    }

    /// <summary>Sends an encoded message that other peers get too. Short ones are copied, long ones are referred to.</summary>
    public SendStatus TrySendShared(Buffers.Slab encoded, int length, bool force)
    {
        SendStatus status = Queue.TryAppendShared(encoded, 0, length, messages: 1, out bool schedule, force);
        if (schedule)
        {
            Flush();
        }

        return status;
    }

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
        Span<byte> header = stackalloc byte[ZmpFrame.HeaderSize];
        ZmpFrame.WriteHeader(header, flags, (uint)body.Length);
        SendOwn(header, body, isUpdate: flags is ZmpFlags.Subscribe or ZmpFlags.Cancel);
    }

    /// <summary>Sends an encoded message of the application that has only subscription updates, past the limits.</summary>
    public void SendSubscriptionUpdates(ReadOnlySpan<byte> encoded) => SendOwn(encoded, default, isUpdate: true);

    public override void OnLaneCapacity() => Session?.Connection.Resume();

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        Queue.SetLimits(outbound);
        if (Lane.SetLimits(inbound))
        {
            OnLaneCapacity();
        }
    }

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
        if (Dialer is not null)
        {
            Dialer.Close(reason, linger);
        }
        else
        {
            Session?.Connection.RequestClose(reason, CloseMode.Orderly, linger);
        }
    }

    public override void Abort()
    {
        Dialer?.Abort();
        Session?.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Leave);
    }

    /// <summary>Its connection has ended. An accepted peer does not return by this link.</summary>
    public void MarkDetached()
    {
        if (Dialer is null)
        {
            Lane.MarkDetached();
        }
    }

    private void SendOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate)
    {
        Queue.AppendOwn(header, body, isUpdate, out bool schedule);
        if (schedule)
        {
            Flush();
        }
    }

    private void Flush()
    {
        if (Session is { } session)
        {
            session.Connection.ScheduleFlush();
            CallerFlush.Record(session.Connection.Shard);
        }
    }

    private void OnCapacityAvailable() => Socket.OnCapacity(this);
}
