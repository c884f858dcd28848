namespace Net.Zlink.Sockets.Routing;

/// <summary>A node keeps its value while its prefix is stored: splitting and merging move bytes between nodes, never values.</summary>
internal sealed class PrefixNode<TValue>(byte key, byte[] rest)
{
    public PrefixNode<TValue>? Parent { get; internal set; }

    public byte Key { get; internal set; } = key;

    public byte[] Remainder { get; internal set; } = rest;

    public bool HasValue { get; internal set; }

    public long Marked { get; internal set; }

    public ref TValue Value => ref _value;

    public ref PrefixChildren<TValue> Children => ref _children;

    public int LabelLength => 1 + Remainder.Length;

    private TValue _value = default!;
    private PrefixChildren<TValue> _children;
}
