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

    /// <summary>Ours: another connection has taken this one's routing id over. Not 06 or 7F, so that a connecter gives up instead of taking the id back, for ever.</summary>
    RoutingIdTakenOver = 0x10,
    Internal = 0x7F,
}

/// <summary>Where a fault comes from, which decides what the application is told.</summary>
internal enum ZmpFaultOrigin : byte
{
    /// <summary>The peer broke the protocol.</summary>
    Violation,

    /// <summary>The peer's HELLO, of a correct length, has a wrong magic, version, reserved byte or flags: the monitor gets HANDSHAKE_FAILED_PROTOCOL.</summary>
    HelloHeader,

    /// <summary>The peer was silent for too long.</summary>
    Timeout,

    /// <summary>The peer sent an ERROR: the fault is our answer to it.</summary>
    Received,

    /// <summary>This side has no use for the connection any more; the peer did nothing wrong.</summary>
    OwnDecision,
}

/// <summary>Why a connection ends with an ERROR frame: its code, its reason text, and where it comes from. Code and text are those of docs/protocol.md section 13.</summary>
/// <param name="Code">What the peer goes by.</param>
/// <param name="Text">What the frame says to people; ASCII, at most 255 characters.</param>
/// <param name="Origin">Where it comes from.</param>
/// <param name="PeersWords">What the peer's ERROR gave as its reason: any bytes, to be escaped where they are shown. Null: nothing.</param>
/// <param name="PeersCode">The code of the peer's ERROR, which is not always that of the answer.</param>
/// <param name="Facts">What this side knows besides, for its own people: it is not sent.</param>
internal readonly record struct ZmpFault(
    ZmpErrorCode Code, string Text, ZmpFaultOrigin Origin = ZmpFaultOrigin.Violation, string? PeersWords = null, ZmpErrorCode PeersCode = ZmpErrorCode.None, string? Facts = null)
{
    public static ZmpFault InvalidMagic => new(ZmpErrorCode.InvalidMagic, "invalid magic");

    public static ZmpFault VersionMismatch => new(ZmpErrorCode.VersionMismatch, "version mismatch");

    public static ZmpFault FlagsInvalid => new(ZmpErrorCode.FlagsInvalid, "flags invalid");

    public static ZmpFault BodyTooLarge => new(ZmpErrorCode.BodyTooLarge, "body too large");

    /// <summary>A subscriber holds more topics than the publisher's <c>ReceiveByteLimit</c> pays for. 7F: the limit may be another one when it comes again.</summary>
    public static ZmpFault TooManyTopics => Other("too many topics: the publisher's ReceiveByteLimit allows no more");

    public static ZmpFault HelloTooLarge => new(ZmpErrorCode.BodyTooLarge, "hello too large");

    public static ZmpFault SocketTypeMismatch => new(ZmpErrorCode.SocketTypeMismatch, "socket type mismatch");

    /// <summary>The same, found in a HELLO with the type of a peer that <paramref name="own"/> does not talk to: any byte.</summary>
    public static ZmpFault TypesDoNotTalk(ZmpSocketType own, byte peer) =>
        SocketTypeMismatch with { Facts = $"this side is {own.Name}, the peer {ZmpSocketTypeExtensions.NameOf(peer)}; {own.Name} talks to {own.Partners}" };

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

    /// <summary>The ttl that the peer announced has run out. One that does not answer a heartbeat in time is told nothing (docs/protocol.md section 15.4).</summary>
    public static ZmpFault HeartbeatTimeout => new(ZmpErrorCode.Internal, StandardText(ZmpErrorCode.Internal), ZmpFaultOrigin.Timeout);

    /// <summary>A ROUTER has given the routing id of this connection to a newer one.</summary>
    public static ZmpFault RoutingIdTakenOver => new(ZmpErrorCode.RoutingIdTakenOver, "routing id taken over", ZmpFaultOrigin.OwnDecision);

    /// <summary>For people on this side.</summary>
    public string Reason => Facts is null ? Text : $"{Text}: {Facts}";

    /// <summary>The peer was silent for too long.</summary>
    public bool IsTimeout => Origin == ZmpFaultOrigin.Timeout;

    /// <summary>Whether a side that connected tries again: after a timeout, its own or one that the peer tells of (06, 7F); after anything else the same would happen again.</summary>
    public bool ConnecterTriesAgain => IsTimeout || (Origin == ZmpFaultOrigin.Received && PeersCode is (ZmpErrorCode.HandshakeTimeout or ZmpErrorCode.Internal));

    /// <summary>The monitor gets HANDSHAKE_FAILED_PROTOCOL before DISCONNECTED.</summary>
    public bool FailsHandshakeAsProtocol => Origin == ZmpFaultOrigin.HelloHeader;

    /// <summary>The answer to a received ERROR: its code (00, which says nothing, becomes 7F) with the standard text for it.</summary>
    public static ZmpFault AnswerTo(ZmpErrorCode received, ReadOnlySpan<byte> reason = default)
    {
        ZmpErrorCode code = received == ZmpErrorCode.None ? ZmpErrorCode.Internal : received;
        string standard = StandardText(code);
        string words = Encoding.Latin1.GetString(reason);
        return new ZmpFault(code, standard, ZmpFaultOrigin.Received, words.Length == 0 || string.Equals(words, standard, StringComparison.Ordinal) ? null : words, received);
    }

    /// <summary>This fault, found in the header of the peer's HELLO.</summary>
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
