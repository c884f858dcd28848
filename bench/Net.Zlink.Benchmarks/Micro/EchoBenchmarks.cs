using BenchmarkDotNet.Attributes;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>
/// The whole way over tcp loopback, both ends in this process: TrySend, a server's handler that answers in place, ReceiveAsync. Per
/// message.
/// The few bytes per operation are the benchmark method's own task; the proof that a message costs none is the command 'alloc'.
/// </summary>
[BenchmarkCategory("echo")]
public class EchoBenchmarks : IDisposable
{
    private const int RoundTrips = 64;
    private const int Burst = 1024;

    private ZlinkContext _context = null!;
    private StreamSocket _server = null!;
    private StreamSocket _client = null!;
    private byte[] _payload = [];
    private uint _peer;

    [Params(64, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public async Task Setup()
    {
        _payload = new byte[Size];
        _context = new ZlinkContext();
        _server = _context.CreateStream();
        _client = _context.CreateStream();
        string endpoint = _server.Bind("tcp://127.0.0.1:0", new Answer());
        _peer = await _client.ConnectAsync(endpoint);
        using StreamMessage connected = await _client.ReceiveAsync();
    }

    [GlobalCleanup]
    public void Dispose()
    {
        _client.Dispose();
        _server.Dispose();
        _context.Dispose();
        GC.SuppressFinalize(this);
    }

    /// <summary>One message on its way at any time.</summary>
    [Benchmark(OperationsPerInvoke = RoundTrips)]
    public async Task RoundTrip()
    {
        for (int i = 0; i < RoundTrips; i++)
        {
            Send();
            using StreamMessage reply = await _client.ReceiveAsync();
        }
    }

    /// <summary>As many on their way as the pipes take.</summary>
    [Benchmark(OperationsPerInvoke = Burst)]
    public async Task Flood()
    {
        for (int i = 0; i < Burst; i++)
        {
            Send();
        }

        for (int i = 0; i < Burst; i++)
        {
            using StreamMessage reply = await _client.ReceiveAsync();
        }
    }

    private void Send()
    {
        if (!_client.To(_peer).TrySend(_payload))
        {
            throw new InvalidOperationException("The peer is gone or full.");
        }
    }

    private sealed class Answer : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            foreach (ReadOnlyMemory<byte> payload in frames)
            {
                peer.TrySend(payload.Span);
            }

            return ValueTask.CompletedTask;
        }
    }
}
