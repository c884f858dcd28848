using System.Buffers;
using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using Microsoft.Extensions.ObjectPool;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Buffers;

/// <summary>
/// Arrays on one thread, one at a time and 64 at a time, beside the pools that .NET programs usually have. Per rent and return.
/// </summary>
[MemoryDiagnoser]
[MinColumn]
[CategoriesColumn]
[BenchmarkCategory("buffers")]
[GroupBenchmarksBy(BenchmarkLogicalGroupRule.ByCategory)]
public class PoolBenchmarks : IDisposable
{
    private const int Held = 64;

    private readonly ConcurrentBag<byte[]> _bag = [];
    private readonly byte[][] _held = new byte[Held][];
    private BufferPool _pool = null!;
    private ObjectPool<byte[]> _objects = null!;

    /// <summary>A 1 KB message with its header, a large message, and a receive slab, of which all threads share one stack.</summary>
    [Params(1_028, 65_536, 262_144)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _pool = new BufferPool();
        _objects = new DefaultObjectPool<byte[]>(new Arrays(Size), Held);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(Baseline = true), BenchmarkCategory("one")]
    public void OneArrayPool()
    {
        byte[] array = ArrayPool<byte>.Shared.Rent(Size);
        ArrayPool<byte>.Shared.Return(array);
    }

    [Benchmark, BenchmarkCategory("one")]
    public void OneConcurrentBag()
    {
        byte[] array = _bag.TryTake(out byte[]? kept) ? kept : new byte[Size];
        _bag.Add(array);
    }

    [Benchmark, BenchmarkCategory("one")]
    public void OneObjectPool()
    {
        byte[] array = _objects.Get();
        _objects.Return(array);
    }

    [Benchmark, BenchmarkCategory("one")]
    public void OneBufferPool()
    {
        byte[] array = _pool.RentArray(Size);
        _pool.ReturnArray(array);
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Held), BenchmarkCategory("64 held")]
    public void ManyArrayPool()
    {
        for (int index = 0; index < Held; index++)
        {
            _held[index] = ArrayPool<byte>.Shared.Rent(Size);
        }

        foreach (byte[] array in _held)
        {
            ArrayPool<byte>.Shared.Return(array);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("64 held")]
    public void ManyConcurrentBag()
    {
        for (int index = 0; index < Held; index++)
        {
            _held[index] = _bag.TryTake(out byte[]? kept) ? kept : new byte[Size];
        }

        foreach (byte[] array in _held)
        {
            _bag.Add(array);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("64 held")]
    public void ManyObjectPool()
    {
        for (int index = 0; index < Held; index++)
        {
            _held[index] = _objects.Get();
        }

        foreach (byte[] array in _held)
        {
            _objects.Return(array);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("64 held")]
    public void ManyBufferPool()
    {
        for (int index = 0; index < Held; index++)
        {
            _held[index] = _pool.RentArray(Size);
        }

        foreach (byte[] array in _held)
        {
            _pool.ReturnArray(array);
        }
    }

    private sealed class Arrays(int size) : PooledObjectPolicy<byte[]>
    {
        public override byte[] Create() => new byte[size];

        public override bool Return(byte[] obj) => true;
    }
}
