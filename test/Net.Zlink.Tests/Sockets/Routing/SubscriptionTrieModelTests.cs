using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

/// <summary>Random subscriptions of a few peers beside a plain set of (prefix, peer) pairs.</summary>
public sealed class SubscriptionTrieModelTests
{
    private const int Peers = 5;

    private enum Kind
    {
        Add,
        Remove,
        RemoveAll,
    }

    [Fact]
    public void A_trie_answers_as_a_set_of_pairs_with_linear_matching_does()
    {
        Gen<(Kind Kind, int Peer, string Prefix)> operation =
            from k in Gen.Frequency((12, Gen.Constant(Kind.Add)), (5, Gen.Constant(Kind.Remove)), (1, Gen.Constant(Kind.RemoveAll)))
            from p in Gen.Choose(0, Peers - 1)
            from prefix in Prefixes
            select (k, p, prefix);
        ForAllArrays(operation, 400, static operations =>
        {
            var bench = new Fixture();
            foreach ((Kind kind, int peer, string prefix) in operations)
            {
                bench.Run(kind, peer, prefix);
                bench.CheckTopic(prefix + "b");
                bench.CheckCounts();
            }

            for (int peer = 0; peer < Peers; peer++)
            {
                bench.Run(Kind.RemoveAll, peer, "");
            }

            Assert.Equal(0, bench.Trie.PrefixCount);
        });
    }

    private sealed class Fixture
    {
        private readonly HashSet<(string Prefix, int Peer)> _pairs = [];
        private readonly Subscriber<string>[] _subscribers;
        private readonly List<string> _matches = [];

        public Fixture() => _subscribers = [.. Enumerable.Range(0, Peers).Select(p => Trie.NewSubscriber($"{p}"))];

        public SubscriptionTrie<string> Trie { get; } = new();

        public void Run(Kind kind, int peer, string prefix)
        {
            Subscriber<string> subscriber = _subscribers[peer];
            switch (kind)
            {
                case Kind.Add:
                    bool first = !_pairs.Any(p => string.Equals(p.Prefix, prefix, StringComparison.Ordinal));
                    Assert.Equal(_pairs.Add((prefix, peer)), Trie.Add(Bytes(prefix), subscriber, out bool firstOfPrefix));
                    Assert.Equal(first, firstOfPrefix);
                    break;
                case Kind.Remove:
                    bool had = _pairs.Remove((prefix, peer));
                    bool others = _pairs.Any(p => string.Equals(p.Prefix, prefix, StringComparison.Ordinal));
                    SubscriptionRemoval expected = (had, others) switch
                    {
                        (true, true) => SubscriptionRemoval.OthersRemain,
                        (true, false) => SubscriptionRemoval.LastOfPrefix,
                        (false, true) => SubscriptionRemoval.NotSubscribed,
                        _ => SubscriptionRemoval.UnknownPrefix,
                    };
                    Assert.Equal(expected, Trie.Remove(Bytes(prefix), subscriber));
                    break;
                default:
                    Assert.Equal(OfPeer(peer), Trie.RemoveAll(subscriber));
                    _pairs.RemoveWhere(p => p.Peer == peer);
                    break;
            }
        }

        public void CheckTopic(string topic)
        {
            string[] wanted = [.. _pairs.Where(p => topic.StartsWith(p.Prefix, StringComparison.Ordinal)).Select(static p => $"{p.Peer}")
                .Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal)];
            _matches.Clear();
            Trie.Match(Bytes(topic), _matches);
            Same(wanted, _matches.Order(StringComparer.Ordinal));
        }

        public void CheckCounts()
        {
            Assert.Equal(_pairs.Select(static p => p.Prefix).Distinct(StringComparer.Ordinal).Count(), Trie.PrefixCount);
            for (int peer = 0; peer < Peers; peer++)
            {
                List<(string Prefix, bool IsLast)> found = Of(_subscribers[peer]);
                Assert.Equal(OfPeer(peer), found);
                Assert.Equal(found.Count, _subscribers[peer].PrefixCount);
                Assert.Equal(found.Sum(static f => SubscriptionTrie<string>.ChargeOf(f.Prefix.Length)), _subscribers[peer].StoredBytes);
            }
        }

        private List<(string Prefix, bool Last)> OfPeer(int peer) =>
        [
            .. _pairs.Where(p => p.Peer == peer).OrderBy(static p => p.Prefix, StringComparer.Ordinal)
                .Select(p => (p.Prefix, _pairs.Count(other => string.Equals(other.Prefix, p.Prefix, StringComparison.Ordinal)) == 1)),
        ];
    }
}
