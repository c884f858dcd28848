using BenchmarkDotNet.Attributes;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The STREAM wire: finding frames in what was read, and writing them. Per frame.</summary>
[BenchmarkCategory("protocol", AllocationCheck.Category)]
public class FrameBenchmarks
{
    // As many as one read of 64 KiB holds at the largest size below.
    private const int Frames = 60;
    private const long Limit = 8 * 1024 * 1024;

    private byte[] _wire = [];
    private byte[] _payload = [];

    [Params(16, 64, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _payload = new byte[Size];
        _wire = new byte[Frames * (StreamFraming.HeaderSize + Size)];
        WriteAll();
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int Scan()
    {
        FrameScan scan = StreamFraming.Scan(_wire, Limit);
        return scan.Frames;
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public void WriteAll()
    {
        Span<byte> rest = _wire;
        for (int i = 0; i < Frames; i++)
        {
            StreamFraming.WriteFrame(rest, _payload);
            rest = rest[(StreamFraming.HeaderSize + Size)..];
        }
    }
}
