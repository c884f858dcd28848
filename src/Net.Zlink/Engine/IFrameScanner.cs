using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

internal interface IFrameScanner
{
    FrameScan Scan(ReadOnlySpan<byte> bytes);

    /// <summary>The most to read, at least 1. Asked before each read, except within a long frame.</summary>
    int MaxBytesToRead(int kept) => int.MaxValue;
}

/// <summary><see cref="IsBroken"/>: close after the whole frames.</summary>
internal readonly record struct FrameScan(int Consumed, int Frames, int NextFrameSize, bool IsBroken, uint Announced);

internal sealed class StreamScanner(long limit) : IFrameScanner
{
    public FrameScan Scan(ReadOnlySpan<byte> bytes)
    {
        StreamScan scan = StreamFraming.Scan(bytes, limit);
        return new FrameScan(scan.Consumed, scan.Frames, scan.NextFrameSize, scan.TooLarge, scan.AnnouncedLength);
    }
}
