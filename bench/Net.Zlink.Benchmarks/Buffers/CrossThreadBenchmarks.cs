using System.Buffers;
using System.Collections.Concurrent;
using BenchmarkDotNet.Attributes;
using Net.Zlink.Buffers;

namespace Net.Zlink.Benchmarks.Buffers;

/// <summary>
/// One thread rents, another returns, all the time: what a shard and a consumer of its messages do. The figure is per buffer and includes
/// the hand-over through a ring of 64 places, which the first benchmark measures alone.
/// </summary>
[MemoryDiagnoser]
[MinColumn]
[BenchmarkCategory("buffers", "cross-thread")]
public class CrossThreadBenchmarks : IDisposable
{
    private const int Buffers = 20_000;
    private const int Places = 64;

    private readonly byte[]?[] _ring = new byte[Places][];
    private readonly byte[] _same = new byte[1];
    private readonly ConcurrentBag<byte[]> _bag = [];
    private readonly SemaphoreSlim _start = new(0);
    private readonly SemaphoreSlim _done = new(0);
    private BufferPool _pool = null!;
    private Thread _consumer = null!;
    private Action<byte[]>? _return;

    /// <summary>A 1 KB message with its header, and a receive slab.</summary>
    [Params(1_028, 262_144)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _pool = new BufferPool();
        _consumer = new Thread(Consume) { IsBackground = true };
        _consumer.Start();
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _return = null;
        _start.Release();
        _consumer.Join();
        _start.Dispose();
        _done.Dispose();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(Baseline = true, OperationsPerInvoke = Buffers)]
    public void HandOverOnly() => Produce(() => _same, static _ => { });

    [Benchmark(OperationsPerInvoke = Buffers)]
    public void ArrayPoolShared() => Produce(() => ArrayPool<byte>.Shared.Rent(Size), static array => ArrayPool<byte>.Shared.Return(array));

    [Benchmark(OperationsPerInvoke = Buffers)]
    public void ConcurrentBag() => Produce(() => _bag.TryTake(out byte[]? kept) ? kept : new byte[Size], _bag.Add);

    [Benchmark(OperationsPerInvoke = Buffers)]
    public void BufferPool() => Produce(() => _pool.RentArray(Size), _pool.ReturnArray);

    private void Produce(Func<byte[]> rent, Action<byte[]> giveBack)
    {
        _return = giveBack;
        _start.Release();
        for (int index = 0; index < Buffers; index++)
        {
            byte[] array = rent();
            ref byte[]? place = ref _ring[index % Places];
            while (Volatile.Read(ref place) is not null)
            {
                Thread.SpinWait(1);
            }

            Volatile.Write(ref place, array);
        }

        _done.Wait();
    }

    private void Consume()
    {
        while (true)
        {
            _start.Wait();
            if (_return is not { } giveBack)
            {
                return;
            }

            for (int index = 0; index < Buffers; index++)
            {
                ref byte[]? place = ref _ring[index % Places];
                byte[]? array;
                while ((array = Volatile.Read(ref place)) is null)
                {
                    Thread.SpinWait(1);
                }

                Volatile.Write(ref place, null);
                giveBack(array);
            }

            _done.Release();
        }
    }
}
