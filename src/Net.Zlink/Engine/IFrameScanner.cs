using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

/// <summary>Finds whole frames in what a connection read. On its shard.</summary>
internal interface IFrameScanner
{
    /// <summary><paramref name="bytes"/> begin at a frame boundary.</summary>
    FrameScan Scan(ReadOnlySpan<byte> bytes);

    /// <summary>
    /// The most to read, at least 1. The rest stays in the system or transport until it may be read. Asked before each read, except within
    /// a long frame.
    /// </summary>
    int MaxBytesToRead(int kept) => int.MaxValue;
}

/// <remarks><see cref="NextFrameSize"/> includes the header; 0 while that is incomplete. IsBroken: close after the whole frames.</remarks>
internal readonly record struct FrameScan(int Consumed, int Frames, int NextFrameSize, bool IsBroken, uint Announced);

/// <summary>Immutable: all connections of an endpoint share one.</summary>
internal sealed class StreamScanner(long limit) : IFrameScanner
{
    public FrameScan Scan(ReadOnlySpan<byte> bytes)
    {
        StreamScan scan = StreamFraming.Scan(bytes, limit);
        return new FrameScan(scan.Consumed, scan.Frames, scan.NextFrameSize, scan.TooLarge, scan.AnnouncedLength);
    }
}
