using BenchmarkDotNet.Attributes;
using Net.Zlink.Sockets.Routing;

namespace Net.Zlink.Benchmarks.Sockets;

/// <summary>A subscription that comes and goes, beside many that stay; and a peer that leaves with all of its own. New nodes are
/// allocated.</summary>
[BenchmarkCategory("sockets")]
public class SubscriptionChangeBenchmarks
{
    private const int OfPeer = 100;

    private readonly SubscriptionTrie<object> _trie = new();
    private readonly byte[][] _prefixes = new byte[OfPeer][];
    private Subscriber<object> _subscriber = null!;

    [Params(1, 256, 100_000)]
    public int Subscriptions { get; set; }

    [GlobalSetup]
    public void Setup()
    {
        Subscriber<object> other = _trie.NewSubscriber(new object());
        _subscriber = _trie.NewSubscriber(new object());
        for (int i = 0; i < Subscriptions; i++)
        {
            _trie.Add(Prefix(i), other, out _);
        }

        for (int i = 0; i < OfPeer; i++)
        {
            _prefixes[i] = Prefix(Subscriptions + i);
        }
    }

    [Benchmark]
    public bool AddRemove()
    {
        _trie.Add(_prefixes[0], _subscriber, out _);
        return _trie.Remove(_prefixes[0], _subscriber) == SubscriptionRemoval.LastOfPrefix;
    }

    /// <summary>Per prefix: subscribed, then reported and removed with the others when the peer leaves.</summary>
    [Benchmark(OperationsPerInvoke = OfPeer)]
    public void AddAndLeave()
    {
        foreach (byte[] prefix in _prefixes)
        {
            _trie.Add(prefix, _subscriber, out _);
        }

        _ = _subscriber.Prefixes.Count();
        var left = _subscriber.Slots.GetEnumerator();
        while (_trie.RemoveSome(ref left))
        {
        }

        _trie.Forget(_subscriber);
    }

    private static byte[] Prefix(int number) =>
        System.Text.Encoding.ASCII.GetBytes(string.Create(
            System.Globalization.CultureInfo.InvariantCulture, $"quotes/{unchecked((uint)number * 2_654_435_761u):x8}/"));
}
