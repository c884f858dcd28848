using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Engine;

/// <summary>The whole STREAM frames of one read.</summary>
internal readonly record struct FrameBatch(InboundBytes Bytes, FrameScan Scan)
{
    /// <summary>Reads once and takes the whole frames, as a sink does. The caller releases the batch.</summary>
    public static WireStatus Read(ref FrameReader reader, long limit, out FrameBatch batch)
    {
        batch = default;
        WireStatus status = reader.Read(int.MaxValue, out InboundBytes bytes);
        if (bytes.Length > 0)
        {
            FrameScan scan = StreamFraming.Scan(bytes.Span, limit);
            bool isKept = !scan.IsBroken && reader.TryKeep(bytes, ResultOf(scan));
            batch = new FrameBatch(isKept ? default : bytes with { Length = scan.Consumed }, scan);
        }

        return status;
    }

    /// <summary>What a sink says that has taken the frames and has no limits.</summary>
    public static InboundResult ResultOf(FrameScan scan) => new(scan.Consumed, scan.Frames, scan.NextFrameSize, int.MaxValue);

    public IEnumerable<byte[]> Payloads()
    {
        ReadOnlyMemory<byte> bytes = Scan.Frames > 0 ? Bytes.Slab.Array.AsMemory(Bytes.Offset, Bytes.Length) : default;
        for (int i = 0; i < Scan.Frames; i++)
        {
            int length = StreamFraming.ReadLength(bytes.Span);
            yield return bytes.Slice(StreamFraming.HeaderSize, length).ToArray();
            bytes = bytes[(StreamFraming.HeaderSize + length)..];
        }

        Assert.True(bytes.IsEmpty);
    }

    public void Release()
    {
        if (Bytes.OwnsSlab)
        {
            Bytes.Slab.Release();
        }
    }
}
