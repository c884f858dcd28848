using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Engine;
using Net.Zlink.Protocol;
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
    private ZmpScanner _scanner;

    [Params(16, 64, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _kit = new ZmpFixture(Frames, Size);
        _slabs = new ReceiveSlab(_kit.Core.Host.Slabs);
        _messages = new InboundMessages(_kit.Core, _kit.Pipe, maxParts: Frames);

        // HELLO has rules of its own, and comes once.
        byte[] hello = new byte[ZmpHello.LargestFrame];
        int length = ZmpHello.Write(hello, ZmpSocketType.Dealer, "benchmark"u8);
        _scanner.Scan(hello.AsSpan(0, length), NoLimit);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _slabs.Release();
        _kit.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int Scan()
    {
        FrameScan scan = _scanner.Scan(_kit.Slab.Array.AsSpan(0, _kit.Length), NoLimit);
        return scan.Frames == Frames ? scan.Frames : throw new RequestException("The scan lost frames.");
    }

    [Benchmark(OperationsPerInvoke = Frames)]
    public int ScanDeliverTake()
    {
        FrameScan scan = _scanner.Scan(_kit.Slab.Array.AsSpan(0, _kit.Length), NoLimit);
        _messages.Begin(new InboundBatch(_kit.Slab, 0, scan.Consumed, scan.Frames, OwnsSlab: false), _slabs);
        for (int position = 0; position < scan.Consumed; position += _kit.Frame)
        {
            _messages.AddPart(position + ZmpFrame.HeaderSize, Size, more: false);
        }

        _messages.End();
        return _kit.TakeAll();
    }
}
