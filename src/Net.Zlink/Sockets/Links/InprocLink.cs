using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Sockets.Links;

/// <summary>A message goes straight into the other end's lane, not encoded.</summary>
internal sealed class InprocLink : PeerLink
{
    private readonly InprocRegistry _registry;
    private readonly InboundLane _out;
    private InprocLink? _other;
    private InprocLink? _reader; // The other end, also after the close.
    private long _notified;
    private bool _isReady;

    public InprocLink(SocketCore socket, InprocRegistry registry, InboundLane inbound, InboundLane outbound, PeerIdentity own)
        : base(socket, inbound)
    {
        _registry = registry;
        _out = outbound;
        Own = own;
    }

    /// <summary>Guarded by the lock of <see cref="InprocRegistry"/>.</summary>
    public InprocRegistry.Pending? Pending { get; set; }

    public InprocLink? Other => Volatile.Read(ref _other);

    public string? Problem
    {
        get => Volatile.Read(ref field);
        set => Volatile.Write(ref field, value);
    }

    public PeerIdentity Own { get; }

    private PeerIdentity Name => Other is { } other && !ReferenceEquals(other.Peer, PeerIdentity.Unknown) ? other.Peer : Own;

    public InboundLane Out => _out;

    public override string? WhyNotConnected => Other is null ? Problem : null;

    public override bool IsConnected => Other is not null;

    public override bool IsInproc => true;

    public override QueueCounts Outbound
    {
        get
        {
            bool hasReader = Volatile.Read(ref _reader) is not null;
            QueueCounts lane = _out.Counts;
            long sent = lane.AcceptedMessages + Volatile.Read(ref _notified);
            return hasReader ? new QueueCounts { TakenMessages = sent, TakenBytes = lane.AcceptedBytes } : lane with
            {
                TakenMessages = sent - lane.QueuedMessages - lane.DroppedMessages,
                FilteredMessages = 0,
            };
        }
    }

    public override (long Messages, long Bytes) Waiting
    {
        get
        {
            QueueCounts lane = _out.Counts;
            return (lane.QueuedMessages, lane.QueuedBytes);
        }
    }

    public override FullCause FullCause => _out.FullCause;

    public override bool HasCapacity => _out.Status == SendStatus.Accepted;

    public void SetOther(InprocLink connecter)
    {
        Volatile.Write(ref _reader, connecter);
        Volatile.Write(ref _other, connecter);
    }

    public static void Join(InprocLink connecter, InprocLink binder)
    {
        Volatile.Write(ref connecter._reader, binder);
        int waiting = binder.Lane.BelongTo(binder);
        if (waiting > 0)
        {
            binder.Socket.Receive.Enqueue(binder.Lane, waiting);
        }

        // After those are announced: later topics of the connecting side come behind them.
        Volatile.Write(ref connecter._other, binder);
        Volatile.Write(ref binder._other, connecter);
    }

    public void PublishReady()
    {
        lock (Own) // The disconnect event follows, also if another thread closes this at once.
        {
            if (Other is not null)
            {
                _isReady = true;
                Publish(SocketEventTypes.ConnectionReady, 0, detail: null);
            }
        }
    }

    public override SendStatus TrySend(in OutgoingMessage message, bool force = false)
    {
        PassedAs passage = PassageOf(message, out int checkedAt);
        if (passage == PassedAs.Whole)
        {
            SendStatus status = _out.Append(message, Socket.Host.Slabs, Name, out bool announces, force, checkedAt);
            if (announces)
            {
                Volatile.Read(ref _reader)!.Socket.Receive.Enqueue(_out, messages: 1);
            }

            return status;
        }

        if (passage == PassedAs.Notified)
        {
            Interlocked.Increment(ref _notified);
        }
        else
        {
            _out.CountFiltered(1, message.EncodedLength(ZmpFrame.Format));
        }

        message.Consume();
        return SendStatus.Accepted;
    }

    public override void SendOwn(ZmpFlags flags, ReadOnlySpan<byte> body)
    {
        if (flags is ZmpFlags.Subscribe or ZmpFlags.Cancel)
        {
            if (Other is { } other)
            {
                Interlocked.Increment(ref _notified);
                Notify(other, body, flags == ZmpFlags.Subscribe);
            }
        }
        else
        {
            TrySend(new OutgoingMessage(body), force: true);
        }
    }

    public override void OnLaneCapacity()
    {
        if (Other is { } other)
        {
            other.Socket.OnCapacity(other);
        }
    }

    public override void SetLimits(QueueLimits outbound, QueueLimits inbound)
    {
        // The other socket's share stays as it was when they were joined.
        if (Other is { } other)
        {
            Adjust(_out, outbound.And(other.InboundShare), other);
            Adjust(Lane, other.OutboundShare.And(inbound), this);
        }
        else if (_out.SetLimits(outbound))
        {
            Socket.OnCapacity(this);
        }

        InboundShare = inbound;
        OutboundShare = outbound;
    }

    public QueueLimits InboundShare { get; set; }

    public QueueLimits OutboundShare { get; set; }

    public override void Close(DisconnectReason reason, TimeSpan linger)
    {
        _out.Close();
        if (IsActive && Other is null && _registry.Leave(this, linger))
        {
            return;
        }

        if (Interlocked.Exchange(ref _other, null) is { } other)
        {
            Volatile.Write(ref other._other, null);
            PublishEnd(reason);
            other.PublishEnd(reason == DisconnectReason.Local ? DisconnectReason.Remote : reason);
            other.Socket.Detach(other, dropUnread: false);
            other.Socket.FinalizeCounters(other);
        }
        else if (Volatile.Read(ref _reader) is null)
        {
            Socket.Receive.Drop(_out);
        }

        Socket.FinalizeCounters(this);
    }

    public override void Abort() => Close(DisconnectReason.Local, TimeSpan.Zero);

    public override void OnDetached()
    {
        if (IsActive)
        {
            _registry.Forget(this);
        }
    }

    private void PublishEnd(DisconnectReason reason)
    {
        lock (Own)
        {
            if (_isReady && reason is not (DisconnectReason.Local or DisconnectReason.ContextTerminated))
            {
                Publish(SocketEventTypes.Disconnected, (long)reason, reason.Words());
            }

            _isReady = false;
        }
    }

    private void Publish(SocketEventTypes type, long value, string? detail)
    {
        if (!Socket.Monitors.IsEmpty)
        {
            (string local, string remote) = Ends;
            byte[] name = Peer.RoutingId;
            bool names = IsActive || type == SocketEventTypes.ConnectionReady;
            Socket.Monitors.Publish(new SocketEvent(type, value, names ? name : [], local, remote, 0, detail) { PeerRoutingId = name });
        }
    }

    private static void Adjust(InboundLane lane, QueueLimits limits, PeerLink reader)
    {
        if (lane.SetLimits(limits))
        {
            reader.OnLaneCapacity();
        }
    }

    private PassedAs PassageOf(in OutgoingMessage message, out int checkedAt)
    {
        checkedAt = 0;
        if (Other is not { } reader)
        {
            // A binder gets all topics when it comes, so topics of a waiting XSUB must not enter its lane as messages.
            checkedAt = InboundLease.NeverFiltered;
            return Socket.Type == ZmpSocketType.XSub && SubscriptionParts.KindOf(message, out _) != UpstreamPart.Data ? PassedAs.Notified
                : PassedAs.Whole;
        }

        SocketCore socket = reader.Socket;
        InboundRole role = socket.InboundRole;
        switch (role)
        {
            case InboundRole.All:
                return PassedAs.Whole;
            case InboundRole.Filtered:
                checkedAt = socket.FilterVersion;
                return socket.Accepts(message.FirstPart) ? PassedAs.Whole : PassedAs.None;
            default:
                UpstreamPart kind = SubscriptionParts.KindOf(message, out ReadOnlySpan<byte> prefix);
                if (kind == UpstreamPart.Data)
                {
                    return role == InboundRole.SubscriptionsAndData ? PassedAs.Whole : PassedAs.None;
                }

                Notify(reader, prefix, kind == UpstreamPart.Subscribe);
                return PassedAs.Notified;
        }
    }

    private static void Notify(InprocLink reader, ReadOnlySpan<byte> prefix, bool subscribes)
    {
        reader.Socket.OnSubscription(reader, prefix, subscribes);
        reader.CountTopics(); // Behind it: a program that waits for the count then publishes.
    }

    private enum PassedAs
    {
        None,

        Notified,

        Whole,
    }
}
