using System.Net.Sockets;
using BenchmarkDotNet.Attributes;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Transports;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The fair receive queue: one read of one peer is published, then taken and ended. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class PullQueueBenchmarks : IDisposable
{
    // A read of 30 messages is what a peer with a window of 30 sends.
    private const int Messages = 30;
    private const int Size = 64;
    private const long Unlimited = 0;

    private readonly InboundFrames _frames = new(Messages, Size);
    private readonly PullQueue _queue = new(Unlimited);
    private readonly SocketWire _wire = new(
        new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp), TransportTable.Find("tcp")!);
    private readonly PullPeer _peer;

    public PullQueueBenchmarks() => _peer = new PullPeer(
        new StreamLink(1, "tcp://benchmark", new object(), _wire), new QueueLimits(300_000, 64 * 1024 * 1024));

    [GlobalCleanup]
    public void Dispose()
    {
        _wire.Dispose();
        _frames.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeOneByOne()
    {
        Publish();
        int taken = 0;
        while (_queue.TryDequeue(1, out PulledRun run))
        {
            run.Lease!.Release(run.FirstSlot, run.Lease.GenerationOf(run.FirstSlot));
            taken++;
        }

        return taken;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeMany()
    {
        Publish();
        int taken = 0;
        while (_queue.TryDequeue(Messages, out PulledRun run))
        {
            for (int slot = run.FirstSlot; slot < run.FirstSlot + run.Count; slot++)
            {
                run.Lease!.Release(slot, run.Lease.GenerationOf(slot));
            }

            taken += run.Count;
        }

        return taken;
    }

    private void Publish()
    {
        int offset = 0;
        InboundLease lease = InboundLease.Open(_frames.Slab, ref offset, _frames.Length);
        _queue.Publish(_peer, lease, lease, Messages, _frames.Length);
    }
}
