using System.Runtime.CompilerServices;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>What a received frame is to the connection.</summary>
internal enum ZmpInboundKind : byte
{
    /// <summary>The frame may not be here, or is malformed, or is an ERROR: answer with the fault and close.</summary>
    Fault,

    /// <summary>The peer's HELLO: see <see cref="ZmpInbound.PeerType"/> and <see cref="ZmpHello.RoutingIdOf"/>.</summary>
    HelloAccepted,

    /// <summary>The peer's READY, well formed: the handshake is complete. See <see cref="ZmpReady.PropertiesOf"/>.</summary>
    ReadyAccepted,

    /// <summary>A part of a message; <see cref="ZmpFlags.More"/> says whether it is the last.</summary>
    Data,

    /// <summary>The body is a topic to subscribe to.</summary>
    Subscribe,

    /// <summary>The body is a topic to unsubscribe from.</summary>
    Cancel,

    /// <summary>An identity frame: drop it, alone, with or without MORE; it neither ends nor begins a message.</summary>
    IdentityToDrop,

    /// <summary>A HEARTBEAT, well formed: see <see cref="ZmpHeartbeat.Read"/>, and answer it.</summary>
    Heartbeat,

    /// <summary>A HEARTBEAT of the single byte 02, which is not answered. It has no ttl.</summary>
    HeartbeatWithoutAnswer,

    /// <summary>A HEARTBEAT_ACK, well formed: that it came is all it says.</summary>
    HeartbeatAck,
}

/// <summary>The order of frames that a peer must keep: HELLO, then READY, then everything else (docs/protocol.md section 9). One per connection.</summary>
/// <remarks>Given every whole frame in order of arrival. After a fault the connection is over: give it no more.</remarks>
internal struct ZmpInbound(ZmpSocketType ownType)
{
    private readonly ZmpSocketType _ownType = ownType;

    private enum Stage : byte
    {
        AwaitingHello,
        AwaitingReady,
        Open,
    }

    private Stage _stage;

    /// <summary>The peer's socket type, once its HELLO was accepted.</summary>
    public ZmpSocketType PeerType { get; private set; }

    /// <summary>True from the peer's READY on.</summary>
    public readonly bool IsOpen => _stage == Stage.Open;

    /// <summary>True from the peer's HELLO on.</summary>
    public readonly bool HasHello => _stage != Stage.AwaitingHello;

    /// <summary>Takes one whole frame whose flags are legal.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ZmpInboundKind Parse(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        if (_stage == Stage.Open && flags <= ZmpFlags.More)
        {
            fault = default;
            return ZmpInboundKind.Data;
        }

        return ParseOther(flags, body, out fault);
    }

    private ZmpInboundKind ParseOther(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        if (_stage == Stage.AwaitingHello)
        {
            return ParseHello(flags, body, out fault);
        }

        if (flags == ZmpFlags.Control)
        {
            return ParseControl(body, out fault);
        }

        if (_stage == Stage.AwaitingReady)
        {
            fault = ZmpFault.DataBeforeReady;
            return ZmpInboundKind.Fault;
        }

        fault = default;
        switch (flags)
        {
            case ZmpFlags.Subscribe:
                return ZmpInboundKind.Subscribe;
            case ZmpFlags.Cancel:
                return ZmpInboundKind.Cancel;
            case ZmpFlags.Identity or (ZmpFlags.Identity | ZmpFlags.More):
                return ZmpInboundKind.IdentityToDrop;
            default:
                fault = ZmpFault.FlagsInvalid;
                return ZmpInboundKind.Fault;
        }
    }

    private ZmpInboundKind ParseHello(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        if (flags != ZmpFlags.Control)
        {
            fault = ZmpFault.FlagsInvalid.InHello();
            return ZmpInboundKind.Fault;
        }

        if (!ZmpHello.TryParse(body, _ownType, out ZmpSocketType peerType, out _, out fault))
        {
            return ZmpInboundKind.Fault;
        }

        PeerType = peerType;
        _stage = Stage.AwaitingReady;
        return ZmpInboundKind.HelloAccepted;
    }

    private ZmpInboundKind ParseControl(ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        // A control frame without a body has no type; the native core stumbles over it, we take it for an unknown one.
        switch (body.IsEmpty ? (byte)0 : body[0])
        {
            case ZmpControl.Ready:
                return ParseReady(body, out fault);
            case ZmpControl.Heartbeat:
                return !ZmpHeartbeat.TryParse(body, out ZmpHeartbeat heartbeat, out fault) ? ZmpInboundKind.Fault
                    : heartbeat.IsToBeAnswered ? ZmpInboundKind.Heartbeat : ZmpInboundKind.HeartbeatWithoutAnswer;
            case ZmpControl.HeartbeatAck:
                return ZmpHeartbeatAck.TryParse(body, out _, out fault) ? ZmpInboundKind.HeartbeatAck : ZmpInboundKind.Fault;
            case ZmpControl.Error:
                if (ZmpErrorFrame.TryParse(body, out ZmpErrorCode code, out ReadOnlySpan<byte> reason, out fault))
                {
                    fault = ZmpFault.AnswerTo(code, reason);
                }

                return ZmpInboundKind.Fault;
            default:
                // A second HELLO too.
                fault = ZmpFault.UnknownControl;
                return ZmpInboundKind.Fault;
        }
    }

    private ZmpInboundKind ParseReady(ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        if (_stage == Stage.Open)
        {
            fault = ZmpFault.DuplicateReady;
            return ZmpInboundKind.Fault;
        }

        if (!ZmpReady.IsWellFormed(body))
        {
            fault = ZmpFault.ReadyMetadataInvalid;
            return ZmpInboundKind.Fault;
        }

        fault = default;
        _stage = Stage.Open;
        return ZmpInboundKind.ReadyAccepted;
    }
}
