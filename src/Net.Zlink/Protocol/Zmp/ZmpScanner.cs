using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>Finds the whole frames in what one connection has received, and checks each header as soon as its eight bytes are in (docs/protocol.md sections 7 and 9).</summary>
/// <remarks>
/// One per connection; it remembers only whether HELLO has been taken, which has rules of its own. It looks at headers, not at what bodies say:
/// that is <see cref="ZmpInbound"/>. Bytes that a scan has not consumed must be there again, in front of the next ones.
/// </remarks>
internal struct ZmpScanner
{
    private bool _helloParsed;

    /// <summary>Finds the whole frames at the start of <paramref name="bytes"/>.</summary>
    /// <param name="bytes">What has arrived, from a frame boundary on.</param>
    /// <param name="maxMessageSize">The largest body to accept in any frame but HELLO; negative: whatever an array can hold.</param>
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

    // HELLO's length is checked first, as soon as it is known, and the rest of its header only when the whole frame is in: a peer that speaks
    // something else is told by what its bytes 4 to 7 happen to say.
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

/// <summary>What <see cref="ZmpScanner.Scan"/> found.</summary>
/// <param name="Consumed">Bytes that make up whole frames with good headers.</param>
/// <param name="Frames">Number of whole frames in them.</param>
/// <param name="NextFrameSize">Header and body of the incomplete frame that follows; 0 while its header is incomplete.</param>
/// <param name="Fault">What is wrong with the frame that follows: the connection must end, once the frames before it have been processed.</param>
/// <param name="AnnouncedLength">The body length announced by the frame that follows, where its header is known.</param>
internal readonly record struct ZmpScan(int Consumed, int Frames, int NextFrameSize, ZmpFault? Fault, uint AnnouncedLength);
