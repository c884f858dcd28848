using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Values by byte prefix, in a path-compressed (radix) tree: what a topic matches is found in one walk down, without
/// allocating.</summary>
/// <remarks>
/// A label is at most <see cref="LongestLabel"/> bytes; a longer run is a chain of nodes. So a split or a merge copies at most that much,
/// whatever a hostile peer makes of a prefix of 255 KB and its many short relatives. Nothing recurses: depth is bounded by the longest
/// prefix, not by the stack. A node without a value has two children, or one that its label is too long to be merged with: nodes are at
/// most two per prefix, plus one per 512 bytes.
/// Not thread-safe: the owner's lock is held around every call.
/// </remarks>
internal sealed class PrefixTree<TValue>
{
    /// <summary>Copied in some 30 ns, and long enough that a chain's nodes (184 bytes beside their labels) add no more than a third to a
    /// prefix's bytes.</summary>
    public const int LongestLabel = 1_024;

    private long _mark;

    /// <summary>The empty prefix's node, which is always there.</summary>
    public PrefixNode<TValue> Root { get; } = new(0, []);

    /// <summary>Number of prefixes that have a value.</summary>
    public int Count { get; private set; }

    public PrefixNode<TValue>? Find(ReadOnlySpan<byte> prefix)
    {
        PrefixNode<TValue> node = Root;
        while (!prefix.IsEmpty)
        {
            PrefixNode<TValue>? child = node.Children.Find(prefix[0]);
            if (child is null || !prefix[1..].StartsWith(child.Remainder))
            {
                return null;
            }

            prefix = prefix[child.LabelLength..];
            node = child;
        }

        return node.HasValue ? node : null;
    }

    /// <summary>The prefix's node, made if it is not there; then its value is the default of its type.</summary>
    public PrefixNode<TValue> FindOrAdd(ReadOnlySpan<byte> prefix, out bool added)
    {
        PrefixNode<TValue> node = Root;
        while (!prefix.IsEmpty)
        {
            PrefixNode<TValue>? child = node.Children.Find(prefix[0]);
            if (child is null)
            {
                node = AddChain(node, prefix);
                break;
            }

            int common = prefix[1..].CommonPrefixLength(child.Remainder);
            node = common < child.Remainder.Length ? Split(child, common) : child;
            prefix = prefix[(1 + common)..];
        }

        added = !node.HasValue;
        if (added)
        {
            node.HasValue = true;
            Count++;
        }

        return node;
    }

    /// <summary>Takes a prefix out, and every node that only led to it.</summary>
    public void Remove(PrefixNode<TValue> node)
    {
        Debug.Assert(node.HasValue, "A prefix is taken out once.");
        node.HasValue = false;
        node.Value = default!;
        Count--;
        while (!node.HasValue && node.Children.Count == 0 && node.Parent is { } parent)
        {
            parent.Children.Remove(node.Key);
            node.Parent = null;
            node = parent;
        }

        node = Merge(node);
        if (node.Parent is { } above)
        {
            Merge(above);
        }
    }

    /// <summary>The held prefixes of a topic, shortest first.</summary>
    public PrefixMatches<TValue> Match(ReadOnlySpan<byte> topic) => new(Root, topic);

    /// <summary>All prefixes in ascending unsigned byte order, a prefix before its extensions. The tree must not change
    /// meanwhile.</summary>
    public OrderedPrefixes<TValue> InOrder() => new(Root, 0);

    /// <summary>Starts a selection of prefixes: <see cref="Mark"/> them, then walk them with <see cref="InOrder(long)"/>. Ends any
    /// selection before it.</summary>
    public long NewMark() => _mark += 2; // Two numbers each: for a node on the way to a selected one, and, one higher, for a selected one.

    /// <summary>Selects a prefix. Costs its depth at most; with all prefixes of a selection together no more than the nodes they lie
    /// on.</summary>
    public static void Mark(PrefixNode<TValue> node, long mark)
    {
        PrefixNode<TValue>? up = node.Marked < mark ? node.Parent : null;
        node.Marked = mark + 1;
        while (up is not null && up.Marked < mark)
        {
            up.Marked = mark;
            up = up.Parent;
        }
    }

    /// <summary>The prefixes that were marked, in the same order, without a look at the rest of the tree.</summary>
    public OrderedPrefixes<TValue> InOrder(long mark) => new(Root, mark);

    private static PrefixNode<TValue> AddChain(PrefixNode<TValue> node, ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            int length = Math.Min(bytes.Length, LongestLabel);
            var child = new PrefixNode<TValue>(bytes[0], bytes[1..length].ToArray()) { Parent = node };
            node.Children.Add(child);
            node = child;
            bytes = bytes[length..];
        }

        return node;
    }

    /// <summary>Puts a node above this one that takes the first byte of its label and some of the rest. What is below keeps its
    /// identity.</summary>
    private static PrefixNode<TValue> Split(PrefixNode<TValue> node, int rest)
    {
        PrefixNode<TValue> parent = node.Parent!;
        var upper = new PrefixNode<TValue>(node.Key, node.Remainder[..rest]) { Parent = parent };
        parent.Children.Replace(upper);
        node.Key = node.Remainder[rest];
        node.Remainder = node.Remainder[(rest + 1)..];
        node.Parent = upper;
        upper.Children.Add(node);
        Merge(node); // Both neighbours of the cut may fit where the whole label did not.
        Merge(parent);
        return upper;
    }

    /// <summary>Merges a node that nobody needs into its only child, and returns what is there afterwards.</summary>
    private static PrefixNode<TValue> Merge(PrefixNode<TValue> node)
    {
        if (node.HasValue || node.Parent is not { } parent || node.Children.Only is not { } child
            || node.LabelLength + child.LabelLength > LongestLabel)
        {
            return node;
        }

        child.Remainder = [.. node.Remainder, child.Key, .. child.Remainder];
        child.Key = node.Key;
        child.Parent = parent;
        parent.Children.Replace(child);
        node.Parent = null;
        return child;
    }
}
