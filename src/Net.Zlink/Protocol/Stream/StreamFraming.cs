using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Stream;

/// <summary>The STREAM wire: a 32-bit big-endian length, then that many bytes (docs/protocol.md section 1). Pure functions over spans.</summary>
internal static class StreamFraming
{
    /// <summary>The length field is a u32.</summary>
    public const int HeaderSize = 4;

    /// <summary>The limit used when the application sets none: 8 MiB, the native core's own default on every transport but tcp (docs/protocol.md section 2).</summary>
    public const long DefaultMaxMessageSize = 8 * 1024 * 1024;

    /// <summary>The largest payload a .NET array can hold together with its header.</summary>
    public static readonly long LargestPayload = Array.MaxLength - HeaderSize;

    public static void WriteHeader(Span<byte> destination, int payloadLength) =>
        BinaryPrimitives.WriteUInt32BigEndian(destination, (uint)payloadLength);

    /// <summary>Writes one whole frame; <paramref name="destination"/> must hold <see cref="HeaderSize"/> + payload bytes.</summary>
    public static void WriteFrame(Span<byte> destination, ReadOnlySpan<byte> payload)
    {
        WriteHeader(destination, payload.Length);
        payload.CopyTo(destination[HeaderSize..]);
    }

    /// <summary>The payload length announced at the start of <paramref name="frame"/>, already known to be within the limit.</summary>
    public static int ReadLength(ReadOnlySpan<byte> frame) => (int)BinaryPrimitives.ReadUInt32BigEndian(frame);

    /// <summary>The effective limit of a MaxMessageSize option: negative means the default; nothing exceeds what an array can hold.</summary>
    public static long EffectiveLimit(long maxMessageSize) =>
        maxMessageSize < 0 ? DefaultMaxMessageSize : Math.Min(maxMessageSize, LargestPayload);

    /// <summary>Finds the whole frames at the start of <paramref name="bytes"/>.</summary>
    /// <param name="bytes">What has arrived, from a frame boundary on.</param>
    /// <param name="limit">The largest payload length to accept.</param>
    public static StreamScan Scan(ReadOnlySpan<byte> bytes, long limit)
    {
        int position = 0;
        int frames = 0;
        while (bytes.Length - position >= HeaderSize)
        {
            uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes[position..]);
            if (length > limit)
            {
                return new StreamScan(position, frames, 0, TooLarge: true, length);
            }

            // The limit is below Array.MaxLength, so the sum fits an int.
            int total = HeaderSize + (int)length;
            if (bytes.Length - position < total)
            {
                return new StreamScan(position, frames, total, TooLarge: false, length);
            }

            position += total;
            frames++;
        }

        return new StreamScan(position, frames, 0, TooLarge: false, 0);
    }
}

/// <summary>What <see cref="StreamFraming.Scan"/> found.</summary>
/// <param name="Consumed">Bytes that make up whole frames.</param>
/// <param name="Frames">Number of whole frames in them.</param>
/// <param name="NextFrameSize">Header and payload of the incomplete frame that follows; 0 while its header is incomplete.</param>
/// <param name="TooLarge">The frame that follows announces a length over the limit: the connection must close.</param>
/// <param name="AnnouncedLength">The payload length announced by the frame that follows, where its header is known.</param>
internal readonly record struct StreamScan(int Consumed, int Frames, int NextFrameSize, bool TooLarge, uint AnnouncedLength);
