using System.Net.Sockets;
using BenchmarkDotNet.Attributes;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Transports;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The receive queue of a STREAM socket: one read of one peer is published, then taken and ended. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class StreamReceiveBenchmarks : IDisposable
{
    // A read of 30 messages is what a peer with a window of 30 sends.
    private const int Messages = 30;
    private const int Size = 64;

    private readonly InboundFrames _frames = new(Messages, Size);
    private readonly ZlinkContext _context = new();
    private readonly SocketWire _wire = new(
        new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp), TransportTable.Find("tcp")!);
    private readonly DequeuedMessage[] _taken = new DequeuedMessage[Messages];
    private readonly ReceiveQueue _queue;
    private readonly StreamLink _link;

    public StreamReceiveBenchmarks()
    {
        StreamHub hub = _context.CreateStream().Hub;
        _queue = hub.Receive;
        _link = new StreamLink(1, "tcp://benchmark", origin: null, _wire, hub);
        _link.AddLane(new QueueLimits(300_000, 64 * 1024 * 1024));
        _link.Lane!.AddNotice(isEnd: false);
        _queue.Enqueue(_link.Lane, messages: 0);
        _queue.TryDequeue(out _);
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _wire.Dispose();
        _frames.Dispose();
        _context.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeOneByOne()
    {
        Publish();
        int taken = 0;
        while (_queue.TryDequeue(out DequeuedMessage message))
        {
            message.Lease.Release(message.Slot, message.Lease.GenerationOf(message.Slot));
            taken++;
        }

        return taken;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeMany()
    {
        Publish();
        int taken = _queue.DequeueMany(_taken);
        foreach (ref readonly DequeuedMessage message in _taken.AsSpan(0, taken))
        {
            message.Lease.Release(message.Slot, message.Lease.GenerationOf(message.Slot));
        }

        return taken;
    }

    private void Publish()
    {
        int offset = 0;
        _queue.Publish(_link.Lane!, InboundLease.Open(_frames.Slab, ref offset, _frames.Length, _link));
    }
}
