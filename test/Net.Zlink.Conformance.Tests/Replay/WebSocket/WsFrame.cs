using System.Buffers.Binary;

namespace Net.Zlink.Conformance.Tests.Replay.WebSocket;

/// <summary>
/// One frame of RFC 6455, read and written by the book, without any code of the library or of System.Net.WebSockets.
/// <paramref name="Payload"/> is unmasked;
/// <paramref name="Size"/> is how many bytes the frame has on the wire.
/// </summary>
internal sealed record WsFrame(bool IsFinal, int Reserved, WsOpcode Opcode, bool IsMasked, byte[] Payload, int Size)
{
    public const int MaskSize = 4;

    private const int BasicHeader = 2;
    private const int ShortLength = 126;
    private const int LongLength = 127;

    public bool IsControl => ((int)Opcode & 0x8) != 0;

    /// <summary>The length was written in more bytes than it needs, which section 5.2 forbids.</summary>
    public bool IsLengthPadded { get; init; }

    /// <summary>The frame at the beginning of these bytes; null while it is not whole.</summary>
    public static WsFrame? TryRead(ReadOnlySpan<byte> bytes)
    {
        if (TryReadHeader(bytes) is not { } header || (ulong)(bytes.Length - header.Size) < header.PayloadLength)
        {
            return null;
        }

        byte[] payload = bytes.Slice(header.Size, (int)header.PayloadLength).ToArray();
        if (header.IsMasked)
        {
            Mask(payload, bytes.Slice(header.Size - MaskSize, MaskSize));
        }

        int lengthSize = header.Size - BasicHeader - (header.IsMasked ? MaskSize : 0);
        ulong smallest = lengthSize switch { 0 => 0UL, sizeof(ushort) => ShortLength, _ => ushort.MaxValue + 1UL };
        return new WsFrame((bytes[0] & 0x80) != 0, (bytes[0] >> 4) & 0x7, (WsOpcode)(bytes[0] & 0xF), header.IsMasked, payload,
            header.Size + payload.Length)
        {
            IsLengthPadded = header.PayloadLength < smallest,
        };
    }

    /// <summary>The first two bytes say how long the header is; null while it is not whole.</summary>
    public static WsHeader? TryReadHeader(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < BasicHeader)
        {
            return null;
        }

        bool masked = (bytes[1] & 0x80) != 0;
        int basic = bytes[1] & 0x7F;
        int lengthSize = basic switch { ShortLength => sizeof(ushort), LongLength => sizeof(ulong), _ => 0 };
        int size = BasicHeader + lengthSize + (masked ? MaskSize : 0);
        if (bytes.Length < size)
        {
            return null;
        }

        ulong length = lengthSize switch
        {
            0 => (ulong)basic,
            sizeof(ushort) => BinaryPrimitives.ReadUInt16BigEndian(bytes[BasicHeader..]),
            _ => BinaryPrimitives.ReadUInt64BigEndian(bytes[BasicHeader..]),
        };
        return new WsHeader(size, masked, length);
    }

    /// <summary>
    /// True for the beginning of a frame that its direction may not send: a reserved bit, or a mask, or none. It is seen when as many bytes
    /// are in as the header of a right one has: readers take the header as a whole.
    /// </summary>
    public static bool IsBreach(ReadOnlySpan<byte> bytes, bool isMasked)
    {
        if (bytes.Length < BasicHeader)
        {
            return false;
        }

        int size = BasicHeader + (bytes[1] & 0x7F) switch { ShortLength => sizeof(ushort), LongLength => sizeof(ulong), _ => 0 }
            + (isMasked ? MaskSize : 0);
        return bytes.Length >= size && ((bytes[0] & 0x70) != 0 || (bytes[1] & 0x80) != 0 != isMasked);
    }

    /// <summary>A frame as bytes; <paramref name="mask"/> is null for one that is not masked.</summary>
    public static byte[] Write(WsOpcode opcode, ReadOnlySpan<byte> payload, byte[]? mask = null, bool isFinal = true, int reserved = 0)
    {
        byte[] length = payload.Length switch
        {
            < ShortLength => [(byte)payload.Length],
            <= ushort.MaxValue => [ShortLength, (byte)(payload.Length >> 8), (byte)payload.Length],
            _ => [LongLength, 0, 0, 0, 0, (byte)(payload.Length >> 24), (byte)(payload.Length >> 16), (byte)(payload.Length >> 8),
                (byte)payload.Length],
        };
        byte[] body = payload.ToArray();
        if (mask is not null)
        {
            length[0] |= 0x80;
            Mask(body, mask);
        }

        return [(byte)((isFinal ? 0x80 : 0) | (reserved << 4) | (int)opcode), .. length, .. mask ?? [], .. body];
    }

    private static void Mask(Span<byte> payload, ReadOnlySpan<byte> mask)
    {
        for (int i = 0; i < payload.Length; i++)
        {
            payload[i] ^= mask[i % MaskSize];
        }
    }
}

/// <summary>What is known of a frame once its header is in: <paramref name="Size"/> is the header's own, the mask included.</summary>
internal readonly record struct WsHeader(int Size, bool IsMasked, ulong PayloadLength);

/// <summary>The opcodes of RFC 6455, section 5.2; any other value is one that nobody has defined.</summary>
internal enum WsOpcode
{
    Continuation = 0,
    Text = 1,
    Binary = 2,
    Close = 8,
    Ping = 9,
    Pong = 10,
}
