using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>A slab with frames in it, as a read leaves it.</summary>
internal sealed class InboundFrames : IDisposable
{
    private readonly BufferPool _pool = new();

    public InboundFrames(int frames, int size)
    {
        int frame = StreamFraming.HeaderSize + size;
        Length = frames * frame;
        Slab = new Slab.SlabCache(_pool).Rent(Length);
        byte[] payload = new byte[size];
        for (int i = 0; i < frames; i++)
        {
            StreamFraming.WriteFrame(Slab.Array.AsSpan(i * frame), payload);
        }
    }

    public Slab Slab { get; }

    public int Length { get; }

    public void Dispose()
    {
        Slab.Release();
        _pool.Dispose();
    }
}
