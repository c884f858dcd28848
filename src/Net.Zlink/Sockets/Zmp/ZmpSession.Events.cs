using System.Globalization;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Sockets.Zmp;

/// <content>What a session reports to monitors, counters and the log. Outside of all locks.</content>
internal sealed partial class ZmpSession
{
    private string OtherProtocolText => _foreign is not null && Fault is not { PeersWords: not null } ? $"; {_foreign}" : "";

    private (string Local, string Remote) Ends => IsActive
        ? (Connection.Wire.LocalText(Endpoint), Endpoint.ToString())
        : (Connection.Wire.LocalTextOfAccepted(Endpoint), Connection.Wire.RemoteText(Endpoint));

    /// <summary>A name that the application gave counts from the first attempt on: before READY the peer could announce
    /// another's.</summary>
    private ReadOnlyMemory<byte> NameOfPeer => _link.Alias ?? (_isReady ? _link.Peer.RoutingId : _peerRoutingId);

    private HandshakeFailure CauseOfFailure => Fault switch
    {
        null => HandshakeFailure.Lost,
        { Origin: ZmpFaultOrigin.Received } => HandshakeFailure.ErrorReceived,
        { IsTimeout: true } => HandshakeFailure.TimedOut,
        { Code: ZmpErrorCode.SocketTypeMismatch } => HandshakeFailure.TypeMismatch,
        _ => HandshakeFailure.Malformed,
    };

    private static string WordsOf(in ZmpFault fault)
    {
        ZmpErrorCode code = fault.Origin == ZmpFaultOrigin.Received ? fault.PeersCode : fault.Code;
        return $"code {(int)code:X2}, {fault.Reason}{(fault.PeersWords is { } said ? $"; the peer says {EndpointError.Quote(said)}" : "")}";
    }

    private static string WhyNoFurther(string other, in ZmpFault fault, bool always)
    {
        string what = fault.Origin != ZmpFaultOrigin.Received ? $"the peer broke the protocol: {fault.Reason}"
            : $"the peer answered with an ERROR, {WordsOf(fault)}";
        return $"{what}{other}{(always ? "" : "; ReconnectAfterFault would retry it")}";
    }

    private void Publish(SocketEventTypes type, long value, string? detail)
    {
        if (!_socket.Monitors.IsEmpty)
        {
            (string local, string remote) = Ends;

            // As in the native core: the announced id, whatever alias is used; and for a loss only on the connecting side.
            bool names = type == SocketEventTypes.ConnectionReady || (type == SocketEventTypes.Disconnected && IsActive && _isReady);
            _socket.Monitors.Publish(new SocketEvent(type, value, names ? _peerRoutingId : [], local, remote, 0, detail)
            {
                PeerRoutingId = NameOfPeer,
            });
        }
    }

    private void PublishRefusal(string why)
    {
        Interlocked.Increment(ref _socket.Counters.Refused);
        Publish(SocketEventTypes.ConnectionRefused, 0, why);
        _socket.Host.Warnings.ConnectionRefused(Endpoint, why);
    }

    private void PublishEnd()
    {
        bool isOurWish = EndReason is DisconnectReason.Local or DisconnectReason.ContextTerminated;
        if (!_isReady)
        {
            PublishFailure(isOurWish);
        }

        if (!isOurWish)
        {
            Publish(SocketEventTypes.Disconnected, (long)EndReason, EndDetail);
        }

        if (EndReason is DisconnectReason.UnfinishedByteLimit or DisconnectReason.SubscriptionByteLimit)
        {
            _socket.Host.Warnings.PeerUnfinishedLimit(EndReason, Endpoint, Ends.Remote, EndDetail);
        }

        if (_socket.Host.Logger.IsEnabled(LogLevel.Debug))
        {
            Log.ConnectionLost(_socket.Host.Logger, Endpoint, Ends.Remote, PeerIdentity.NameOf(NameOfPeer.Span), EndReason, EndDetail);
        }
    }

    private void PublishFailure(bool isOurWish)
    {
        if (Fault is { FailsHandshakeAsProtocol: true } fault)
        {
            Publish(SocketEventTypes.HandshakeFailedProtocol, 0, fault.Reason);
        }
        else if (EndReason == DisconnectReason.HandshakeFailed)
        {
            Publish(SocketEventTypes.HandshakeFailedNoDetail, 0, EndDetail);
        }

        if (!isOurWish)
        {
            _socket.Counters.FailedHandshakes.Count(CauseOfFailure);
            if (!IsActive)
            {
                EndpointEvents.HandshakeFailed(_socket.Host, Endpoint, Ends.Remote, CauseOfFailure, EndDetail);
            }
        }
    }

    /// <summary>
    /// A topic over the publisher's MaxMessageSize is refused alone. The end of the connection would cost the subscriber all its other
    /// topics, and it would send the same again on the next one.
    /// </summary>
    private void RefuseTopic(ZmpFlags flags, uint length)
    {
        if (flags == ZmpFlags.Subscribe)
        {
            Publish(SocketEventTypes.SubscriptionRefused, length, string.Create(CultureInfo.InvariantCulture,
                $"a topic of {length} bytes exceeds this side's MaxMessageSize, {_settings.Connection.MessageLimit}"));
        }
    }
}
