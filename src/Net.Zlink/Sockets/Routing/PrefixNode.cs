namespace Net.Zlink.Sockets.Routing;

/// <summary>One node of a <see cref="PrefixTree{TValue}"/>: a run of bytes behind its parent's, and the value of the prefix that ends here,
/// if there is one.</summary>
/// <remarks>A node keeps its identity and its value for as long as its prefix is held: splitting and merging move bytes between nodes,
/// never values.</remarks>
internal sealed class PrefixNode<TValue>(byte key, byte[] rest)
{
    /// <summary>Null only in the root and in nodes that were taken out.</summary>
    public PrefixNode<TValue>? Parent { get; internal set; }

    /// <summary>The first byte of the label, under which the parent finds this node.</summary>
    public byte Key { get; internal set; } = key;

    /// <summary>The label behind its first byte: empty where prefixes branch at every byte, so that nothing is compared there.</summary>
    public byte[] Remainder { get; internal set; } = rest;

    public bool HasValue { get; internal set; }

    /// <summary>Set by those who look a tree's walks over marked prefixes up: see <see cref="PrefixTree{TValue}.Mark"/>.</summary>
    public long Marked { get; internal set; }

    public ref TValue Value => ref _value;

    public ref PrefixChildren<TValue> Children => ref _children;

    public int LabelLength => 1 + Remainder.Length;

    private TValue _value = default!;
    private PrefixChildren<TValue> _children;
}
