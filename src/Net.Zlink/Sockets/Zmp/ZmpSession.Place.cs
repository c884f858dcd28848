using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <content>How a session gets its place, and loses it by silence, by a fault, or to another peer.</content>
internal sealed partial class ZmpSession
{
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
        if (Held.IsToEnd)
        {
            _socket.Claims.Reject(this);
        }

        return Held.IsToEnd;
    }

    public void OnPosted(Connection connection)
    {
        if (!connection.IsOpen)
        {
            return;
        }

        if (Held.WaitsFor is not null)
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

    public static string WordsOf(in ZmpFault fault)
    {
        ZmpErrorCode code = fault.Origin == ZmpFaultOrigin.Received ? fault.PeersCode : fault.Code;
        return $"code {(int)code:X2}, {fault.Reason}{(fault.PeersWords is { } said ? $"; the peer says {EndpointError.Quote(said)}" : "")}";
    }

    /// <summary>Any thread.</summary>
    public void Displace() => Connection.RequestClose(DisconnectReason.TakenOver, CloseMode.Orderly);

    private void RetryPlace()
    {
        Held.WaitsFor = null;
        if (!_socket.Sessions.OnReady(this, Held.Peer!) || Held.WaitsFor is not null)
        {
            return;
        }

        Held.Peer = null;
        BeginTraffic();
        if (Held.TakeStoredAnswers() is { } answers)
        {
            SendControl(answers);
        }

        if (_link.Lane.EndHold())
        {
            _socket.Announce(_link.Lane, messages: 1);
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
            _socket.Events.Unconfirmed(this, messages);
        }
    }
}
