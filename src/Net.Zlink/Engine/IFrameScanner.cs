using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

/// <summary>Finds whole frames in what a connection has read. Touched only on the connection's shard.</summary>
internal interface IFrameScanner
{
    /// <summary>Finds the whole frames at the start of <paramref name="bytes"/>, which begin at a frame boundary.</summary>
    FrameScan Scan(ReadOnlySpan<byte> bytes);

    /// <summary>How much to read at most, at least 1; the rest stays with the system, or the transport, until it is known whether it may be taken in. Asked before each read but those of a long frame's rest.</summary>
    /// <param name="kept">Bytes of an incomplete frame that are there already.</param>
    int MaxBytesToRead(int kept) => int.MaxValue;
}

/// <summary>What <see cref="IFrameScanner.Scan"/> found.</summary>
/// <param name="Consumed">Bytes that make up whole frames.</param>
/// <param name="Frames">Number of whole frames in them.</param>
/// <param name="NextFrameSize">Header and body of the incomplete frame that follows; 0 while its header is incomplete.</param>
/// <param name="IsBroken">What follows breaks the protocol: the connection must close once the whole frames are delivered.</param>
/// <param name="Announced">The length that the broken frame announces, where that is what is wrong.</param>
internal readonly record struct FrameScan(int Consumed, int Frames, int NextFrameSize, bool IsBroken, uint Announced);

/// <summary>The STREAM wire's frames up to a limit. Immutable: all connections of an endpoint share one.</summary>
internal sealed class StreamScanner(long limit) : IFrameScanner
{
    public FrameScan Scan(ReadOnlySpan<byte> bytes)
    {
        StreamScan scan = StreamFraming.Scan(bytes, limit);
        return new FrameScan(scan.Consumed, scan.Frames, scan.NextFrameSize, scan.TooLarge, scan.AnnouncedLength);
    }
}
