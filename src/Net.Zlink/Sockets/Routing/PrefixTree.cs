using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>
/// A label has at most <see cref="LongestLabel"/> bytes; longer runs are chains of nodes. So a split or merge copies at most that much,
/// even for a hostile prefix of 255 KB with many short relatives. Nothing recurses, so depth is not limited by the stack.
/// </summary>
internal sealed class PrefixTree<TValue>
{
    /// <summary>Copied in some 30 ns.</summary>
    public const int LongestLabel = 1_024;

    private long _mark;

    public PrefixNode<TValue> Root { get; } = new(0, []);

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

    public PrefixMatches<TValue> Match(ReadOnlySpan<byte> topic) => new(Root, topic);

    public OrderedPrefixes<TValue> InOrder() => new(Root, 0);

    /// <summary>
    /// Starts a new selection of prefixes: <see cref="Mark"/> them, then enumerate them with <see cref="InOrder(long)"/>.
    /// </summary>
    public long NewMark() => _mark += 2;

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

    /// <summary>The lower node keeps its identity.</summary>
    private static PrefixNode<TValue> Split(PrefixNode<TValue> node, int rest)
    {
        PrefixNode<TValue> parent = node.Parent!;
        var upper = new PrefixNode<TValue>(node.Key, node.Remainder[..rest]) { Parent = parent };
        parent.Children.Replace(upper);
        node.Key = node.Remainder[rest];
        node.Remainder = node.Remainder[(rest + 1)..];
        node.Parent = upper;
        upper.Children.Add(node);
        Merge(node);
        Merge(parent);
        return upper;
    }

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
