using System.Net.Sockets;
using BenchmarkDotNet.Attributes;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The lease that a received message is: made of a read's frames, looked at, disposed. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class MessageLeaseBenchmarks : IDisposable
{
    private const int Messages = 30;
    private const int Size = 64;

    private readonly InboundFrames _frames = new(Messages, Size);
    private readonly SocketWire _wire = new(
        new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp), TransportTable.Find("tcp")!);
    private readonly StreamLink _link;

    public MessageLeaseBenchmarks() => _link = new StreamLink(1, "tcp://benchmark", origin: null, _wire);

    [GlobalCleanup]
    public void Dispose()
    {
        _frames.Dispose();
        _wire.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int TakeReadDispose()
    {
        int offset = 0;
        InboundLease lease = InboundLease.Open(_frames.Slab, ref offset, _frames.Length, _link);
        int bytes = 0;
        for (int i = 0; i < Messages; i++)
        {
            using var message = new StreamMessage(new DequeuedMessage(lease, i, _link));
            bytes += message.Span.Length;
        }

        return bytes;
    }
}
