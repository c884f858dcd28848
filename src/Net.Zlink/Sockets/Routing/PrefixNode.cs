namespace Net.Zlink.Sockets.Routing;

/// <summary>A node of a <see cref="PrefixTree{TValue}"/>: the bytes after its parent's, and the value if a prefix ends here.</summary>
/// <remarks>A node keeps its value while its prefix is stored: splitting and merging move bytes between nodes, never values.</remarks>
internal sealed class PrefixNode<TValue>(byte key, byte[] rest)
{
    /// <summary>Null only in the root and in removed nodes.</summary>
    public PrefixNode<TValue>? Parent { get; internal set; }

    /// <summary>The first byte of the label, the key in the parent.</summary>
    public byte Key { get; internal set; } = key;

    /// <summary>The label after its first byte. Empty where prefixes branch at every byte, so nothing is compared there.</summary>
    public byte[] Remainder { get; internal set; } = rest;

    public bool HasValue { get; internal set; }

    /// <summary>The selection that this node belongs to: see <see cref="PrefixTree{TValue}.Mark"/>.</summary>
    public long Marked { get; internal set; }

    public ref TValue Value => ref _value;

    public ref PrefixChildren<TValue> Children => ref _children;

    public int LabelLength => 1 + Remainder.Length;

    private TValue _value = default!;
    private PrefixChildren<TValue> _children;
}
