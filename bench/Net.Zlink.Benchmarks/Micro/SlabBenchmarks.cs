using BenchmarkDotNet.Attributes;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The reference-counted arrays that received messages point into.</summary>
[BenchmarkCategory("buffers", AllocationCheck.Category)]
public class SlabBenchmarks : IDisposable
{
    private readonly BufferPool _pool = new();
    private Slab.SlabCache _cache = null!;
    private Slab _held = null!;

    /// <summary>A 1 KB message of its own, one read, and a shard's slab.</summary>
    [Params(1_028, 65_536, 262_144)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _cache = new Slab.SlabCache(_pool);
        _held = _cache.Rent(Size);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _held.Release();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark]
    public void RentRelease() => _cache.Rent(Size).Release();

    [Benchmark]
    public void AddReferenceRelease()
    {
        _held.AddReference();
        _held.Release();
    }
}
