using System.Buffers.Binary;

namespace Net.Zlink.Protocol.Zmp;

/// <summary>
/// Finds whole frames and checks each header once it is complete (docs/protocol.md sections 7 and 9). Unconsumed bytes must be passed
/// again, before the next ones.
/// </summary>
internal struct ZmpScanner
{
    /// <summary>
    /// The largest body of a control frame, and of any frame before READY. Properties beyond 16 KiB are not kept. Without this limit eight
    /// peers that never finished a READY held 4 GB.
    /// </summary>
    public const int LargestControlBody = 64 * 1024;

    private bool _helloParsed;
    private bool _readyParsed;
    private uint _toSkip;

    public readonly bool HasHello => _helloParsed;

    /// <summary>Why a scan was broken.</summary>
    public ZmpFault? Fault { get; private set; }

    /// <summary>
    /// <paramref name="skipsLongTopics"/>: a topic over the limit breaks nothing. Its header counts as a frame, and so does each piece of
    /// its body, which is not kept.
    /// </summary>
    public FrameScan Scan(ReadOnlySpan<byte> bytes, long maxMessageSize, bool skipsLongTopics = false)
    {
        int position = 0;
        int frames = 0;
        if (!_helloParsed)
        {
            FrameScan hello = ScanHello(bytes);
            if (hello.Frames == 0)
            {
                return hello;
            }

            _helloParsed = true;
            position = hello.Consumed;
            frames = 1;
        }

        long limit = ZmpFrame.EffectiveLimit(maxMessageSize);
        Skip(bytes.Length, ref position, ref frames);
        while (bytes.Length - position >= ZmpFrame.HeaderSize)
        {
            if (!ZmpFrame.TryReadHeader(bytes[position..], out ZmpFlags flags, out uint length, out ZmpFault fault))
            {
                return Refuse(fault, length, position, frames);
            }

            if (length > limit && skipsLongTopics && _readyParsed && IsTopic(flags))
            {
                position += ZmpFrame.HeaderSize;
                frames++;
                _toSkip = length;
                Skip(bytes.Length, ref position, ref frames);
                continue;
            }

            if (length > limit || (length > LargestControlBody && (flags == ZmpFlags.Control || !_readyParsed)))
            {
                return Refuse(ZmpFault.BodyTooLarge, length, position, frames);
            }

            int total = ZmpFrame.HeaderSize + (int)length;
            if (bytes.Length - position < total)
            {
                return new FrameScan(position, frames, total, IsBroken: false, length);
            }

            _readyParsed = _readyParsed
                || (flags == ZmpFlags.Control && length > 0 && bytes[position + ZmpFrame.HeaderSize] == ZmpControl.Ready);
            position += total;
            frames++;
        }

        return new FrameScan(position, frames, 0, IsBroken: false, 0);
    }

    public static bool IsTopic(ZmpFlags flags) => flags is ZmpFlags.Subscribe or ZmpFlags.Cancel;

    private void Skip(int end, ref int position, ref int frames)
    {
        int skipped = (int)Math.Min(_toSkip, (uint)(end - position));
        if (skipped > 0)
        {
            _toSkip -= (uint)skipped;
            position += skipped;
            frames++;
        }
    }

    // HELLO's length is checked first, the rest of its header with the whole frame: the fault for another protocol depends on its bytes 4
    // to 7.
    private FrameScan ScanHello(ReadOnlySpan<byte> bytes)
    {
        if (bytes.Length < ZmpFrame.HeaderSize)
        {
            return default;
        }

        uint length = BinaryPrimitives.ReadUInt32BigEndian(bytes[4..]);
        if (length < ZmpHello.SmallestBody)
        {
            return Refuse(ZmpFault.HelloTooShort, length);
        }

        if (length > ZmpHello.LargestBody)
        {
            return Refuse(ZmpFault.HelloTooLarge, length);
        }

        int total = ZmpFrame.HeaderSize + (int)length;
        if (bytes.Length < total)
        {
            return new FrameScan(0, 0, total, IsBroken: false, length);
        }

        bool good = ZmpFrame.TryReadHeader(bytes, out ZmpFlags flags, out _, out ZmpFault fault);
        if (good && flags == ZmpFlags.Control)
        {
            return new FrameScan(total, 1, 0, IsBroken: false, 0);
        }

        return Refuse((good ? ZmpFault.FlagsInvalid : fault).InHello(), length);
    }

    private FrameScan Refuse(in ZmpFault fault, uint length, int position = 0, int frames = 0)
    {
        Fault = fault;
        return new FrameScan(position, frames, 0, IsBroken: true, length);
    }
}
