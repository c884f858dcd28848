using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Sockets.Pipes;

/// <summary>A pipe over a connection; of a connecting socket it outlives the connection, and goes on with the next.</summary>
internal sealed class WirePipe : Pipe
{
    private ZmpSession? _session;

    public WirePipe(SocketCore socket, ZmpSettings settings)
        : base(socket, new InboundLane(settings.Inbound, socket.Host.Budget) { Conflates = settings.Conflate })
    {
        Queue = new OutboundQueue(socket.Host.Pool, settings.Outbound, socket.Host.Budget) { RoomAgain = OnRoomAgain, Conflates = settings.Conflate };
        Queue.Hold();
        Lane.BelongTo(this);
    }

    public OutboundQueue Queue { get; }

    /// <summary>The connection's session, once the handshake is complete; null while there is none.</summary>
    public ZmpSession? Session
    {
        get => Volatile.Read(ref _session);
        set => Volatile.Write(ref _session, value);
    }

    /// <summary>A handshake was completed on it before.</summary>
    public bool WasConnected { get; set; }

    /// <summary>The dialer that makes the next connection; null on the accepting side.</summary>
    public ZmpDialer? Dialer { get; set; }

    public override OutboundCounts Outbound => Queue.Counts;

    public override FullCause FullCause => Queue.FullCause;

    public override bool HasRoom => Queue.Status == SendStatus.Accepted;

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false)
    {
        SendStatus status = Queue.TryAppend(message, out bool schedule, force);
        if (schedule)
        {
            Flush();
        }

        return status;
    }

    /// <summary>Sends a message that other peers get too, encoded already: short ones are copied, long ones go by reference.</summary>
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
        Queue.Append(ZmpFrame.HeaderOf(flags, (uint)body.Length), body, out bool schedule);
        if (schedule)
        {
            Flush();
        }
    }

    public override void OnRoomInLane() => Session?.Connection.Resume();

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        Queue.SetLimits(outbound);
        if (Lane.SetLimits(inbound))
        {
            OnRoomInLane();
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

    /// <summary>Its connection is over. One that came in does not come back by this pipe.</summary>
    public void BecomeRest()
    {
        if (Dialer is null)
        {
            Lane.BecomeRest();
        }
    }

    private void Flush()
    {
        if (Session is { } session)
        {
            session.Connection.ScheduleFlush();
            OwedFlush.Note(session.Connection.Shard);
        }
    }

    private void OnRoomAgain() => Socket.OnRoom(this);
}
