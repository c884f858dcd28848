using System.Buffers.Binary;
using System.Text;

namespace Net.Zlink.Protocol.Stream;

/// <summary>The STREAM wire: a 32-bit big-endian length, then that many bytes (docs/protocol.md section 1).</summary>
internal static class StreamFraming
{
    public const int HeaderSize = 4;

    /// <summary>8 MiB, as the native core's default on all transports except tcp (docs/protocol.md section 2).</summary>
    public const long DefaultMaxMessageSize = 8 * 1024 * 1024;

    /// <summary>A message is one frame.</summary>
    public static readonly FrameFormat Format = new(HeaderSize);

    /// <summary>With its header it fits a .NET array.</summary>
    public static readonly long LargestPayload = Array.MaxLength - HeaderSize;

    public static void WriteHeader(Span<byte> destination, int payloadLength) =>
        BinaryPrimitives.WriteUInt32BigEndian(destination, (uint)payloadLength);

    public static void WriteFrame(Span<byte> destination, ReadOnlySpan<byte> payload)
    {
        WriteHeader(destination, payload.Length);
        payload.CopyTo(destination[HeaderSize..]);
    }

    public static int ReadLength(ReadOnlySpan<byte> frame) => (int)BinaryPrimitives.ReadUInt32BigEndian(frame);

    /// <summary>Negative: the default.</summary>
    public static long EffectiveLimit(long maxMessageSize) =>
        maxMessageSize < 0 ? DefaultMaxMessageSize : Math.Min(maxMessageSize, LargestPayload);

    public static FrameScan Scan(ReadOnlySpan<byte> bytes, long limit)
    {
        int position = 0;
        int frames = 0;
        while (bytes.Length - position >= HeaderSize)
        {
            uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes[position..]);
            if (length > limit)
            {
                return new FrameScan(position, frames, 0, IsBroken: true, length);
            }

            // The limit is below Array.MaxLength, so the sum fits an int.
            int total = HeaderSize + (int)length;
            if (bytes.Length - position < total)
            {
                return new FrameScan(position, frames, total, IsBroken: false, length);
            }

            position += total;
            frames++;
        }

        return new FrameScan(position, frames, 0, IsBroken: false, 0);
    }
}

/// <summary>What of some bytes are whole frames. Broken: the frame behind them is longer than the limit.</summary>
internal readonly record struct FrameScan(int Consumed, int Frames, int NextFrameSize, bool IsBroken, uint Announced);

/// <summary>A sender that omits the length announces the message's first four bytes: as text, 500 MiB and more.</summary>
internal readonly struct TooLongFrame(uint announced, long limit, bool isMessage)
{
    public string Kind => IsText ? "text instead of a length" : "a frame over MaxMessageSize";

    public string Sentence => $"a frame of {announced} bytes was announced; MaxMessageSize is {limit}{Hint}";

    /// <summary>For the peer: at most 123 bytes, the limit of a WebSocket CLOSE.</summary>
    public string CloseReason =>
        $"frame of {announced} bytes, MaxMessageSize is {limit}{(IsText ? "; does the client send the length before each message?" : "")}";

    private string Hint
    {
        get
        {
            string? foreign = isMessage ? null : ProtocolSniffer.Of(Bytes);
            if (!IsText)
            {
                return foreign is null ? "" : $"; {foreign}";
            }

            string seen = $"; the four bytes are the text \"{Encoding.ASCII.GetString(Bytes)}\"";
            return isMessage
                ? $"{seen}: does the client send the length before each message?"
                : $"{seen}: {foreign ?? "it looks like text without a length before it"}";
        }
    }

    private bool IsText => !Bytes.ContainsAnyExceptInRange((byte)' ', (byte)'~');

    private byte[] Bytes
    {
        get
        {
            byte[] bytes = new byte[sizeof(uint)];
            BinaryPrimitives.WriteUInt32BigEndian(bytes, announced);
            return bytes;
        }
    }
}
