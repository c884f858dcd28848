namespace Net.Zlink.Sockets;

/// <summary>Lists of items by a key (a name, a listener), in the order of addition. Not thread-safe: its owner has a lock.</summary>
/// <remarks>
/// Adding and removing take constant time. With lists that were searched, connecting 10,000 names cost 2 s. Empty lists are removed.
/// </remarks>
internal sealed class ListsByKey<TKey, T>
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedList<T>> _lists;
    private readonly Dictionary<(TKey Key, T One), LinkedListNode<T>> _nodes;

    /// <param name="keys">Compares keys. Null: the default comparer.</param>
    public ListsByKey(IEqualityComparer<TKey>? keys = null)
    {
        _lists = new(keys);
        _nodes = new(new NodeComparer(keys ?? EqualityComparer<TKey>.Default));
    }

    /// <summary>Each item as often as it has keys.</summary>
    public IEnumerable<T> All => _lists.Values.SelectMany(static list => list);

    public int Count => _nodes.Count;

    /// <summary>Adds an item at the end. False if it is there already.</summary>
    public bool Add(TKey key, T one)
    {
        var node = new LinkedListNode<T>(one);
        if (!_nodes.TryAdd((key, one), node))
        {
            return false;
        }

        if (!_lists.TryGetValue(key, out LinkedList<T>? list))
        {
            _lists.Add(key, list = new LinkedList<T>());
        }

        list.AddLast(node);
        return true;
    }

    public bool Remove(TKey key, T one)
    {
        if (!_nodes.RemoveAndTrim((key, one), out LinkedListNode<T>? node))
        {
            return false;
        }

        LinkedList<T> list = node.List!;
        list.Remove(node);
        if (list.Count == 0)
        {
            _lists.RemoveAndTrim(key, out _);
        }

        return true;
    }

    /// <returns>The removed items.</returns>
    public T[] RemoveAll(TKey key)
    {
        T[] all = Of(key);
        foreach (T one in all)
        {
            Remove(key, one);
        }

        return all;
    }

    /// <returns>The removed items.</returns>
    public T[] RemoveAll()
    {
        T[] all = [.. All];
        _lists.Clear();
        _nodes.Clear();
        return all;
    }

    public bool Has(TKey key) => _lists.ContainsKey(key);

    /// <summary>The latest item of a key, or the default.</summary>
    public T? LastOf(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? list.Last!.Value : default;

    /// <summary>A copy.</summary>
    public T[] Of(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? [.. list] : [];

    private sealed class NodeComparer(IEqualityComparer<TKey> keys) : IEqualityComparer<(TKey Key, T One)>
    {
        public bool Equals((TKey Key, T One) x, (TKey Key, T One) y) => EqualityComparer<T>.Default.Equals(x.One, y.One)
            && keys.Equals(x.Key, y.Key);

        public int GetHashCode((TKey Key, T One) obj) => HashCode.Combine(keys.GetHashCode(obj.Key), obj.One);
    }
}
