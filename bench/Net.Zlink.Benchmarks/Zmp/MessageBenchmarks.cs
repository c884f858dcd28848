using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>The lease that a received message is: made of a batch, read, disposed. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class MessageBenchmarks : IDisposable
{
    private const int Messages = 30;

    private readonly ZmpFixture _kit = new(Messages, size: 64);

    [GlobalCleanup]
    public void Dispose()
    {
        _kit.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int TakeReadDispose()
    {
        InboundLease lease = _kit.Batch();
        int bytes = 0;
        for (int i = 0; i < Messages; i++)
        {
            using var message = new Message(new DequeuedMessage(lease, i, _kit.Pipe));
            bytes += message.Span.Length;
        }

        return bytes;
    }

    /// <summary>A second lease on the same bytes, ended again.</summary>
    [Benchmark(OperationsPerInvoke = Messages)]
    public int TakeCopyDispose()
    {
        InboundLease lease = _kit.Batch();
        int parts = 0;
        for (int i = 0; i < Messages; i++)
        {
            using var message = new Message(new DequeuedMessage(lease, i, _kit.Pipe));
            using Message copy = message.Copy();
            parts += copy.PartCount;
        }

        return parts;
    }
}
