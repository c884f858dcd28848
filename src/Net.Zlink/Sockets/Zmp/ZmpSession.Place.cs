using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Zmp;

/// <content>How a session gets its place, and loses it by silence, by a fault, or to another peer.</content>
internal sealed partial class ZmpSession
{
    // Of a newcomer that waits for a place: what it sends is kept, and nothing is answered.
    private PeerIdentity? _waiting;
    private bool _owesAnswer;

    public void OnPlaceAnswered() => _socket.Claims.OnAnswered(_link);

    public void OnPlaceSilent(string detail)
    {
        if (_socket.Claims.IsToLeave(_link))
        {
            EndSilence(detail);
        }
    }

    /// <summary>False: it is asked whether it is still there.</summary>
    public bool TryLeavePlace()
    {
        if (_link.IsToEnd)
        {
            PlaceClaims.Reject(_link);
        }

        return _link.IsToEnd;
    }

    public void OnPosted(Connection connection)
    {
        if (!connection.IsOpen)
        {
            return;
        }

        if (_link.WaitsFor is not null)
        {
            RetryPlace();
            return;
        }

        if (_confirmation.IsToAsk(_link))
        {
            Heartbeats().SendQuestion();
        }

        if (_link.IsQuestionPending)
        {
            Heartbeats().AskForPlace();
        }
    }

    /// <summary>A heartbeat before READY has a ttl, too. Then the ERROR names the handshake, which takes too long.</summary>
    public void FailLiveness(string detail)
    {
        if (_isReady)
        {
            Fail(ZmpFault.HeartbeatTimeout, DisconnectReason.HeartbeatTimeout, detail);
        }
        else
        {
            Fail(ZmpFault.HandshakeTimeout, DisconnectReason.HandshakeFailed, detail);
        }
    }

    /// <summary>
    /// Ends a silent peer's connection without an ERROR, after which a native peer would never connect again (docs/protocol.md section
    /// 15.4).
    /// </summary>
    public void EndSilence(string detail)
    {
        if (Connection.IsLingering)
        {
            Connection.LoseSilent();
            return;
        }

        _link.Queue.PauseSending();
        Connection.Close(DisconnectReason.HeartbeatTimeout, CloseMode.Orderly, detail);
    }

    /// <summary>Ends the connection with an ERROR frame behind the frame that is being written.</summary>
    public void Fail(in ZmpFault fault, DisconnectReason reason = DisconnectReason.ProtocolError, string? detail = null)
    {
        if (!Connection.IsOpen)
        {
            return;
        }

        Fault = fault;
        WriteError(fault);
        string whose = fault.Origin == ZmpFaultOrigin.Received ? "the peer sent an ERROR" : "protocol fault";
        Connection.Close(reason, CloseMode.Orderly, detail ?? $"{whose}: {WordsOf(fault)}{OtherProtocolText}");
    }

    /// <summary>False: it has been closed.</summary>
    private bool TakePlace(PeerIdentity peer)
    {
        bool again = _link.IsAttached && _link.WasConnected;
        bool isNew = !_link.IsAttached;
        if (_link.Alias is { } alias)
        {
            peer = peer with { RoutingId = alias };
        }

        bool isLeft = _link.Dialer is { IsClosing: true };
        if (isLeft || !_socket.TryAttach(_link, peer))
        {
            return _link.WaitsFor is not null || IsRetained(peer, isLeft);
        }

        _link.SetConnection(Connection);
        _link.WasConnected = true;
        if (_link.Dialer is { } dialer && !dialer.OnReady())
        {
            _socket.Detach(_link, dropUnread: true); // Disconnected between the two checks: just attached again.
            return true;
        }

        if (_link.Dialer is null && !_socket.Has(_link) && !_socket.IsClosed)
        {
            // The endpoint was disconnected just now: the close follows what is sent, and the queue is released when this returns.
            Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly, Connection.Settings.CloseTimeout);
            return true;
        }

        _socket.SendWelcome(_link, isNew ? GreetingOccasion.NewLink : again ? GreetingOccasion.NextConnection
            : GreetingOccasion.FirstConnection);
        Publish(SocketEventTypes.ConnectionReady, 0, detail: null);
        return true;
    }

    private bool IsRetained(PeerIdentity peer, bool isLeft)
    {
        if ((isLeft || _socket.IsClosed) && _link.Dialer is { } dialer)
        {
            _link.SetConnection(Connection); // It only delivers what is queued.
            dialer.OnReady();
            return true;
        }

        if (_socket.IsClosed)
        {
            Connection.Close(_socket.End.Reason, CloseMode.Orderly, detail: null);
            return false;
        }

        Connection.Close(DisconnectReason.Refused, CloseMode.Orderly, _socket.RefusalReason(peer));
        return false;
    }

    private void LeavePlace()
    {
        _link.SetConnection(null);
        if (_waiting is not null)
        {
            _socket.Claims.Remove(_link);
            _socket.Receive.Drop(_link.Lane);
        }
    }

    /// <summary>Nothing more is written, although the peer may not have ended its side: the dialer may go on.</summary>
    private void EndWriting()
    {
        if (_link.Dialer is { } dialer && !_hasLeft)
        {
            _hasLeft = true;
            dialer.OnEnded(End);
        }
    }

    /// <summary>How the dialer is to see the connection's end.</summary>
    private ConnectionEnd End
    {
        get
        {
            // The peer displaced it: reconnecting would displace the other connection, and so on.
            bool isOutdone = Fault is { PeersCode: ZmpErrorCode.RoutingIdTakenOver };
            // Both sides displaced the other's connection at the same moment: both are lost, and the id is free.
            bool isMutual = isOutdone && !HasLasted && _link.HasReplaced;
            return new ConnectionEnd($"{(_isReady ? "the connection ended" : "the handshake failed")}: {EndDetail}")
            {
                WasReady = _isReady,
                ReadyFor = _readyFor,
                WasBrief = _wasBrief && EndReason == DisconnectReason.Remote,
                IsFault = Fault is { IsTimeout: false },
                WhyNoFurther = Fault is { ConnecterTriesAgain: false } fault && !isMutual
                    ? WhyNoFurther(OtherProtocolText, fault, always: isOutdone) : null,
                IsFinal = isOutdone,
                IsMutual = isMutual,
            };
        }
    }

    private void RetryPlace()
    {
        _link.WaitsFor = null;
        if (!TakePlace(_waiting!) || _link.WaitsFor is not null)
        {
            return;
        }

        _waiting = null;
        BeginTraffic();
        if (_owesAnswer)
        {
            _owesAnswer = false;
            Heartbeats().SendUnaskedAnswer();
        }

        if (_link.Lane.EndHold())
        {
            _socket.Receive.Enqueue(_link.Lane, messages: 1);
        }

        Connection.Resume();
        if (_link.IsQuestionPending)
        {
            Connection.PostToSink();
        }
    }

    private void SettleUnconfirmed()
    {
        if (_isUnconfirmed && _confirmation.Settle(_link) is var messages and > 0)
        {
            Publish(SocketEventTypes.MessagesUnconfirmed, messages, $"written but not confirmed: {EndDetail}");
        }
    }
}
