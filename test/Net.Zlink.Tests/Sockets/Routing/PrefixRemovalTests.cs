using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

/// <summary>A subscriber's prefixes leave a trie some at a time, and topics are matched meanwhile.</summary>
public sealed class PrefixRemovalTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(1_000)]
    public void Between_two_pieces_the_others_match_as_ever_and_the_one_that_leaves_where_it_is_left(int most)
    {
        const int Count = 100;
        var trie = new SubscriptionTrie<string>();
        Subscriber<string> leaving = trie.NewSubscriber("leaving");
        Subscriber<string> staying = trie.NewSubscriber("staying");
        for (int i = 0; i < Count; i++)
        {
            trie.Add(Bytes($"t{i:D3}"), leaving, out _);
            if (i % 2 == 0)
            {
                trie.Add(Bytes($"t{i:D3}"), staying, out _);
            }
        }

        var left = leaving.Slots.GetEnumerator();
        for (int taken = 0; taken < Count; taken += Math.Min(most, Count))
        {
            Assert.Equal(Count - taken, HeldBy(trie, "leaving", Count));
            Assert.True(trie.RemoveSome(ref left, most));
            Assert.Equal(Math.Max(0, Count - taken - most), HeldBy(trie, "leaving", Count));
            Assert.Equal(Count / 2, HeldBy(trie, "staying", Count));
        }

        Assert.False(trie.RemoveSome(ref left, most));
        trie.Forget(leaving);
        Assert.Equal(Count / 2, trie.PrefixCount);
        trie.RemoveAll(staying);
        Assert.Equal(0, trie.PrefixCount);
    }

    private static int HeldBy(SubscriptionTrie<string> trie, string peer, int count)
    {
        List<string> matches = [];
        return Enumerable.Range(0, count).Count(i =>
        {
            matches.Clear();
            trie.Match(Bytes($"t{i:D3}"), matches);
            return matches.Contains(peer, StringComparer.Ordinal);
        });
    }
}
