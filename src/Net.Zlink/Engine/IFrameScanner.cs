using Net.Zlink.Protocol;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

internal interface IFrameScanner
{
    FrameScan Scan(ReadOnlySpan<byte> bytes);

    /// <summary>The most to read, at least 1. Asked before each read, except within a long frame.</summary>
    int MaxBytesToRead(int kept) => int.MaxValue;
}

internal sealed class StreamScanner(long limit) : IFrameScanner
{
    public FrameScan Scan(ReadOnlySpan<byte> bytes) => StreamFraming.Scan(bytes, limit);
}
