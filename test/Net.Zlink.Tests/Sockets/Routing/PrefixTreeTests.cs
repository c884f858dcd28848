using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;
using static Net.Zlink.Tests.Sockets.Routing.RoutingFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class PrefixTreeTests
{
    [Fact]
    public void Any_additions_and_removals_leave_a_tree_without_idle_nodes_that_holds_what_a_sorted_set_holds() =>
        ForAllArrays(Prefixes, 400, static prefixes =>
        {
            var tree = new PrefixTree<string?>();
            SortedSet<string> model = new(StringComparer.Ordinal);
            foreach (string prefix in prefixes)
            {
                if (tree.Find(Bytes(prefix)) is { } held)
                {
                    Assert.Equal(prefix, held.Value);
                    Assert.True(model.Remove(prefix));
                    tree.Remove(held);
                }
                else
                {
                    PrefixNode<string?> node = tree.FindOrAdd(Bytes(prefix), out bool added);
                    Assert.True(added);
                    Assert.Null(node.Value);
                    node.Value = prefix;
                    Assert.True(model.Add(prefix));
                }

                Check(tree);
                Same(model, InOrder(tree));
            }

            foreach (string prefix in prefixes)
            {
                Same(model.Where(p => prefix.StartsWith(p, StringComparison.Ordinal)), Matches(tree, prefix));
            }
        });

    [Fact]
    public void A_prefix_keeps_its_node_when_others_split_and_merge_around_it()
    {
        var tree = new PrefixTree<int>();
        PrefixNode<int> node = tree.FindOrAdd("abcdef"u8, out _);
        PrefixNode<int> above = tree.FindOrAdd("abc"u8, out _);
        PrefixNode<int> beside = tree.FindOrAdd("abd"u8, out _);
        Assert.Same(node, tree.Find("abcdef"u8));
        tree.Remove(above);
        tree.Remove(beside);
        Assert.Same(node, tree.Find("abcdef"u8));
        Assert.Equal(2, Check(tree));
        Assert.Same(node, tree.FindOrAdd("abcdef"u8, out bool added));
        Assert.False(added);
    }

    [Fact]
    public void A_half_of_a_prefix_or_an_extension_is_not_found()
    {
        var tree = new PrefixTree<int>();
        tree.FindOrAdd("abcd"u8, out _);
        tree.FindOrAdd("abxy"u8, out _);
        foreach (string text in (string[])["", "a", "ab", "abc", "abcde", "abcx", "b"])
        {
            Assert.Null(tree.Find(Bytes(text)));
        }
    }

    [Fact]
    public void Children_of_every_number_up_to_256_are_found_in_order_and_can_all_leave_again()
    {
        var tree = new PrefixTree<int>();
        int[] keys = [.. Enumerable.Range(0, 256).Select(static i => i * 37 % 256)];
        for (int i = 0; i < keys.Length; i++)
        {
            tree.FindOrAdd([(byte)keys[i], 1], out _).Value = keys[i];
            Check(tree);
            Assert.Equal(keys.Take(i + 1).Order(), tree.Keys());
        }

        for (int i = 0; i < keys.Length; i++)
        {
            tree.Remove(tree.Find([(byte)keys[i], 1])!);
            Check(tree);
            Assert.Equal(keys.Skip(i + 1).Order(), tree.Keys());
        }
    }

    [Fact]
    public void A_chain_of_thousands_of_prefixes_each_one_byte_longer_needs_no_stack()
    {
        // 128 KiB of stack are 32 bytes for each level: no call would fit.
        const int Depth = 4_000;
        byte[] bytes = new byte[Depth];
        var tree = new PrefixTree<int>();
        var thread = new Thread(
            () =>
            {
                for (int length = 0; length <= Depth; length++)
                {
                    tree.FindOrAdd(bytes.AsSpan(0, length), out _).Value = length;
                }

                Assert.Equal(Enumerable.Range(0, Depth + 1), tree.Keys());
                Assert.Equal(Depth + 1, Matches(tree, Text(bytes)).Count);
                for (int length = 0; length < Depth; length++)
                {
                    tree.Remove(tree.Find(bytes.AsSpan(0, length))!);
                }
            },
            maxStackSize: 128 * 1024);
        thread.Start();
        Assert.True(thread.Join(TimeSpan.FromSeconds(60)));

        // Merging one by one may leave labels shorter than the longest, but no two neighbours that would fit into one.
        Assert.Equal(Depth, tree.Find(bytes)!.Value);
        Assert.InRange(Check(tree), 1 + (Depth / PrefixTree<int>.LongestLabel), 2 + (2 * Depth / PrefixTree<int>.LongestLabel));
    }

    [Fact]
    public void Short_relatives_of_a_long_prefix_that_come_and_go_copy_no_more_than_a_label()
    {
        byte[] longest = new byte[255 * 1024];
        var tree = new PrefixTree<int>();
        tree.FindOrAdd(longest, out _);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 1_000; i++)
        {
            tree.Remove(tree.FindOrAdd(longest.AsSpan(0, 1 + (i % 100)), out _));
        }

        // A split and a merge are three labels and two nodes; a copy of the long prefix alone would be 255 MB here.
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1_000 * 5_000);
        Assert.Equal(1 + 255, Check(tree));
    }

    private static IEnumerable<string> InOrder<TValue>(PrefixTree<TValue> tree) =>
        tree.InOrder().Select(static node => Text(node.Prefix));

    private static List<string> Matches<TValue>(PrefixTree<TValue> tree, string topic)
    {
        List<string> found = [];
        PrefixMatches<TValue> matches = tree.Match(Bytes(topic));
        while (matches.MoveNext())
        {
            int length = 0;
            for (PrefixNode<TValue> node = matches.Current; node.Parent is { } parent; node = parent)
            {
                length += node.LabelLength;
            }

            found.Add(topic[..length]);
        }

        return found;
    }
}

internal static class PrefixTreeTestExtensions
{
    /// <summary>The values in the order of their prefixes.</summary>
    public static List<int> Keys(this PrefixTree<int> tree) => [.. tree.InOrder().Select(static node => node.Value)];
}
