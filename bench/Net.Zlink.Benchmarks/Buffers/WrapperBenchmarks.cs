using System.Buffers;
using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using BenchmarkDotNet.Configs;
using Microsoft.Extensions.ObjectPool;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Buffers;

/// <summary>
/// What wraps a rented array. "object": only the taking and giving back of the object that is recycled, in the ways that were considered.
/// "user": what a user calls, with one write, one at a time; "user 64": with 64 held.
/// </summary>
[MemoryDiagnoser]
[MinColumn]
[CategoriesColumn]
[BenchmarkCategory("buffers")]
[GroupBenchmarksBy(BenchmarkLogicalGroupRule.ByCategory)]
public class WrapperBenchmarks : IDisposable
{
    private const int Size = 1_028;
    private const int Held = 64;

    [ThreadStatic]
    private static LeaseSlot? t_cached;

    private readonly ConcurrentQueue<LeaseSlot> _queue = new();
    private readonly ObjectPool<LeaseSlot> _objects = new DefaultObjectPool<LeaseSlot>(new DefaultPooledObjectPolicy<LeaseSlot>(), 4_096);
    private readonly ObjectCache<LeaseSlot> _cache = new(4_096);
    private readonly LeaseSlot[] _slots = new LeaseSlot[Held];
    private readonly IMemoryOwner<byte>[] _owners = new IMemoryOwner<byte>[Held];
    private readonly BufferLease[] _leases = new BufferLease[Held];
    private BufferPool _pool = null!;

    [GlobalSetup]
    public void Setup() => _pool = new BufferPool();

    [GlobalCleanup]
    public void Dispose()
    {
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Held), BenchmarkCategory("object")]
    public void ObjectPool()
    {
        for (int index = 0; index < Held; index++)
        {
            _slots[index] = _objects.Get();
        }

        foreach (LeaseSlot slot in _slots)
        {
            _objects.Return(slot);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("object")]
    public void ConcurrentQueue()
    {
        for (int index = 0; index < Held; index++)
        {
            _slots[index] = _queue.TryDequeue(out LeaseSlot? slot) ? slot : new LeaseSlot();
        }

        foreach (LeaseSlot slot in _slots)
        {
            _queue.Enqueue(slot);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("object")]
    public void ObjectCache()
    {
        for (int index = 0; index < Held; index++)
        {
            _slots[index] = _cache.Rent(ref t_cached);
        }

        foreach (LeaseSlot slot in _slots)
        {
            _cache.Return(ref t_cached, slot);
        }
    }

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("object")]
    public void Allocate()
    {
        for (int index = 0; index < Held; index++)
        {
            _slots[index] = new LeaseSlot();
        }
    }

    [Benchmark(Baseline = true), BenchmarkCategory("user")]
    public void SharedMemoryPool() => Use(MemoryPool<byte>.Shared.Rent(Size));

    [Benchmark, BenchmarkCategory("user")]
    public void Rent() => Use(_pool.Rent(Size));

    [Benchmark, BenchmarkCategory("user")]
    public void Lease()
    {
        BufferLease lease = _pool.Lease(Size);
        lease.Span[0] = 1;
        lease.Dispose();
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Held), BenchmarkCategory("user 64")]
    public void SharedMemoryPoolMany() => UseMany(MemoryPool<byte>.Shared);

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("user 64")]
    public void RentMany() => UseMany(_pool);

    [Benchmark(OperationsPerInvoke = Held), BenchmarkCategory("user 64")]
    public void LeaseMany()
    {
        for (int index = 0; index < Held; index++)
        {
            _leases[index] = _pool.Lease(Size);
            _leases[index].Span[0] = 1;
        }

        foreach (BufferLease lease in _leases)
        {
            lease.Dispose();
        }
    }

    private static void Use(IMemoryOwner<byte> owner)
    {
        owner.Memory.Span[0] = 1;
        owner.Dispose();
    }

    private void UseMany(MemoryPool<byte> pool)
    {
        for (int index = 0; index < Held; index++)
        {
            _owners[index] = pool.Rent(Size);
            _owners[index].Memory.Span[0] = 1;
        }

        foreach (IMemoryOwner<byte> owner in _owners)
        {
            owner.Dispose();
        }
    }
}
