using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Engine;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>From bytes that were read to messages in the socket's queue: the frames are found, then their parts become messages, which are
/// taken and ended. Per frame.</summary>
[BenchmarkCategory("protocol", AllocationCheck.Category)]
public class InboundMessagesBenchmarks : IDisposable
{
    private const int Frames = 60;
    private const int NoLimit = -1;

    private ZmpFixture _kit = null!;
    private InboundMessages _messages = null!;
    private ReceiveSlab _slabs = null!;
    private ZmpInbound _inbound = new(ZmpSocketType.Dealer, NoLimit);

    [Params(16, 64, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _kit = new ZmpFixture(Frames, Size);
        _slabs = new ReceiveSlab(_kit.Core.Host.Slabs);
        _messages = new InboundMessages(_kit.Core, _kit.Pipe, maxParts: Frames);

        // HELLO and READY have rules of their own, and come once.
        byte[] greeting = new byte[ZmpHello.LargestFrame];
        _inbound.Next(greeting.AsSpan(0, ZmpHello.Write(greeting, ZmpSocketType.Dealer, "benchmark"u8)), out _, out _);
        _inbound.Next(greeting.AsSpan(0, ZmpReady.Write(greeting)), out _, out _);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _slabs.Release();
        _kit.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int Parse()
    {
        int frames = 0;
        for (int position = 0; _inbound.Next(_kit.Slab.Array.AsSpan(position, _kit.Length - position), out _, out int size)
            == ZmpInboundKind.Data; position += size)
        {
            frames++;
        }

        return frames == Frames ? frames : throw new RequestException("Frames are missing.");
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int ParseDeliverTake()
    {
        int position = 0;
        _messages.Begin(new InboundBytes(_kit.Slab, 0, _kit.Length, OwnsSlab: false), _slabs);
        while (_inbound.Next(_kit.Slab.Array.AsSpan(position, _kit.Length - position), out _, out int size) == ZmpInboundKind.Data)
        {
            _messages.AddPart(position + ZmpFrame.HeaderSize, size - ZmpFrame.HeaderSize, more: false);
            position += size;
        }

        _messages.End(position);
        return _kit.TakeAll();
    }
}
