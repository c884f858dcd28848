using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Links;

/// <summary>A connecting link outlives its connection and continues with the next.</summary>
internal sealed class WireLink : PeerLink
{
    private Connection? _connection;

    public WireLink(SocketCore socket, ZmpSettings settings)
        : base(socket, new InboundLane(settings.Inbound, socket.Host.Queued) { Conflates = settings.Conflate })
    {
        Queue = new OutboundQueue(socket.Host.Pool, ZmpFrame.Format, settings.Connection.Outbound, socket.Host.Queued)
        {
            CapacityAvailable = () => socket.OnCapacity(this),
            Conflates = settings.Conflate
        };
        Queue.PauseSending();
        Lane.BelongTo(this);
    }

    public override OutboundQueue Queue { get; }

    public override Connection? Reader => Volatile.Read(ref _connection);

    public override bool IsConnected => Reader is not null;

    public override WireLink? AcceptedWire => Accepted is null ? null : this;

    public bool WasConnected { get; set; }

    /// <summary>One of its connections lasted, so the peer accepts it.</summary>
    public bool HasLasted { get; set; }

    /// <summary>The last connection was brief, so nothing leaves on the next one before a frame has come.</summary>
    public bool MustConfirm { get; set; }

    public bool AsksWhenQueued
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    /// <summary>Null: it is a connecting link.</summary>
    public BoundListener? Listener { get; init; }

    /// <summary>From its accept until its end, also while it has no place.</summary>
    public Connection? Accepted { get; set; }

    /// <summary>Guarded by the lock of <see cref="PlaceClaims"/>, as the next two.</summary>
    public WireLink? Newcomer { get; set; }

    public bool IsQuestionPending { get; set; }

    /// <summary>It is read when it gets its place, and leaves it at once to the next of the line unless it has ended.</summary>
    public bool IsToEnd { get; set; }

    public WireLink? WaitsFor
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    public DialerLoop? Dialer { get; set; }

    public override string? WhyNotConnected => IsConnected ? null : Dialer?.Problem;

    public override QueueCounts Outbound
    {
        get
        {
            QueueCounts counts = Queue.Counts;
            counts.UnconfirmedMessages = Unconfirmed;
            return counts;
        }
    }

    public override FullCause FullCause => Queue.FullCause;

    public override bool HasCapacity => Queue.Status == SendStatus.Accepted;

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false)
    {
        SendStatus status = Queue.TryAppend(message, out bool schedule, force);
        FlushOrAsk(schedule);

        return status;
    }

    /// <summary>As many messages as fit into one segment, all or none; 0 says nothing about why.</summary>
    public override int TrySendMany(ReadOnlySpan<byte> firstPart, bool hasFirst, ReadOnlySpan<ReadOnlyMemory<byte>> lastParts)
    {
        int frames = hasFirst ? (2 * ZmpFrame.HeaderSize) + firstPart.Length : ZmpFrame.HeaderSize;
        int count = 0;
        int length = 0;
        while (count < lastParts.Length && length + frames + (long)lastParts[count].Length <= OutgoingMessage.LargePayload)
        {
            length += frames + lastParts[count++].Length;
        }

        if (count < 2 || Queue.Conflates)
        {
            return 0;
        }

        Buffers.Slab encoded;
        try
        {
            encoded = Socket.Host.Slabs.Rent(length);
        }
        catch (OutOfMemoryException)
        {
            return 0; // The send of a single message has the reason.
        }

        Span<byte> free = encoded.Array;
        foreach (ReadOnlyMemory<byte> lastPart in lastParts[..count])
        {
            free = hasFirst ? Write(free, ZmpFlags.More, firstPart) : free;
            free = Write(free, ZmpFlags.None, lastPart.Span);
        }

        SendStatus status = Queue.TryAppendShared(encoded, 0, length, count, out bool schedule);
        encoded.Release();
        FlushOrAsk(schedule);

        return status == SendStatus.Accepted ? count : 0;
    }

    public override SendStatus TrySendShared(Buffers.Slab encoded, int length, in OutgoingMessage message, bool force)
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
        try
        {
            Queue.AppendOwn(header, body, isUpdate: Socket.Type is ZmpSocketType.Sub or ZmpSocketType.XSub, out bool schedule);
            if (schedule)
            {
                Flush();
            }
        }
        catch (OutOfMemoryException)
        {
            // What the socket owes its peer must not be missing. The next connection begins with all of it.
            Reader?.RequestClose(DisconnectReason.OutOfMemory, CloseMode.Abort);
        }
    }

    public override void OnLaneCapacity() => Reader?.Resume();

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
            Reader?.RequestClose(reason, CloseMode.Orderly, linger);
        }
    }

    public override void Abort() => Reader?.RequestClose(DisconnectReason.Local, CloseMode.Abort);

    public override void Displace(Func<Task> whenFree)
    {
        if (Dialer is not null)
        {
            Dialer.YieldRoutingId(whenFree);
        }
        else
        {
            Reader?.RequestClose(DisconnectReason.TakenOver, CloseMode.Orderly);
        }
    }

    public override void OnDetached() => Socket.Claims.OnLeft(this);

    /// <summary>Null: it has lost its connection.</summary>
    public void SetConnection(Connection? connection) => Volatile.Write(ref _connection, connection);

    public void MarkDetached()
    {
        if (Dialer is null)
        {
            Lane.MarkDetached();
        }
    }

    private void Flush() => Reader?.ScheduleFlush();

    private void FlushOrAsk(bool schedule)
    {
        if (schedule)
        {
            Flush();
        }
        else if (AsksWhenQueued)
        {
            Reader?.PostToSink();
        }
    }

    private static Span<byte> Write(Span<byte> free, ZmpFlags flags, ReadOnlySpan<byte> body)
    {
        ZmpFrame.WriteHeader(free, flags, (uint)body.Length);
        body.CopyTo(free[ZmpFrame.HeaderSize..]);
        return free[(ZmpFrame.HeaderSize + body.Length)..];
    }
}
