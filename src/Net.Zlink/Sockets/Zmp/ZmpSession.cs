using System.Globalization;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

internal sealed partial class ZmpSession : IConnectionSink
{
    // A peer of either implementation that rejects this one ends the connection right after the handshake. The protocol has no code for it.
    private static readonly TimeSpan BriefTime = TimeSpan.FromSeconds(1);

    private readonly SocketCore _socket;
    private readonly ZmpSettings _settings;
    private readonly WireLink _link;
    private readonly InboundMessages _messages;
    private ZmpInbound _inbound;
    private string? _foreign;
    private int _missing = ZmpFrame.HeaderSize;
    private ZmpHeartbeats? _heartbeats;
    private ShardTimer? _handshakeTimer;
    private byte[] _peerRoutingId = [];
    private long _openedAt;
    private long _readyAt;
    private bool _mustFlush;
    private bool _isReady;
    private bool _isReadingBarred;
    private bool _wasUnread;
    private bool _isUnconfirmed;
    private bool _hasLeft;
    private bool _wasBrief;
    private TimeSpan _readyFor;
    private PeerConfirmation _confirmation;

    public ZmpSession(SocketCore socket, ZmpSettings settings, WireLink link, Wire wire)
    {
        _socket = socket;
        _settings = settings;
        _link = link;
        _inbound = new ZmpInbound(settings.Type, settings.Connection.MessageLimit, skipsLongTopics: IsPublisher);
        _messages = new InboundMessages(socket, link, settings.MaxMessageParts);
        Connection = new Connection(wire, socket.Host.Shards.For(wire, settings.ShardAffinity), socket.Host.Pool, settings.Connection,
            this, link.Queue)
        {
            Unfinished = socket.Host.Unfinished,
            OutboundSurvives = link.IsActive && !settings.Immediate,
        };
        link.Accepted = link.IsActive ? null : Connection;
    }

    public Connection Connection { get; }

    public EngineHost Host => _socket.Host;

    private RedactedEndpoint Endpoint => _link.Endpoint;

    private bool IsActive => _link.IsActive;

    private ZmpFault? Fault { get; set; }

    private DisconnectReason EndReason { get; set; }

    private string EndDetail { get; set; } = "";

    /// <summary>The time of the handshake does not count: a rejecting peer may take as long for it.</summary>
    private bool HasLasted => _readyFor >= BriefTime;

    string IConnectionSink.Name => $"{_settings.Type.Name} session";

    public void Start()
    {
        if (!Connection.Wire.HadHandshake)
        {
            Publish(IsActive ? SocketEventTypes.Connected : SocketEventTypes.Accepted, Connection.Wire.Handle, detail: null);
        }

        _socket.Connections.Track(_link, Connection);
        Connection.Start();
    }

    public void OnOpened(Connection connection)
    {
        _openedAt = connection.Shard.Timers.Timestamp();
        Span<byte> greeting = stackalloc byte[ZmpHello.LargestFrame + ZmpReady.LargestFrame];
        int length = ZmpHello.Write(greeting, _settings.Type, _settings.RoutingId);
        length += _settings.SendsMetadata
            ? ZmpReady.WriteWithMetadata(greeting[length..], _settings.Type, _settings.RoutingId)
            : ZmpReady.Write(greeting[length..]);
        if (_settings.HandshakeInterval > TimeSpan.Zero)
        {
            _handshakeTimer = new ShardTimer(static state => ((ZmpSession)state).OnHandshakeTimeout(), this);
            connection.Shard.Timers.Arm(_handshakeTimer, _settings.HandshakeInterval);
        }

        SendControl(greeting[..length]);
    }

    public int MostToRead(Connection connection, bool pastLimits)
    {
        if (_link.WaitsFor is not null)
        {
            return 0;
        }

        if (pastLimits)
        {
            // None of a peer without a place: one that connects again and again would get that much into the queue each time.
            return _isReadingBarred ? 0 : MostWithCapacity;
        }

        // A handshake is read whatever messages wait: none of its bytes is a message.
        if (_isReady && !HasCapacity())
        {
            Heartbeats().OnPaused();
            return 0;
        }

        _isReadingBarred = false;
        return MostWithCapacity;
    }

    public InboundResult OnBytes(Connection connection, in InboundBytes bytes)
    {
        bool wasReady = _isReady;
        bool isHeard = false;
        bool isTraffic = true;
        byte[] array = bytes.Slab.Array;
        int position = bytes.Offset;
        int end = position + bytes.Length;
        int frames = 0;
        _messages.Begin(bytes, connection.Shard.ReceiveSlab);
        while (true)
        {
            ReadOnlySpan<byte> rest = array.AsSpan(position, end - position);
            ZmpInboundKind kind = _inbound.Next(rest, out ZmpFlags flags, out int size);
            if (kind == ZmpInboundKind.Incomplete)
            {
                _missing = Math.Max(1, (size > 0 ? size : ZmpFrame.HeaderSize) - rest.Length);
                bool continues = _messages.End(position);
                int most = frames > 0 ? AfterFrames(continues, wasReady, isHeard) : MostWithCapacity;
                return new InboundResult(position - bytes.Offset, frames, size, most, _messages.UnfinishedBytes);
            }

            if (isTraffic)
            {
                _heartbeats?.OnTraffic();
            }

            // Also of what is behind a heartbeat, which begins a time limit.
            isTraffic = kind == ZmpInboundKind.Heartbeat;
            isHeard = _isReady;
            bool isTaken = kind == ZmpInboundKind.Data
                ? _messages.AddPart(position + ZmpFrame.HeaderSize, size - ZmpFrame.HeaderSize, (flags & ZmpFlags.More) != ZmpFlags.None)
                : TryTake(kind, flags, rest, position + ZmpFrame.HeaderSize, size - ZmpFrame.HeaderSize);
            if (!isTaken)
            {
                // Whole messages before it are still delivered.
                _messages.End(position);
                Refuse(kind, rest);
                return new InboundResult(position - bytes.Offset, frames, NextFrameSize: 0, MostToRead: 0);
            }

            position += size;
            frames++;
        }
    }

    public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
    {
        connection.Shard.Timers.Cancel(_handshakeTimer);
        _heartbeats?.OnClosing();
        _messages.Abandon();
        if (!_isReady && reason is DisconnectReason.Remote or DisconnectReason.TransportError)
        {
            reason = DisconnectReason.HandshakeFailed;
            detail = connection.Wire.WhyRefused(detail ?? reason.Words());
        }

        if (reason == DisconnectReason.TakenOver)
        {
            WriteError(ZmpFault.RoutingIdTakenOver);
        }

        _readyFor = _isReady ? connection.Shard.Timers.Time.GetElapsedTime(_readyAt) : TimeSpan.Zero;
        _wasBrief = _isReady && !HasLasted && reason is (DisconnectReason.Remote or DisconnectReason.TransportError);
        bool isBrief = IsActive && _confirmation.IsBrief(_readyFor) && reason is DisconnectReason.Remote or DisconnectReason.TransportError;
        bool isLost = reason is DisconnectReason.HeartbeatTimeout or DisconnectReason.TransportError && MayConfirm;
        _isUnconfirmed = _isReady && (isBrief || isLost || Fault is { Origin: ZmpFaultOrigin.Received });
        _link.MustConfirm |= _isReady && isBrief && _settings.Type is ZmpSocketType.Dealer or ZmpSocketType.Router or ZmpSocketType.Pair;
        if (_confirmation.End(_link) && reason is DisconnectReason.Local or DisconnectReason.ContextTerminated)
        {
            _link.Queue.Release();
        }

        EndReason = reason;
        EndDetail = detail ?? reason.Words();
        LeavePlace();
        if (reason == DisconnectReason.Refused)
        {
            PublishRefusal(detail ?? _socket.RefusalReason(_link.Peer));
        }

        PublishEnd();
        if (!Connection.OutboundStays)
        {
            _socket.Detach(_link, dropUnread: false);
        }
        else if (_isReady)
        {
            _socket.OnConnectionLost(_link, HasLasted, _wasBrief);
        }
    }

    public void OnFlushed(Connection connection)
    {
        _heartbeats?.OnUse();
        if (connection.HasEndedWriting)
        {
            SettleUnconfirmed();
            EndWriting();
        }
    }

    public void OnClosed(Connection connection)
    {
        _heartbeats?.Stop();
        _isUnconfirmed |= _isReady && connection is { HasLostPeer: true, OutboundStays: false } && MayConfirm;
        SettleUnconfirmed();
        _socket.Connections.Forget(_link, connection);
        if (!connection.OutboundStays)
        {
            _socket.FinalizeCounters(_link);
            _link.MarkDetached();
            _link.Accepted = null; // Unread messages must not keep the connection's memory.
        }

        EndWriting();
        _link.Dialer?.OnClosed();
        _socket.Parts.Leave();
        _link.Listener?.OnConnectionEnded(EndReason);
    }

    public void OnFault(Connection connection, Exception exception)
    {
        Publish(SocketEventTypes.HandlerFailed, 0, ExceptionText.Of(exception));
        Log.SessionFailed(_socket.Host.Logger, exception, Endpoint);
    }

    public void SendControl(ReadOnlySpan<byte> frames)
    {
        bool isWorthIt = Connection.IsOpen || (Connection.IsLingering && !_link.Queue.HasControl);
        if (isWorthIt && _link.Queue.TryAppendControl(frames))
        {
            Connection.FlushNow();
        }
    }

    /// <summary>False: <see cref="Refuse"/> follows.</summary>
    private bool TryTake(ZmpInboundKind kind, ZmpFlags flags, ReadOnlySpan<byte> frame, int start, int length)
    {
        switch (kind)
        {
            case ZmpInboundKind.Fault:
                return false;
            case ZmpInboundKind.Subscribe or ZmpInboundKind.Cancel:
                return _messages.AddSubscription(start, length, kind == ZmpInboundKind.Subscribe);
            case ZmpInboundKind.LongTopic:
                RefuseTopic(flags, (uint)ZmpFrame.ReadLength(frame));
                return true;
            case ZmpInboundKind.HelloAccepted:
                _peerRoutingId = ZmpHello.RoutingIdOf(frame.Slice(ZmpFrame.HeaderSize, length)).ToArray();
                return true;
            case ZmpInboundKind.ReadyAccepted:
                return OnReady(frame.Slice(ZmpFrame.HeaderSize, length));
            case ZmpInboundKind.Heartbeat:
                OnHeartbeat(frame.Slice(ZmpFrame.HeaderSize, length));
                return true;
            case ZmpInboundKind.HeartbeatAck:
                _heartbeats?.OnAnswer();
                return true;
            default:
                return true;
        }
    }

    /// <summary>Ends the connection, unless READY has: it got no place.</summary>
    private void Refuse(ZmpInboundKind kind, ReadOnlySpan<byte> frame)
    {
        if (kind == ZmpInboundKind.Fault)
        {
            _foreign = _inbound.HasHello || frame[0] == ZmpFrame.Magic ? null : ProtocolSniffer.Of(frame);
            Fail(_inbound.Fault);
        }
        else if (_messages.IsRefusedForAll)
        {
            // Others may have unsubscribed by the time it reconnects, so no ERROR, after which a native peer would never do that.
            Connection.Close(
                DisconnectReason.SubscriptionByteLimit,
                CloseMode.Orderly,
                _socket.Host.Subscriptions!.Words("the peer's topics exceed its share", nameof(DisconnectReason.SubscriptionByteLimit)));
        }
        else
        {
            Fail(_messages.Refusal);
        }
    }

    /// <summary>
    /// While the link is full, a handshake is read frame by frame: otherwise a peer that reconnects again and again adds one read to the
    /// queue each time.
    /// </summary>
    private int MostWithCapacity => _isReady || HasCapacity() ? int.MaxValue : _missing;

    private int AfterFrames(bool continues, bool wasReady, bool isHeard)
    {
        if (_link.WaitsFor is not null)
        {
            return 0;
        }

        if (isHeard && _confirmation.OnFrames(_link))
        {
            _mustFlush |= _link.Queue.Release();
        }

        if (continues && _isReady && !wasReady && Connection.IsOpen && !HasCapacity())
        {
            _isReadingBarred = true;
            continues = false; // Not asked of a lane that has just said so: asking would cancel its notice of capacity.
        }

        if (_mustFlush)
        {
            _mustFlush = false;
            Connection.FlushNow();
        }

        if (continues)
        {
            return MostWithCapacity;
        }

        Heartbeats().OnPaused();
        return 0;
    }

    /// <summary>Subscribers send nothing by which a publisher could know what has arrived.</summary>
    private bool MayConfirm => !IsPublisher;

    private bool IsPublisher => _settings.Type is ZmpSocketType.Pub or ZmpSocketType.XPub;

    private void WriteError(in ZmpFault fault)
    {
        Span<byte> frame = stackalloc byte[ZmpErrorFrame.LargestFrame];
        int length = ZmpErrorFrame.Write(frame, fault);
        _link.Queue.PauseSending();
        _link.Queue.TryAppendControl(frame[..length]);
    }

    private bool OnReady(ReadOnlySpan<byte> body)
    {
        Connection.Shard.Timers.Cancel(_handshakeTimer);
        _isReady = true;
        _readyAt = Connection.Shard.Timers.Timestamp();
        string address = Connection.Wire.PeerAddress;
        ZmpProperties? properties = ZmpProperties.Of(
            body, address.Length > 0 ? [new(ZmpProperties.PeerAddressKey, address),
            new(ZmpProperties.FileDescriptorKey, Connection.Wire.Handle.ToString(CultureInfo.InvariantCulture))] : []);
        (string local, string remote) = Ends;
        var peer = new PeerIdentity(_peerRoutingId, properties, remote, local, _socket.Host.Time)
        {
            Certificate = Connection.Wire.RemoteCertificate,
            Request = Connection.Wire.Request,
            SubProtocol = Connection.Wire.SubProtocol,
            Details = Connection.Wire.Details,
        };
        if (!TakePlace(peer))
        {
            return false;
        }

        if (_link.WaitsFor is not null)
        {
            _waiting = peer;
            _messages.Source = peer;
            _link.Lane.Hold();
            return true;
        }

        BeginTraffic();
        return true;
    }

    private void BeginTraffic()
    {
        _messages.Source = _link.Peer;
        if (_settings.Heartbeat.Interval > TimeSpan.Zero)
        {
            Heartbeats().Start();
        }

        if (!_confirmation.Begin(_link))
        {
            Connection.PostToSink();
        }
        else if (_link.Queue.Release())
        {
            Connection.ScheduleFlush();
        }
    }

    private void OnHeartbeat(ReadOnlySpan<byte> body)
    {
        var heartbeat = new ZmpHeartbeat(body);
        Heartbeats().OnHeartbeat(TimeSpan.FromMilliseconds(100.0 * heartbeat.TtlTenths));
        if (heartbeat.IsToBeAnswered && _link.WaitsFor is not null)
        {
            _owesAnswer = true;
        }
        else if (heartbeat.IsToBeAnswered)
        {
            Span<byte> answer = stackalloc byte[ZmpHeartbeatAck.LargestAnswer];
            int length = ZmpHeartbeatAck.Write(answer, heartbeat.Context);

            // A peer that asks again and again without reading gets no answer.
            _mustFlush |= _link.Queue.TryAppendControl(answer[..length]);
        }
    }

    public bool HasCapacity() => _link.Lane.MayRead() && _socket.MayRead(_link);

    private ZmpHeartbeats Heartbeats() => _heartbeats ??= new ZmpHeartbeats(this, _settings.Heartbeat, Connection.Shard.Timers, _openedAt);

    private void OnHandshakeTimeout()
    {
        if (!_wasUnread && Connection.Wire.HasUnread)
        {
            _wasUnread = true;
            Connection.Shard.Timers.Arm(_handshakeTimer!, _settings.HandshakeInterval);
            return;
        }

        Fail(ZmpFault.HandshakeTimeout, DisconnectReason.HandshakeFailed,
            $"no handshake within {_settings.HandshakeInterval.TotalMilliseconds:0} ms");
    }
}
