using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Micro;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>The whole way between two sockets of a context, on one thread: nobody waits, nothing is encoded. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class InprocBenchmarks : IDisposable
{
    private const int Burst = 64;

    private ZlinkContext _context = null!;
    private PairSocket _sender = null!;
    private PairSocket _receiver = null!;
    private byte[] _payload = [];

    /// <summary>The last one is long enough to be copied outside the lock.</summary>
    [Params(64, 1024, 32 * 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _context = new ZlinkContext();
        _receiver = _context.CreatePair();
        _sender = _context.CreatePair();
        _receiver.Bind("inproc://benchmark");
        _sender.Connect("inproc://benchmark");
        _payload = new byte[Size];
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _context.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark]
    public int SendReceive()
    {
        Send();
        return Receive();
    }

    [Benchmark(OperationsPerInvoke = Burst)]
    public int SendBurstReceiveBurst()
    {
        for (int i = 0; i < Burst; i++)
        {
            Send();
        }

        int bytes = 0;
        for (int i = 0; i < Burst; i++)
        {
            bytes += Receive();
        }

        return bytes;
    }

    private void Send()
    {
        if (!_sender.TrySend(_payload))
        {
            throw new RequestException("The peer is gone or full.");
        }
    }

    private int Receive()
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
