using BenchmarkDotNet.Attributes;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>Two sockets of a context: one message there, and some at a time. Per message.</summary>
public abstract class SendReceiveBenchmarks : IDisposable
{
    private const int Burst = 64;

    protected ZlinkContext Context { get; private set; } = null!;

    [GlobalSetup]
    public void Setup()
    {
        Context = new ZlinkContext();
        Connect();
        SendReceive();
    }

    [GlobalCleanup]
    public void Dispose()
    {
        Context.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>There, and received: over a wire mostly the waking of whoever waits.</summary>
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

    /// <summary>Makes the sockets.</summary>
    protected abstract void Connect();

    protected abstract void Send();

    /// <returns>The length of what came.</returns>
    protected abstract int Receive();
}
