using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>Who gets a message that is for all subscribers of a publisher. Per message.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class FanOutBenchmarks
{
    private readonly SubscriptionTrie<object> _trie = new();
    private readonly List<object> _matches = [];

    [Params(1, 100, 10_000)]
    public int Subscribers { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        for (int i = 0; i < Subscribers; i++)
        {
            Subscriber<object> subscriber = _trie.NewSubscriber(new object());
            _trie.Add("one"u8, subscriber, out _);
            _trie.Add("two"u8, subscriber, out _);
            _trie.Add("two/twice"u8, subscriber, out _);
        }

        ByOnePrefix();
    }

    [Benchmark]
    public int ByOnePrefix()
    {
        _matches.Clear();
        _trie.Match("one/topic"u8, _matches);
        return _matches.Count;
    }

    [Benchmark]
    public int ByTwoPrefixesOnceEach()
    {
        _matches.Clear();
        _trie.Match("two/twice"u8, _matches);
        return _matches.Count;
    }
}
