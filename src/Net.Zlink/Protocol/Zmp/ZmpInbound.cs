using System.Runtime.CompilerServices;

namespace Net.Zlink.Protocol.Zmp;

internal enum ZmpInboundKind : byte
{
    /// <summary>The bytes end before the frame does.</summary>
    Incomplete,

    Fault,

    HelloAccepted,

    ReadyAccepted,

    Data,

    Subscribe,

    Cancel,

    /// <summary>The header of a topic over the limit, which breaks nothing. Its body follows in pieces.</summary>
    LongTopic,

    /// <summary>Drop just these bytes: they neither end nor begin a message.</summary>
    ToDrop,

    Heartbeat,

    HeartbeatAck,
}

/// <summary>
/// Finds a connection's frames, checks each header once it is complete, and the order of frames: HELLO, READY, then all others
/// (docs/protocol.md sections 7 and 9). Bytes of an incomplete frame must be passed again, before the next ones. After a fault, pass no
/// more. <paramref name="skipsLongTopics"/>: a topic over the limit is no fault.
/// </summary>
internal struct ZmpInbound(ZmpSocketType ownType, long maxMessageSize, bool skipsLongTopics = false)
{
    /// <summary>
    /// The largest body of a control frame, and of any frame before READY. Properties beyond 16 KiB are not kept. Without this limit eight
    /// peers that never finished a READY held 4 GB.
    /// </summary>
    public const int LargestControlBody = 64 * 1024;

    private readonly long _limit = ZmpFrame.EffectiveLimit(maxMessageSize);
    private Stage _stage;
    private uint _toSkip;

    private enum Stage : byte
    {
        AwaitingHello,
        AwaitingReady,
        Open,
    }

    public readonly bool HasHello => _stage != Stage.AwaitingHello;

    /// <summary>Why the last call said <see cref="ZmpInboundKind.Fault"/>.</summary>
    public ZmpFault Fault { get; private set; }

    /// <summary>Parses the first frame. <paramref name="size"/>: With its header; 0: not known yet.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public ZmpInboundKind Next(ReadOnlySpan<byte> bytes, out ZmpFlags flags, out int size)
    {
        if (_stage == Stage.Open && _toSkip == 0 && bytes.Length >= ZmpFrame.HeaderSize
            && ZmpFrame.TryReadHeader(bytes, out flags, out uint length) && flags <= ZmpFlags.More
            && length <= _limit && length <= bytes.Length - ZmpFrame.HeaderSize)
        {
            size = ZmpFrame.HeaderSize + (int)length;
            return ZmpInboundKind.Data;
        }

        return NextOther(bytes, out flags, out size);
    }

    private ZmpInboundKind NextOther(ReadOnlySpan<byte> bytes, out ZmpFlags flags, out int size)
    {
        flags = default;
        size = (int)Math.Min(_toSkip, (uint)bytes.Length);
        _toSkip -= (uint)size;
        if (size > 0)
        {
            return ZmpInboundKind.ToDrop;
        }

        if (bytes.Length < ZmpFrame.HeaderSize)
        {
            return ZmpInboundKind.Incomplete;
        }

        bool isLegal = ZmpFrame.TryReadHeader(bytes, out flags, out uint length);
        ZmpFault? fault = HasHello ? FaultOfHeader(bytes, isLegal, flags, length) : FaultOfHelloLength(length);
        if (fault is null && length > _limit && HasHello)
        {
            size = ZmpFrame.HeaderSize;
            _toSkip = length;
            return ZmpInboundKind.LongTopic;
        }

        ZmpInboundKind kind = ZmpInboundKind.Incomplete;
        if (fault is null)
        {
            size = ZmpFrame.HeaderSize + (int)length;
            if (bytes.Length < size)
            {
                return kind;
            }

            ReadOnlySpan<byte> body = bytes[ZmpFrame.HeaderSize..size];
            kind = HasHello ? Parse(flags, body, out fault) : ParseHello(bytes, isLegal, flags, body, out fault);
        }

        Fault = fault.GetValueOrDefault();
        return fault is null ? kind : ZmpInboundKind.Fault;
    }

    private readonly ZmpFault? FaultOfHeader(ReadOnlySpan<byte> bytes, bool isLegal, ZmpFlags flags, uint length)
    {
        if (!isLegal)
        {
            return ZmpFrame.FaultOf(bytes);
        }

        bool isSkipped = skipsLongTopics && _stage == Stage.Open && flags is ZmpFlags.Subscribe or ZmpFlags.Cancel;
        bool isTooLarge = length > _limit || (length > LargestControlBody && (flags == ZmpFlags.Control || _stage != Stage.Open));
        return isTooLarge && !isSkipped ? ZmpFault.BodyTooLarge : null;
    }

    // HELLO's length is checked first, the rest of its header with the whole frame: the fault for another protocol depends on its bytes 4
    // to 7.
    private static ZmpFault? FaultOfHelloLength(uint length) => length switch
    {
        < ZmpHello.SmallestBody => ZmpFault.HelloTooShort,
        > ZmpHello.LargestBody => ZmpFault.HelloTooLarge,
        _ => null,
    };

    private ZmpInboundKind ParseHello(ReadOnlySpan<byte> bytes, bool isLegal, ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault? fault)
    {
        if (!isLegal || flags != ZmpFlags.Control)
        {
            fault = (isLegal ? ZmpFault.FlagsInvalid : ZmpFrame.FaultOf(bytes)).InHello();
            return ZmpInboundKind.Fault;
        }

        fault = ZmpHello.FaultOf(body, ownType);
        _stage = Stage.AwaitingReady;
        return ZmpInboundKind.HelloAccepted;
    }

    private ZmpInboundKind Parse(ZmpFlags flags, ReadOnlySpan<byte> body, out ZmpFault? fault)
    {
        fault = null;
        switch (flags)
        {
            case ZmpFlags.Control:
                return ParseControl(body, out fault);
            case var _ when _stage != Stage.Open:
                fault = ZmpFault.DataBeforeReady;
                return ZmpInboundKind.Fault;
            case ZmpFlags.Subscribe:
                return ZmpInboundKind.Subscribe;
            case ZmpFlags.Cancel:
                return ZmpInboundKind.Cancel;
            case ZmpFlags.Identity or (ZmpFlags.Identity | ZmpFlags.More):
                return ZmpInboundKind.ToDrop;
            default:
                return ZmpInboundKind.Data;
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
