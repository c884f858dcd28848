namespace Net.Zlink.Sockets.Routing;

/// <summary>A subscriber's own topics with their counts. Not thread-safe: under the topics' lock.</summary>
internal sealed class PrefixCounts
{
    private readonly PrefixTree<int> _tree = new();

    public int Count => _tree.Count;

    /// <returns>How often the prefix is subscribed now. 1: it is new.</returns>
    public int Add(ReadOnlySpan<byte> prefix) => ++_tree.FindOrAdd(prefix, out _).Value;

    /// <summary>Removes one subscription of a prefix.</summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="left">How often it is still subscribed. 0: it is removed.</param>
    /// <returns>False if the prefix is not subscribed.</returns>
    public bool Remove(ReadOnlySpan<byte> prefix, out int left)
    {
        left = 0;
        if (_tree.Find(prefix) is not { } node)
        {
            return false;
        }

        left = --node.Value;
        if (left == 0)
        {
            _tree.Remove(node);
        }

        return true;
    }

    /// <summary>Whether a prefix of this topic is subscribed. The empty prefix matches every topic.</summary>
    public bool Matches(ReadOnlySpan<byte> topic) => _tree.Match(topic).MoveNext();

    /// <summary>
    /// The distinct prefixes in ascending byte order, each before its extensions: the order of re-sending. They must not change meanwhile.
    /// </summary>
    public OrderedPrefixes<int> GetEnumerator() => _tree.InOrder();
}
