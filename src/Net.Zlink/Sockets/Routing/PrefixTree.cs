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

    /// <summary>In ascending byte order, each prefix before its extensions. The tree must not change meanwhile.</summary>
    public IEnumerable<PrefixNode<TValue>> InOrder()
    {
        for (PrefixNode<TValue>? node = Root; node is not null; node = Next(node))
        {
            if (node.HasValue)
            {
                yield return node;
            }
        }
    }

    private static PrefixNode<TValue>? Next(PrefixNode<TValue> node)
    {
        PrefixNode<TValue>? next = node.Children.After(-1);
        while (next is null && node.Parent is { } parent)
        {
            next = parent.Children.After(node.Key);
            node = parent;
        }

        return next;
    }

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

/// <summary>A node keeps its value while its prefix is stored: splitting and merging move bytes between nodes, never values.</summary>
internal sealed class PrefixNode<TValue>(byte key, byte[] rest)
{
    public PrefixNode<TValue>? Parent { get; internal set; }

    public byte Key { get; internal set; } = key;

    public byte[] Remainder { get; internal set; } = rest;

    public bool HasValue { get; internal set; }

    public TValue Value = default!;
    public PrefixChildren<TValue> Children;

    public int LabelLength => 1 + Remainder.Length;

    public byte[] Prefix
    {
        get
        {
            int length = 0;
            for (PrefixNode<TValue> node = this; node.Parent is { } parent; node = parent)
            {
                length += node.LabelLength;
            }

            byte[] prefix = new byte[length];
            for (PrefixNode<TValue> node = this; node.Parent is { } parent; node = parent)
            {
                length -= node.LabelLength;
                prefix[length] = node.Key;
                node.Remainder.CopyTo(prefix, length + 1);
            }

            return prefix;
        }
    }
}

/// <summary>Children by first byte: two arrays in ascending order. 256 bytes, the most, are searched in a few steps of a vector.</summary>
internal struct PrefixChildren<TValue>
{
    private const int SmallestCapacity = 2;

    private byte[]? _keys;
    private PrefixNode<TValue>[]? _nodes;

    public int Count { get; private set; }

    public readonly PrefixNode<TValue>? Only => Count == 1 ? _nodes![0] : null;

    public readonly PrefixNode<TValue>? Find(byte key)
    {
        int index = IndexOf(key);
        return index < 0 ? null : _nodes![index];
    }

    public readonly PrefixNode<TValue>? After(int key)
    {
        int index = key < 0 ? 0 : IndexOf((byte)key) + 1;
        return index < Count ? _nodes![index] : null;
    }

    public void Add(PrefixNode<TValue> child)
    {
        Debug.Assert(Find(child.Key) is null, "Two children of one first byte.");
        if (_keys is null || Count == _keys.Length)
        {
            Resize(Math.Max(SmallestCapacity, Count * 2));
        }

        int at = Count;
        while (at > 0 && _keys![at - 1] > child.Key)
        {
            at--;
        }

        Array.Copy(_keys!, at, _keys!, at + 1, Count - at);
        Array.Copy(_nodes!, at, _nodes!, at + 1, Count - at);
        _keys![at] = child.Key;
        _nodes![at] = child;
        Count++;
    }

    public readonly void Replace(PrefixNode<TValue> child) => _nodes![IndexOf(child.Key)] = child;

    public void Remove(byte key)
    {
        int index = IndexOf(key);
        Count--;
        Array.Copy(_keys!, index + 1, _keys!, index, Count - index);
        Array.Copy(_nodes!, index + 1, _nodes!, index, Count - index);
        _nodes![Count] = null!;
        if (Count == 0)
        {
            _keys = null;
            _nodes = null;
        }
        else if (_nodes.Length > SmallestCapacity && Count <= _nodes.Length / 4)
        {
            Resize(_nodes.Length / 2);
        }
    }

    private readonly int IndexOf(byte key) => _keys.AsSpan(0, Count).IndexOf(key);

    private void Resize(int capacity)
    {
        Array.Resize(ref _keys, capacity);
        Array.Resize(ref _nodes, capacity);
    }
}

internal ref struct PrefixMatches<TValue>(PrefixNode<TValue> root, ReadOnlySpan<byte> topic)
{
    private ReadOnlySpan<byte> _left = topic;
    private readonly int _all = topic.Length;
    private PrefixNode<TValue>? _next = root;

    public PrefixNode<TValue> Current { get; private set; } = null!;

    /// <summary>Of the prefix.</summary>
    public int Length { get; private set; }

    public bool MoveNext()
    {
        while (_next is { } node)
        {
            Length = _all - _left.Length;
            Current = node;
            _next = Descend(node);
            if (node.HasValue)
            {
                return true;
            }
        }

        return false;
    }

    private PrefixNode<TValue>? Descend(PrefixNode<TValue> node)
    {
        if (_left.IsEmpty || node.Children.Find(_left[0]) is not { } child)
        {
            return null;
        }

        if (!_left[1..].StartsWith(child.Remainder))
        {
            return null;
        }

        _left = _left[child.LabelLength..];
        return child;
    }
}
