using System.Text;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>The code of an ERROR frame (docs/protocol.md section 13). A received one may be any byte.</summary>
internal enum ZmpErrorCode : byte
{
    None = 0x00,
    InvalidMagic = 0x01,
    VersionMismatch = 0x02,
    FlagsInvalid = 0x03,
    BodyTooLarge = 0x04,
    SocketTypeMismatch = 0x05,
    HandshakeTimeout = 0x06,

    /// <summary>
    /// Not in the native core: a newer connection has this routing id. Not 06 or 7F, so that a dialer gives up instead of taking the id
    /// back repeatedly.
    /// </summary>
    RoutingIdTakenOver = 0x10,
    Internal = 0x7F,
}

internal enum ZmpFaultOrigin : byte
{
    Violation,

    /// <summary>
    /// A HELLO of correct length with wrong magic, version, reserved byte or flags: the monitor gets HANDSHAKE_FAILED_PROTOCOL.
    /// </summary>
    HelloHeader,

    Timeout,

    Received,
}

internal readonly record struct ZmpFault(
        ZmpErrorCode Code,
        string Text,
        ZmpFaultOrigin Origin = ZmpFaultOrigin.Violation,
        string? PeersWords = null,
        ZmpErrorCode PeersCode = ZmpErrorCode.None,
        string? Facts = null)
{
    public static ZmpFault InvalidMagic => new(ZmpErrorCode.InvalidMagic, "invalid magic");

    public static ZmpFault VersionMismatch => new(ZmpErrorCode.VersionMismatch, "version mismatch");

    public static ZmpFault FlagsInvalid => new(ZmpErrorCode.FlagsInvalid, "flags invalid");

    public static ZmpFault BodyTooLarge => new(ZmpErrorCode.BodyTooLarge, "body too large");

    /// <summary>
    /// A subscriber's topics exceed the publisher's <c>ReceiveByteLimit</c>. 7F, since the limit may differ when it reconnects.
    /// </summary>
    public static ZmpFault TooManyTopics => Other("too many topics: the publisher's ReceiveByteLimit allows no more");

    public static ZmpFault HelloTooLarge => new(ZmpErrorCode.BodyTooLarge, "hello too large");

    public static ZmpFault SocketTypeMismatch => new(ZmpErrorCode.SocketTypeMismatch, "socket type mismatch");

    public static ZmpFault IncompatibleTypes(ZmpSocketType own, byte peer) =>
        SocketTypeMismatch with
        {
            Facts = $"this side is {own.Name}, the peer {ZmpSocketTypeExtensions.NameOf(peer)}; {own.Name} is compatible with "
                + $"{own.Partners}",
        };

    public static ZmpFault HandshakeTimeout => new(ZmpErrorCode.HandshakeTimeout, "handshake timeout", ZmpFaultOrigin.Timeout);

    public static ZmpFault HelloTooShort => Other("hello too short");

    public static ZmpFault MissingHello => Other("missing hello");

    public static ZmpFault HelloIdentityMismatch => Other("hello identity mismatch");

    public static ZmpFault DataBeforeReady => Other("data before ready");

    public static ZmpFault DuplicateReady => Other("duplicate ready");

    public static ZmpFault ReadyMetadataInvalid => Other("ready metadata invalid");

    public static ZmpFault UnknownControl => Other("unknown control");

    public static ZmpFault HeartbeatTooShort => Other("heartbeat too short");

    public static ZmpFault HeartbeatContextTooLong => Other("heartbeat ctx too long");

    public static ZmpFault HeartbeatLengthMismatch => Other("heartbeat length mismatch");

    public static ZmpFault HeartbeatAckTooShort => Other("heartbeat ack too short");

    public static ZmpFault HeartbeatAckInvalid => Other("heartbeat ack invalid");

    public static ZmpFault ErrorFrameTooShort => Other("error frame too short");

    public static ZmpFault ErrorFrameInvalid => Other("error frame invalid");

    /// <summary>The peer's ttl ran out. A peer that does not reply to a heartbeat gets no ERROR (docs/protocol.md section 15.4).</summary>
    public static ZmpFault HeartbeatTimeout => new(ZmpErrorCode.Internal, StandardText(ZmpErrorCode.Internal), ZmpFaultOrigin.Timeout);

    public static ZmpFault RoutingIdTakenOver => new(ZmpErrorCode.RoutingIdTakenOver, "routing id taken over");

    public string Reason => Facts is null ? Text : $"{Text}: {Facts}";

    public bool IsTimeout => Origin == ZmpFaultOrigin.Timeout;

    /// <summary>A dialer reconnects after a timeout, its own or the peer's (06, 7F). Other faults would recur.</summary>
    public bool ConnecterTriesAgain =>
        IsTimeout || (Origin == ZmpFaultOrigin.Received && PeersCode is (ZmpErrorCode.HandshakeTimeout or ZmpErrorCode.Internal));

    public bool FailsHandshakeAsProtocol => Origin == ZmpFaultOrigin.HelloHeader;

    /// <summary>The reply to an ERROR has its code and the standard text; 00 becomes 7F.</summary>
    public static ZmpFault AnswerTo(ZmpErrorCode received, ReadOnlySpan<byte> reason = default)
    {
        ZmpErrorCode code = received == ZmpErrorCode.None ? ZmpErrorCode.Internal : received;
        string standard = StandardText(code);
        string words = Encoding.Latin1.GetString(reason);
        bool hasWords = words.Length > 0 && !string.Equals(words, standard, StringComparison.Ordinal);
        return new ZmpFault(code, standard, ZmpFaultOrigin.Received, hasWords ? words : null, received);
    }

    public ZmpFault InHello() => this with { Origin = ZmpFaultOrigin.HelloHeader };

    private static ZmpFault Other(string text) => new(ZmpErrorCode.Internal, text);

    private static string StandardText(ZmpErrorCode code) => code switch
    {
        ZmpErrorCode.InvalidMagic => InvalidMagic.Text,
        ZmpErrorCode.VersionMismatch => VersionMismatch.Text,
        ZmpErrorCode.FlagsInvalid => FlagsInvalid.Text,
        ZmpErrorCode.BodyTooLarge => BodyTooLarge.Text,
        ZmpErrorCode.SocketTypeMismatch => SocketTypeMismatch.Text,
        ZmpErrorCode.HandshakeTimeout => HandshakeTimeout.Text,
        ZmpErrorCode.RoutingIdTakenOver => RoutingIdTakenOver.Text,
        ZmpErrorCode.Internal => "internal error",
        _ => "unknown error",
    };
}

/// <summary>ERROR: 05, code, reason length, reason. A side's last frame (docs/protocol.md sections 8 and 13).</summary>
internal static class ZmpErrorFrame
{
    public const int LargestFrame = ZmpFrame.HeaderSize + FixedBody + byte.MaxValue;

    private const int FixedBody = 3;

    public static int Write(Span<byte> destination, ZmpFault fault)
    {
        int bodyLength = FixedBody + fault.Text.Length;
        Span<byte> body = ZmpControl.Begin(destination, ZmpControl.Error, bodyLength);
        body[1] = (byte)fault.Code;
        body[2] = checked((byte)fault.Text.Length);
        Encoding.ASCII.GetBytes(fault.Text, body[FixedBody..]);
        return ZmpFrame.HeaderSize + bodyLength;
    }

    /// <summary>What a received one ends the connection with. The reason is the peer's text: decide by the code.</summary>
    public static ZmpFault FaultOf(ReadOnlySpan<byte> body) => body.Length switch
    {
        < FixedBody => ZmpFault.ErrorFrameTooShort,
        _ when body.Length < FixedBody + body[2] => ZmpFault.ErrorFrameInvalid,
        _ => ZmpFault.AnswerTo((ZmpErrorCode)body[1], body.Slice(FixedBody, body[2])),
    };
}
