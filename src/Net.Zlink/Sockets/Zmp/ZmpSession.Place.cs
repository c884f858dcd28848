using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <content>How a session gets its place, or loses it: to silence, to a fault, to another peer.</content>
internal sealed partial class ZmpSession
{
    /// <summary>The peer's place is wanted by another one, and this one is there.</summary>
    public void OnPlaceAnswered() => _socket.Claims.OnAnswered(_pipe);

    /// <summary>As the other, and this one is silent.</summary>
    public void OnPlaceSilent(string detail)
    {
        if (_socket.Claims.IsToLeave(_pipe))
        {
            EndSilence(detail);
        }
    }

    public void OnPosted(Connection connection)
    {
        if (!connection.IsOpen)
        {
            return;
        }

        if (Held.WaitsFor is not null)
        {
            ComeAgain();
            return;
        }

        if (_confirmation.IsToAsk(_pipe))
        {
            Heartbeats().SendQuestion();
        }

        if (_pipe.IsAsked)
        {
            Heartbeats().AskForPlace();
        }
    }

    /// <summary>The peer is silent for longer than it allowed itself.</summary>
    /// <remarks>A heartbeat that came before READY has a ttl, too: then it is the handshake that takes too long, and is told so.</remarks>
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

    /// <summary>The peer is silent for longer than this side bears: the end, without an ERROR, behind which a native peer that comes to itself would never connect again (docs/protocol.md section 15.4).</summary>
    public void EndSilence(string detail)
    {
        if (Connection.IsLingering)
        {
            Connection.LoseSilent();
            return;
        }

        _pipe.Queue.Hold(); // Nothing more goes to somebody who may not read it.
        Connection.Close(DisconnectReason.HeartbeatTimeout, CloseMode.Orderly, detail);
    }

    /// <summary>Ends the connection with an ERROR frame, written where the frame under way ends, and nothing behind it.</summary>
    public void Fail(in ZmpFault fault, DisconnectReason reason = DisconnectReason.ProtocolError, string? detail = null)
    {
        if (!Connection.IsOpen)
        {
            return;
        }

        Fault = fault;
        WriteError(fault);
        string whose = fault.Origin == ZmpFaultOrigin.Received ? "the peer sent an ERROR" : "protocol fault";
        Connection.Close(reason, CloseMode.Orderly, detail ?? $"{whose}: {WordsOf(fault)}{Foreign}");
    }

    /// <summary>A fault's code and reason, of an ERROR those of the peer's, and what the peer said besides.</summary>
    public static string WordsOf(in ZmpFault fault)
    {
        ZmpErrorCode code = fault.Origin == ZmpFaultOrigin.Received ? fault.PeersCode : fault.Code;
        return $"code {(int)code:X2}, {fault.Reason}{(fault.PeersWords is { } said ? $"; it says {EndpointError.Quote(said)}" : "")}";
    }

    /// <summary>Ends the connection because another peer took over the routing id. Any thread.</summary>
    public void Evict() => Connection.RequestClose(DisconnectReason.TakenOver, CloseMode.Orderly);

    /// <summary>Whose place this one waits for has left it.</summary>
    private void ComeAgain()
    {
        Held.WaitsFor = null;
        if (!_socket.Sessions.OnReady(this, Held.Peer!) || Held.WaitsFor is not null)
        {
            return; // It is turned away; or another one was quicker, and is asked now.
        }

        Held.Peer = null;
        BeginTraffic();
        if (Held.TakeOwed() is { } owed)
        {
            SendControl(owed);
        }

        _pipe.Lane.IsHeld = false;
        if (_pipe.Lane.Counts.QueuedMessages is var messages and > 0)
        {
            _socket.Announce(_pipe.Lane, (int)messages);
        }

        Connection.Resume();
    }

    private void SettleUnconfirmed()
    {
        if (_isUnconfirmed && _confirmation.Settle(_pipe) is var messages and > 0)
        {
            _socket.Events.Unconfirmed(this, messages);
        }
    }
}
