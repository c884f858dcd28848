using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>A publisher's subscriptions of many different topics. Each operation takes another topic of the table, so that large tables are
/// met as cold as they are in use.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class SubscriptionBenchmarks
{
    /// <summary>A power of two: the next topic is found by a mask.</summary>
    private const int Topics = 1_024;

    private readonly SubscriptionTrie<object> _trie = new();
    private readonly PrefixCounts _own = new();
    private readonly List<object> _matches = [];
    private readonly byte[][] _held = new byte[Topics][];
    private readonly byte[][] _others = new byte[Topics][];
    private Subscriber<object> _subscriber = null!;
    private int _next;

    /// <summary>One topic, a list of children, a table of children, and more than the processor's caches hold.</summary>
    [Params(1, 16, 256, 100_000)]
    public int Subscriptions { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        _subscriber = _trie.NewSubscriber(new object());
        for (int i = 0; i < Subscriptions; i++)
        {
            _trie.Add(Prefix(i), _subscriber, out _);
            _own.Add(Prefix(i));
        }

        var random = new Random(1);
        for (int i = 0; i < Topics; i++)
        {
            int topic = random.Next(Subscriptions);
            _held[i] = [.. Prefix(topic), .. "last/price"u8];
            _others[i] = [.. Prefix(topic)[..^1], .. "x/last/price"u8];
        }

        Match();
    }

    [Benchmark]
    public int Match()
    {
        _matches.Clear();
        _trie.Match(_held[_next++ & (Topics - 1)], _matches);
        return _matches.Count;
    }

    [Benchmark]
    public int MatchNothing()
    {
        _matches.Clear();
        _trie.Match(_others[_next++ & (Topics - 1)], _matches);
        return _matches.Count;
    }

    [Benchmark]
    public bool FilterOwn() => _own.Matches(_held[_next++ & (Topics - 1)]);

    private static byte[] Prefix(int number) =>
        System.Text.Encoding.ASCII.GetBytes(string.Create(
            System.Globalization.CultureInfo.InvariantCulture, $"quotes/{unchecked((uint)number * 2_654_435_761u):x8}/"));
}
