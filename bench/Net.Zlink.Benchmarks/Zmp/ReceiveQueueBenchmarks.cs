using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Engine;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>A pipe's lane and the socket's fair queue: messages come in as one read brings them, or one by one from a sender in this
/// process, and are taken and ended. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class ReceiveQueueBenchmarks : IDisposable
{
    // A read of 30 messages is what a peer with a window of 30 sends.
    private const int Messages = 30;

    private readonly ZmpFixture _kit = new(Messages, size: 64);
    private readonly DequeuedMessage[] _taken = new DequeuedMessage[Messages];
    private readonly byte[] _payload = new byte[64];

    [GlobalCleanup]
    public void Dispose()
    {
        _kit.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeOneByOne()
    {
        _kit.Core.Receive.Publish(_kit.Pipe.Lane, _kit.Batch());
        return _kit.TakeAll();
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int PublishTakeMany()
    {
        _kit.Core.Receive.Publish(_kit.Pipe.Lane, _kit.Batch());
        int taken = _kit.Core.Receive.DequeueMany(_taken);
        foreach (ref readonly DequeuedMessage message in _taken.AsSpan(0, taken))
        {
            message.Lease.Release(message.Slot, message.Lease.GenerationOf(message.Slot));
        }

        return taken;
    }

    [Benchmark(OperationsPerInvoke = Messages)]
    public int AppendTakeOneByOne()
    {
        for (int i = 0; i < Messages; i++)
        {
            var message = new OutgoingMessage(_payload);
            _kit.Pipe.Lane.Append(message, _kit.Core.Host.Slabs, PeerIdentity.Unknown, out bool announces);
            if (announces)
            {
                _kit.Core.Receive.Enqueue(_kit.Pipe.Lane, messages: 1);
            }
        }

        return _kit.TakeAll();
    }
}
