using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>
/// Finds whole frames in a connection's input, and checks each header once it is complete (docs/protocol.md sections 7 and 9).
/// </summary>
/// <remarks>
/// Remembers only whether HELLO has come, which has its own rules. Reads headers, not bodies: see <see cref="ZmpInbound"/>. Unconsumed
/// bytes must be passed again, before the next ones.
/// </remarks>
internal struct ZmpScanner
{
    private bool _helloParsed;

    /// <summary><paramref name="bytes"/> begin at a frame boundary.</summary>
    /// <remarks><paramref name="maxMessageSize"/>: the largest body except in HELLO; negative: no limit.</remarks>
    public ZmpScan Scan(ReadOnlySpan<byte> bytes, long maxMessageSize)
    {
        int position = 0;
        int frames = 0;
        if (!_helloParsed)
        {
            ZmpScan hello = ScanHello(bytes);
            if (hello.Frames == 0)
            {
                return hello;
            }

            _helloParsed = true;
            position = hello.Consumed;
            frames = 1;
        }

        long limit = ZmpFrame.EffectiveLimit(maxMessageSize);
        while (bytes.Length - position >= ZmpFrame.HeaderSize)
        {
            if (!ZmpFrame.TryReadHeader(bytes[position..], out _, out uint length, out ZmpFault fault))
            {
                return new ZmpScan(position, frames, 0, fault, length);
            }

            if (length > limit)
            {
                return new ZmpScan(position, frames, 0, ZmpFault.BodyTooLarge, length);
            }

            // The limit is at most Array.MaxLength less a header, so the sum fits an int.
            int total = ZmpFrame.HeaderSize + (int)length;
            if (bytes.Length - position < total)
            {
                return new ZmpScan(position, frames, total, null, length);
            }

            position += total;
            frames++;
        }

        return new ZmpScan(position, frames, 0, null, 0);
    }

    // HELLO's length is checked first, the rest of its header with the whole frame: the fault for another protocol depends on its bytes 4
    // to 7.
    private static ZmpScan ScanHello(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < ZmpFrame.HeaderSize)
        {
            return default;
        }

        uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes[4..]);
        if (length < ZmpHello.SmallestBody)
        {
            return new ZmpScan(0, 0, 0, ZmpFault.HelloTooShort, length);
        }

        if (length > ZmpHello.LargestBody)
        {
            return new ZmpScan(0, 0, 0, ZmpFault.HelloTooLarge, length);
        }

        int total = ZmpFrame.HeaderSize + (int)length;
        if (bytes.Length < total)
        {
            return new ZmpScan(0, 0, total, null, length);
        }

        bool good = ZmpFrame.TryReadHeader(bytes, out ZmpFlags flags, out _, out ZmpFault fault);
        if (good && flags == ZmpFlags.Control)
        {
            return new ZmpScan(total, 1, 0, null, 0);
        }

        return new ZmpScan(0, 0, 0, (good ? ZmpFault.FlagsInvalid : fault).InHello(), length);
    }
}

/// <param name="Consumed">Bytes of whole frames with valid headers.</param>
/// <param name="Frames">Number of whole frames.</param>
/// <param name="NextFrameSize">Size of the incomplete frame that follows, with header. 0 while its header is incomplete.</param>
/// <param name="Fault">The next frame's fault: close after processing the frames before it.</param>
/// <param name="AnnouncedLength">The body length of the next frame, if its header is complete.</param>
internal readonly record struct ZmpScan(int Consumed, int Frames, int NextFrameSize, ZmpFault? Fault, uint AnnouncedLength);
