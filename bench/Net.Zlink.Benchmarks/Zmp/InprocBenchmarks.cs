using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Benchmarks.Sockets;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>The whole way between two sockets of a context, on one thread: nobody waits, nothing is encoded.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class InprocBenchmarks : SendReceiveBenchmarks
{
    private PairSocket _sender = null!;
    private PairSocket _receiver = null!;
    private byte[] _payload = [];

    /// <summary>The last one is long enough to be copied outside the lock.</summary>
    [Params(64, 1024, 32 * 1024)]
    public int Size { get; set; }

    protected override void Connect()
    {
        _receiver = Context.CreatePair();
        _sender = Context.CreatePair();
        _receiver.Bind("inproc://benchmark");
        _sender.Connect("inproc://benchmark");
        _payload = new byte[Size];
    }

    protected override void Send()
    {
        if (!_sender.TrySend(_payload))
        {
            throw new RequestException("The peer is gone or full.");
        }
    }

    protected override int Receive()
    {
        if (!_receiver.TryReceive(out Message message))
        {
            throw new RequestException("A message did not come.");
        }

        using (message)
        {
            return message.Span.Length;
        }
    }
}
