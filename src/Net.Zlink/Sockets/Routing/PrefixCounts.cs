namespace Net.Zlink.Sockets.Routing;

internal sealed class PrefixCounts
{
    private readonly PrefixTree<int> _tree = new();

    public int Count => _tree.Count;

    public int Add(ReadOnlySpan<byte> prefix) => ++_tree.FindOrAdd(prefix, out _).Value;

    /// <summary>True: none is left.</summary>
    public bool RemoveLast(ReadOnlySpan<byte> prefix)
    {
        if (_tree.Find(prefix) is not { } node || --node.Value > 0)
        {
            return false;
        }

        _tree.Remove(node);
        return true;
    }

    /// <summary>The topic begins with one of the prefixes that have at least so many bytes.</summary>
    public bool Matches(ReadOnlySpan<byte> topic, int minLength = 0)
    {
        PrefixMatches<int> matches = _tree.Match(topic);
        while (matches.MoveNext())
        {
            if (matches.Length >= minLength)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>The distinct prefixes in ascending byte order, each before its extensions: the order of re-sending.</summary>
    public IEnumerable<byte[]> InOrder() => _tree.InOrder().Select(static node => node.Prefix);
}
