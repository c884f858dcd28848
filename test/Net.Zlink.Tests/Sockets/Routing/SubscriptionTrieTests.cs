using System.Buffers.Binary;
using Net.Zlink.Sockets.Routing;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class SubscriptionTrieTests
{
    private readonly SubscriptionTrie<string> _trie = new();

    [Fact]
    public void A_second_subscription_of_the_same_prefix_counts_once()
    {
        Subscriber<string> subscriber = _trie.NewSubscriber("A");
        Assert.True(_trie.Add("t"u8, subscriber, out bool first));
        Assert.True(first);
        Assert.False(_trie.Add("t"u8, subscriber, out first));
        Assert.False(first);
        Same(["A"], Match("topic"));
        Assert.Equal(SubscriptionRemoval.LastOfPrefix, _trie.Remove("t"u8, subscriber));
        Assert.Empty(Match("topic"));
        Assert.Equal(SubscriptionRemoval.UnknownPrefix, _trie.Remove("t"u8, subscriber));
    }

    [Fact]
    public void A_peer_whose_prefixes_all_match_is_reported_once()
    {
        Subscriber<string> a = _trie.NewSubscriber("A");
        Subscriber<string> b = _trie.NewSubscriber("B");
        Add(a, "", "t", "to", "topic");
        Add(b, "to", "x");
        Same(["A", "B"], Match("topics"));
        Same(["A"], Match("t"));
        Same(["A"], Match(""));
        Same(["A", "B"], Match("x"));
    }

    [Fact]
    public void A_subscriber_that_is_being_removed_matches_nothing_and_the_last_match_knows_the_others()
    {
        Subscriber<string> a = _trie.NewSubscriber("A");
        Subscriber<string> b = _trie.NewSubscriber("B");
        Add(a, "", "t");
        Add(b, "t", "x");
        a.HasLeft = true;
        Same(["B"], Match("topic"));
        Assert.Equal((false, true), (_trie.IsInLastMatch(a), _trie.IsInLastMatch(b)));
        Assert.Empty(Match("a"));
        Assert.False(_trie.IsInLastMatch(b));
    }

    [Fact]
    public void The_empty_prefix_matches_everything_even_the_empty_topic()
    {
        Add(_trie.NewSubscriber("A"), "");
        Same(["A"], Match(""));
        Same(["A"], Match("anything"));
    }

    [Fact]
    public void A_prefix_longer_than_the_topic_does_not_match()
    {
        Add(_trie.NewSubscriber("A"), "topic");
        Assert.Empty(Match("topi"));
        Assert.Empty(Match(""));
        Same(["A"], Match("topic"));
    }

    [Theory]
    [InlineData(245)]
    [InlineData(246)]
    [InlineData(1_024)]
    [InlineData(1_025)]
    [InlineData(255 * 1024)]
    public void A_topic_of_any_length_is_matched_and_given_back_whole(int length)
    {
        Subscriber<string> subscriber = _trie.NewSubscriber("A");
        string topic = string.Create(length, 0, static (text, _) =>
        {
            for (int i = 0; i < text.Length; i++)
            {
                text[i] = (char)(i % 251);
            }
        });
        Add(subscriber, topic);
        Same(["A"], Match(topic));
        Assert.Empty(Match(topic[..^1]));
        Same([topic], RemoveAll(subscriber));
        Assert.Equal(0, subscriber.StoredBytes);
    }

    [Fact]
    public void A_peer_that_leaves_takes_only_its_own_and_tells_which_nobody_else_has()
    {
        Subscriber<string> a = _trie.NewSubscriber("A");
        Subscriber<string> b = _trie.NewSubscriber("B");
        Add(a, "b", "", "a", "ab", "\u00FF", "\0");
        Add(b, "a", "abc");
        Same([" gone", "\0 gone", "a held", "ab gone", "b gone", "\u00FF gone"],
            _trie.RemoveAll(a).Select(static one => one.Prefix + (one.IsLast ? " gone" : " held")));
        Same(["B"], Match("abcd"));
        Assert.Equal((2, 0), (_trie.PrefixCount, a.PrefixCount));
        Add(a, "a");
        Same(["A", "B"], Match("a"));
    }

    [Fact]
    public void Thousands_of_peers_with_one_prefix_leave_in_any_order()
    {
        Subscriber<string>[] all = [.. Enumerable.Range(0, 5_000).Select(i => _trie.NewSubscriber($"{i}"))];
        foreach (Subscriber<string> subscriber in all)
        {
            Add(subscriber, "", "t");
        }

        int[] order = [.. Enumerable.Range(0, all.Length)];
        new Random(7).Shuffle(order);
        HashSet<string> left = [.. all.Select(static s => s.Peer)];
        for (int i = 0; i < order.Length; i++)
        {
            Same(["", "t"], RemoveAll(all[order[i]]));
            left.Remove(all[order[i]].Peer);
            if (i % 500 == 0)
            {
                Same(left.Order(StringComparer.Ordinal), Match("topic"));
            }
        }

        Assert.Equal(0, _trie.PrefixCount);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_peer_that_took_back_thousands_of_subscriptions_holds_no_room_for_them(bool atOnce)
    {
        const int Count = 10_000;
        Subscriber<string> subscriber = _trie.NewSubscriber("A");
        Add(subscriber, [.. Enumerable.Range(0, Count).Select(static i => $"topic {i}")]);
        Assert.InRange(subscriber.Slots.Capacity, Count, int.MaxValue);
        if (atOnce)
        {
            _trie.RemoveAll(subscriber);
        }
        else
        {
            for (int i = 0; i < Count; i++)
            {
                Assert.Equal(SubscriptionRemoval.LastOfPrefix, _trie.Remove(Bytes($"topic {i}"), subscriber));
            }
        }

        Assert.InRange(subscriber.Slots.Capacity, 0, 40);
        Assert.Equal((0, 0L), (_trie.PrefixCount, subscriber.StoredBytes));
    }

    [Fact]
    public void Matching_allocates_nothing()
    {
        foreach (Subscriber<string> subscriber in Enumerable.Range(0, 20).Select(i => _trie.NewSubscriber($"{i}")))
        {
            Add(subscriber, "", "to", "topic", subscriber.Peer);
        }

        List<string> matches = [];
        byte[] many = Bytes("topics");
        byte[] one = Bytes("q");
        long allocated = Allocations.Of(() =>
        {
            matches.Clear();
            _trie.Match(many, matches);
            _trie.Match(one, matches);
        });
        Assert.Equal(40, matches.Count);
        Assert.Equal(0, allocated);
    }

    /// <summary>What is charged is what an owner's limit is compared with: it must not fall behind what hostile peers make this table
    /// allocate.</summary>
    [Theory]
    [InlineData("splits")]
    [InlineData("tables")]
    [InlineData("chain")]
    [InlineData("long")]
    [InlineData("peers")]
    [InlineData("random")]
    public void The_bytes_charged_for_subscriptions_cover_the_memory_that_they_keep(string shape)
    {
        const int Peers = 4;
        (byte[] Prefix, int Peer)[] subscriptions = [.. Shape(shape, Peers)];
        Subscriber<string>[] subscribers = [.. Enumerable.Range(0, 1 + subscriptions.Max(static s => s.Peer))
            .Select(i => _trie.NewSubscriber($"{i}"))];
        long before = GC.GetAllocatedBytesForCurrentThread();
        foreach ((byte[] prefix, int peer) in subscriptions)
        {
            Assert.True(_trie.Add(prefix, subscribers[peer], out _));
        }

        // Allocated, which growing lists makes up to three times what is kept of them. Kept memory cannot be read while other tests run.
        long allocated = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.InRange(allocated, 1, subscribers.Sum(static one => one.StoredBytes) * 3 / 2);
    }

    private static IEnumerable<(byte[] Prefix, int Peer)> Shape(string shape, int peers)
    {
        const int Count = 20_000;
        var random = new Random(3);
        for (int i = 0; i < Count; i++)
        {
            byte[] bytes = new byte[sizeof(uint)];
            BinaryPrimitives.WriteUInt32BigEndian(bytes, unchecked((uint)i * 2_654_435_761u));
            switch (shape)
            {
                case "splits": // Every prefix splits a node, or branches off one.
                    yield return ([.. bytes, 1, 2, 3], i % peers);
                    break;
                case "tables": // Nodes of 33 children: the fewest that have a table.
                    yield return ([(byte)(i / 33 / 256), (byte)(i / 33), (byte)(i % 33)], i % peers);
                    break;
                case "chain" when i < 3_000:
                    yield return (new byte[i + 1], 0);
                    break;
                case "long" when i < 200:
                    byte[] longer = new byte[10_000];
                    random.NextBytes(longer);
                    yield return (longer, i % peers);
                    break;
                case "peers": // Each subscription of a peer of its own.
                    yield return (bytes, i);
                    break;
                case "random":
                    byte[] some = new byte[random.Next(40)];
                    yield return ([.. some, .. bytes], i % peers);
                    break;
            }
        }
    }

    private void Add(Subscriber<string> subscriber, params string[] prefixes)
    {
        foreach (string prefix in prefixes)
        {
            Assert.True(_trie.Add(Bytes(prefix), subscriber, out _));
        }
    }

    private IEnumerable<string> RemoveAll(Subscriber<string> subscriber) => _trie.RemoveAll(subscriber).Select(static one => one.Prefix);

    private IEnumerable<string> Match(string topic)
    {
        List<string> matches = [];
        _trie.Match(Bytes(topic), matches);
        return matches.Order(StringComparer.Ordinal);
    }
}
