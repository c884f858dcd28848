namespace Net.Zlink.Protocol.Zmp;

internal sealed class ZmpFormat : FrameFormat
{
    public static readonly ZmpFormat Instance = new();

    private ZmpFormat()
        : base(ZmpFrame.HeaderSize)
    {
    }

    public override void WriteHeader(Span<byte> destination, int length, bool more) =>
        ZmpFrame.WriteHeader(destination, more ? ZmpFlags.More : ZmpFlags.None, (uint)length);

    public override int ReadLength(ReadOnlySpan<byte> frame, out bool more)
    {
        more = (ZmpFrame.ReadFlags(frame) & ZmpFlags.More) != ZmpFlags.None;
        return ZmpFrame.ReadLength(frame);
    }
}
