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

    HeartbeatAck,
}

/// <summary>
/// Checks the order of a connection's frames: HELLO, READY, then all others (docs/protocol.md section 9). After a fault, pass no more.
/// </summary>
internal struct ZmpInbound(ZmpSocketType ownType)
{
    private Stage _stage;

    private enum Stage : byte
    {
        AwaitingHello,
        AwaitingReady,
        Open,
    }

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ZmpInboundKind Parse(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault fault)
    {
        if (_stage == Stage.Open && flags <= ZmpFlags.More)
        {
            fault = default;
            return ZmpInboundKind.Data;
        }

        ZmpInboundKind kind = ParseOther(flags, body, out ZmpFault? found);
        fault = found.GetValueOrDefault();
        return found is null ? kind : ZmpInboundKind.Fault;
    }

    private ZmpInboundKind ParseOther(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault? fault)
    {
        fault = null;
        switch (flags)
        {
            case ZmpFlags.Control when _stage == Stage.AwaitingHello:
                fault = ZmpHello.FaultOf(body, ownType);
                _stage = Stage.AwaitingReady;
                return ZmpInboundKind.HelloAccepted;
            case ZmpFlags.Control:
                return ParseControl(body, out fault);
            case var _ when _stage == Stage.AwaitingHello:
                fault = ZmpFault.FlagsInvalid.InHello();
                return ZmpInboundKind.Fault;
            case var _ when _stage == Stage.AwaitingReady:
                fault = ZmpFault.DataBeforeReady;
                return ZmpInboundKind.Fault;
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

    private ZmpInboundKind ParseControl(ReadOnlySpan<byte> body, out ZmpFault? fault)
    {
        // A control frame without a body has no type: the native core fails on it; here it is an unknown one.
        switch (body.IsEmpty ? (byte)0 : body[0])
        {
            case ZmpControl.Ready:
                fault = _stage == Stage.Open ? ZmpFault.DuplicateReady
                    : ZmpReady.IsWellFormed(body) ? null : ZmpFault.ReadyMetadataInvalid;
                _stage = Stage.Open;
                return ZmpInboundKind.ReadyAccepted;
            case ZmpControl.Heartbeat:
                fault = ZmpHeartbeat.FaultOf(body);
                return ZmpInboundKind.Heartbeat;
            case ZmpControl.HeartbeatAck:
                fault = ZmpHeartbeatAck.FaultOf(body);
                return ZmpInboundKind.HeartbeatAck;
            case ZmpControl.Error:
                fault = ZmpErrorFrame.FaultOf(body);
                return ZmpInboundKind.Fault;
            default:
                // Also a second HELLO.
                fault = ZmpFault.UnknownControl;
                return ZmpInboundKind.Fault;
        }
    }
}
