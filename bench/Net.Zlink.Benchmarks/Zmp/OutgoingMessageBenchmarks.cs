using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>Messages of each kind on their way into a connection's queue and out of it as segments to write. Per message.</summary>
[BenchmarkCategory("engine", AllocationCheck.Category)]
public class OutgoingMessageBenchmarks : IDisposable
{
    private const int Burst = 64;
    private const int Parts = 3;

    private readonly BufferPool _pool = new();
    private OutboundQueue _queue = null!;
    private MessageBuilder _builder = null!;
    private Slab _shared = null!;
    private byte[] _payload = [];

    [Params(64, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _queue = new OutboundQueue(_pool, ZmpFrame.Format, new QueueLimits(300_000, 64 * 1024 * 1024));
        _builder = new MessageBuilder(_pool);
        _payload = new byte[Size];
        _shared = new Slab.SlabCache(_pool).Rent(ZmpFrame.HeaderSize + Size);
        ZmpFrame.WriteHeader(_shared.Array, ZmpFlags.None, (uint)Size);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _queue.Abandon();
        _builder.Dispose();
        _shared.Release();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>One part, copied.</summary>
    [Benchmark(OperationsPerInvoke = Burst)]
    public void Payloads()
    {
        for (int i = 0; i < Burst; i++)
        {
            Check(_queue.TryAppend(new OutgoingMessage(_payload), out _));
        }

        Flush();
    }

    /// <summary>Three parts by a builder, which is used again.</summary>
    [Benchmark(OperationsPerInvoke = Burst)]
    public void Builders()
    {
        for (int i = 0; i < Burst; i++)
        {
            for (int part = 0; part < Parts; part++)
            {
                _builder.Add(_payload);
            }

            Check(_queue.TryAppend(new OutgoingMessage(_builder.Encoded), out _));
        }

        Flush();
    }

    /// <summary>Encoded once, for each of many subscribers.</summary>
    [Benchmark(OperationsPerInvoke = Burst)]
    public void Shared()
    {
        for (int i = 0; i < Burst; i++)
        {
            Check(_queue.TryAppendShared(_shared, 0, ZmpFrame.HeaderSize + Size, messages: 1, out _));
        }

        Flush();
    }

    private static void Check(SendStatus status)
    {
        if (status != SendStatus.Accepted)
        {
            throw new RequestException("The queue is full.");
        }
    }

    private void Flush()
    {
        for (OutboundSegment? segment = _queue.NextToWrite(several: true); segment is not null;)
        {
            segment = _queue.Written(segment, several: true);
        }
    }
}
