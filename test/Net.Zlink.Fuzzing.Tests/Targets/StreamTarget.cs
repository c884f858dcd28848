using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Fuzzing;

/// <summary>The bytes of a STREAM connection, read by the engine's reader. The first byte of an input chooses the limit.</summary>
internal sealed class StreamTarget : FuzzTarget
{
    private static readonly long[] s_limits = [0, 60, 20_000, StreamFraming.DefaultMaxMessageSize];


    public override IEnumerable<byte[]> Seeds =>
    [
        [1, 0, 0, 0, 1, (byte)'a', 0, 0, 0, 0, 0, 0, 0, 60, 0xF7, 1],
        [2, 0, 0, 0x40, 0, 0xF7, 255, 0, 0, 0, 1, 5, 0, 0, 0x20, 0, 0xF7, 128],
        [3, 0, 1, 0, 0, 0xF7, 255, 0xF7, 255, 0xF7, 255, 0xF7, 255, 0xF7, 255, 0xF7, 255],
        [3, .. "HTTP/1.1 200 OK\r\n"u8],
    ];

    public override byte[][] Words => [[0, 0, 0, 1, 5], [0, 0, 0x20, 0], [0xF7, 128], [0xF7, 255], [0, 0x80, 0, 1], [0, 0, 0, 60]];

    protected override void Try(byte[] input)
    {
        if (input.Length == 0)
        {
            return;
        }

        long limit = s_limits[input[0] % s_limits.Length];
        byte[] bytes = Expand(input.AsSpan(1));
        string expected = Expected(bytes, limit);
        Assert.Equal(expected, Read([bytes], limit));
        Assert.Equal(expected, Read(Cut(bytes), limit));
    }

    /// <summary>The protocol written down a second time.</summary>
    private static string Expected(ReadOnlySpan<byte> bytes, long limit)
    {
        var said = new StringBuilder();
        while (bytes.Length >= sizeof(uint))
        {
            long length = ((uint)bytes[0] << 24) | ((uint)bytes[1] << 16) | ((uint)bytes[2] << 8) | bytes[3];
            if (length > limit)
            {
                return said.Append("! ").Append(length).ToString();
            }

            if (bytes.Length - sizeof(uint) < length)
            {
                break;
            }

            said.AppendLine(Show(bytes.Slice(sizeof(uint), (int)length)));
            bytes = bytes[(sizeof(uint) + (int)length)..];
        }

        return said.ToString();
    }

    private string Read(IEnumerable<byte[]> pieces, long limit)
    {
        var said = new StringBuilder();
        long before = Pool.GetStatistics().Live;
        using var wire = new MemoryWire(TransportTable.Find("tcp")!, "peer");
        var slabs = new ReceiveSlab(new Slab.SlabCache(Pool));
        var reader = new FrameReader(wire, slabs, Pool);
        FrameBatch batch = default;
        foreach (byte[] piece in pieces)
        {
            wire.Peer.Send(piece);
            while (wire.HasUnread && !batch.Scan.IsBroken)
            {
                int arrived = reader.BufferedBytes + wire.UnreadBytes;
                FrameBatch.Read(ref reader, limit, out batch);
                Assert.True(reader.RetainedMemory <= (2 * arrived) + (16 * 1024), $"{reader.RetainedMemory} bytes are kept for {arrived}");
                foreach (byte[] payload in batch.Payloads())
                {
                    said.AppendLine(Show(payload));
                }

                batch.Release();
            }
        }

        if (batch.Scan.IsBroken)
        {
            said.Append("! ").Append(batch.Scan.Announced);
        }

        reader.Release();
        slabs.Release();
        Assert.Equal(before, Pool.GetStatistics().Live);
        return said.ToString();
    }
}
