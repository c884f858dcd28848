namespace Net.Zlink.Sockets.Routing;

/// <summary>A subscriber's own topics: how often each prefix was subscribed, and whether a topic is wanted. Not thread-safe: the topics'
/// lock is held around every call.</summary>
internal sealed class PrefixCounts
{
    private readonly PrefixTree<int> _tree = new();

    /// <summary>Number of distinct prefixes.</summary>
    public int Count => _tree.Count;

    /// <returns>How often the prefix is subscribed now; 1 means that it is new.</returns>
    public int Add(ReadOnlySpan<byte> prefix) => ++_tree.FindOrAdd(prefix, out _).Value;

    /// <summary>Takes one subscription of a prefix back.</summary>
    /// <param name="prefix">The prefix.</param>
    /// <param name="left">How often it is still subscribed; 0 means that it is gone.</param>
    /// <returns>False if the prefix is not subscribed: then nothing changes.</returns>
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

    /// <summary>Whether some prefix of this topic is subscribed; the empty prefix is one of every topic.</summary>
    public bool Matches(ReadOnlySpan<byte> topic) => _tree.Match(topic).MoveNext();

    /// <summary>The distinct prefixes in ascending unsigned byte order, a prefix before its extensions, which is the order of re-sending.
    /// Nothing may be added or removed meanwhile.</summary>
    public OrderedPrefixes<int> GetEnumerator() => _tree.InOrder();
}
