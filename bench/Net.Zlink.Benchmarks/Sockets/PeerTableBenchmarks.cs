using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Sockets.Patterns;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>Peers by routing id, of the default 16 bytes, and the turns of a load balancer.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class PeerTableBenchmarks
{
    private readonly PeerTable<object> _table = new();
    private readonly Rotation<object> _rotation = new();
    private byte[][] _ids = [];
    private RotationSlot<object> _full = null!;
    private int _next;

    [Params(1, 1_000, 10_000)]
    public int Peers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        var random = new Random(1);
        _ids = new byte[Peers][];
        for (int i = 0; i < Peers; i++)
        {
            _ids[i] = new byte[16];
            random.NextBytes(_ids[i]);
            _table.TryAdd(_ids[i], new object(), out _);
            _full = _rotation.Add(new object());
        }
    }

    [Benchmark]
    public bool NextPeer()
    {
        _next++;
        if (_next >= _ids.Length)
        {
            _next = 0;
        }

        return _table.TryGet(_ids[_next], out _);
    }

    [Benchmark]
    public bool UnknownPeer() => _table.TryGet("0123456789abcdef"u8, out _);

    [Benchmark]
    public object Turn()
    {
        object peer = _rotation.Current!.Peer;
        _rotation.Advance();
        return peer;
    }

    [Benchmark]
    public void FullAndRoomAgain()
    {
        _rotation.Deactivate(_full);
        _rotation.Activate(_full);
    }
}
