namespace Net.Zlink.Sockets.Routing;

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
        PrefixNode<TValue>? node = _next;
        while (node is not null)
        {
            PrefixNode<TValue> here = node;
            int length = _all - _left.Length;
            node = Descend(here);
            if (here.HasValue)
            {
                Current = here;
                Length = length;
                _next = node;
                return true;
            }
        }

        _next = null;
        return false;
    }

    private PrefixNode<TValue>? Descend(PrefixNode<TValue> node)
    {
        if (_left.IsEmpty || node.Children.Find(_left[0]) is not { } child)
        {
            return null;
        }

        byte[] rest = child.Remainder;
        ReadOnlySpan<byte> left = _left[1..];
        if (rest.Length > 0)
        {
            if (!left.StartsWith(rest))
            {
                return null;
            }

            left = left[rest.Length..];
        }

        _left = left;
        return child;
    }
}
