using BenchmarkDotNet.Attributes;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>What a send costs up to the system call: appending frames and taking them out as segments to write. Per message.</summary>
[BenchmarkCategory("engine", AllocationCheck.Category)]
public class OutboundQueueBenchmarks : IDisposable
{
    private const int Burst = 64;

    private readonly BufferPool _pool = new();
    private OutboundQueue _queue = null!;
    private byte[] _payload = [];

    /// <summary>The last one is large enough for a buffer and a send of its own.</summary>
    [Params(64, 1024, 32 * 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _queue = new OutboundQueue(_pool, StreamFraming.Format, new QueueLimits(300_000, 64 * 1024 * 1024));
        _payload = new byte[Size];
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _queue.Abandon();
        _pool.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>A burst under way while the peer's last write is: one flush for all of it.</summary>
    [Benchmark(OperationsPerInvoke = Burst)]
    public void AppendBurstThenFlush()
    {
        for (int i = 0; i < Burst; i++)
        {
            Append();
        }

        Flush();
    }

    /// <summary>A message at a time: each takes the write turn and gives it back.</summary>
    [Benchmark]
    public void AppendOneThenFlush()
    {
        Append();
        Flush();
    }

    private void Append()
    {
        if (_queue.TryAppend(new OutgoingMessage(_payload), out _) != SendStatus.Accepted)
        {
            throw new InvalidOperationException("The queue is full.");
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
