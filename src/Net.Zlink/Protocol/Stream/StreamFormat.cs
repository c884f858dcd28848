namespace Net.Zlink.Protocol.Stream;

/// <summary>A message is one frame.</summary>
internal sealed class StreamFormat : FrameFormat
{
    public static readonly StreamFormat Instance = new();

    private StreamFormat()
        : base(StreamFraming.HeaderSize)
    {
    }

    public override void WriteHeader(Span<byte> destination, int length, bool more) => StreamFraming.WriteHeader(destination, length);

    public override int ReadLength(ReadOnlySpan<byte> frame, out bool more)
    {
        more = false;
        return StreamFraming.ReadLength(frame);
    }
}
