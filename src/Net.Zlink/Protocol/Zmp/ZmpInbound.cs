using System.Runtime.CompilerServices;

namespace Net.Zlink.Protocol.Zmp;

internal enum ZmpInboundKind : byte
{
    Fault,

    HelloAccepted,

    ReadyAccepted,

    Data,

    Subscribe,

    Cancel,

    /// <summary>Drop just this frame: it neither ends nor begins a message.</summary>
    IdentityToDrop,

    Heartbeat,

    /// <summary>The single byte 02: no reply, no ttl.</summary>
    HeartbeatWithoutAnswer,

    HeartbeatAck,
}

/// <summary>
/// Checks the order of a connection's frames: HELLO, READY, then all others (docs/protocol.md section 9). After a fault, pass no more.
/// </summary>
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

    public ZmpSocketType PeerType { get; private set; }

    public readonly bool IsOpen => _stage == Stage.Open;

    public readonly bool HasHello => _stage != Stage.AwaitingHello;

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
        // A control frame without a body has no type: the native core fails on it; here it is an unknown one.
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
                // Also a second HELLO.
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
