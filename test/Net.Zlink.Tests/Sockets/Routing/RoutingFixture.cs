using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Net.Zlink.Sockets.Routing;
using Xunit;

namespace Net.Zlink.Tests.Sockets.Routing;

/// <summary>Prefixes as text, one character a byte, whose ordinal order is the order of unsigned bytes.</summary>
internal static class RoutingFixture
{
    /// <summary>Few bytes, so that prefixes share and extend each other; long runs, so that labels reach their limit; the extremes, for the
    /// order.</summary>
    public static Gen<string> Prefixes { get; } =
        Gen.Frequency(
                (6, Gen.Elements("a", "b", "c", "\0", "\u00FF")),
                (2, Gen.Choose(0, 255).Select(static b => ((char)b).ToString())),
                (2, Gen.Elements(new string('x', 100), new string('x', 200), new string('x', 255) + "y", new string('x', 900))))
            .ArrayOf()
            .Select(static parts => string.Concat(parts.Take(5)));

    public static byte[] Bytes(string text) => Encoding.Latin1.GetBytes(text);

    public static string Text(ReadOnlySpan<byte> bytes) => Encoding.Latin1.GetString(bytes);

    public static void Same(IEnumerable<string> expected, IEnumerable<string> actual) =>
        Assert.Equal(expected, actual, StringComparer.Ordinal);

    public static List<(string Prefix, bool IsLast)> Of<TPeer>(Subscriber<TPeer> subscriber)
        where TPeer : class =>
        [.. subscriber.Prefixes.Select(static one => (Text(one.Prefix), one.IsLast))
            .OrderBy(static one => one.Item1, StringComparer.Ordinal)];

    /// <summary>Takes all subscriptions of a peer out, as a publisher does, but at once, and returns them.</summary>
    public static List<(string Prefix, bool IsLast)> RemoveAll<TPeer>(this SubscriptionTrie<TPeer> trie, Subscriber<TPeer> subscriber)
        where TPeer : class
    {
        List<(string Prefix, bool IsLast)> all = Of(subscriber);
        var left = subscriber.Slots.GetEnumerator();
        while (trie.RemoveSome(ref left))
        {
        }

        trie.Forget(subscriber);
        return all;
    }

    /// <summary>Checks a tree's structure, and that it has no node without need. Returns the number of nodes, the root included.</summary>
    public static int Check<TValue>(PrefixTree<TValue> tree)
    {
        PrefixNode<TValue> root = tree.Root;
        Assert.Null(root.Parent);
        Assert.Empty(root.Remainder);
        int nodes = 0;
        int values = 0;
        Stack<PrefixNode<TValue>> open = new([root]);
        while (open.TryPop(out PrefixNode<TValue>? node))
        {
            nodes++;
            values += node.HasValue ? 1 : 0;
            int children = 0;
            int last = -1;
            for (PrefixNode<TValue>? child = node.Children.After(-1); child is not null; child = node.Children.After(child.Key))
            {
                Assert.True(child.Key > last, "Children are in ascending order.");
                Assert.Same(node, child.Parent);
                Assert.Same(child, node.Children.Find(child.Key));
                last = child.Key;
                children++;
                open.Push(child);
            }

            Assert.Equal(children, node.Children.Count);
            if (node != root)
            {
                Assert.InRange(node.LabelLength, 1, PrefixTree<TValue>.LongestLabel);
                bool isNeeded = node.HasValue || children > 1 ||
                    (children == 1 && node.LabelLength + node.Children.Only!.LabelLength > PrefixTree<TValue>.LongestLabel);
                Assert.True(isNeeded, "A node that nobody needs is left.");
            }
        }

        Assert.Equal(values, tree.Count);
        return nodes;
    }
}
