using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Stream;

/// <summary>The STREAM wire: a 32-bit big-endian length, then that many bytes (docs/protocol.md section 1).</summary>
internal static class StreamFraming
{
    public const int HeaderSize = 4;

    /// <summary>8 MiB, as the native core's default on all transports except tcp (docs/protocol.md section 2).</summary>
    public const long DefaultMaxMessageSize = 8 * 1024 * 1024;

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

/// <summary>A message is one frame.</summary>
internal sealed class StreamFormat : FrameFormat
{
    public static readonly StreamFormat Instance = new();

    private StreamFormat()
        : base(StreamFraming.HeaderSize)
    {
    }

    public override void WriteHeader(Span<byte> destination, int length, bool more) => StreamFraming.WriteHeader(destination, length);

    public override int ReadLength(ReadOnlySpan<byte> frame, out bool more)
    {
        more = false;
        return StreamFraming.ReadLength(frame);
    }
}
