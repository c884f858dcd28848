namespace Net.Zlink.Sockets.Endpoints;

/// <summary>Adding and removing take constant time: with lists that were searched, connecting 10,000 names cost 2 s.</summary>
internal sealed class ListsByKey<TKey, T>
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedList<T>> _lists;
    private readonly Dictionary<(TKey Key, T One), LinkedListNode<T>> _nodes;

    public ListsByKey(IEqualityComparer<TKey>? keys = null)
    {
        _lists = new(keys);
        _nodes = new(new NodeComparer(keys ?? EqualityComparer<TKey>.Default));
    }

    public IEnumerable<T> All => _lists.Values.SelectMany(static list => list);

    public int Count => _nodes.Count;

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

    public T[] RemoveAll(TKey key)
    {
        T[] all = Of(key);
        foreach (T one in all)
        {
            Remove(key, one);
        }

        return all;
    }

    public bool Has(TKey key) => _lists.ContainsKey(key);

    public T? LastOf(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? list.Last!.Value : default;

    public T[] Of(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? [.. list] : [];

    private sealed class NodeComparer(IEqualityComparer<TKey> keys) : IEqualityComparer<(TKey Key, T One)>
    {
        public bool Equals((TKey Key, T One) x, (TKey Key, T One) y) => EqualityComparer<T>.Default.Equals(x.One, y.One)
            && keys.Equals(x.Key, y.Key);

        public int GetHashCode((TKey Key, T One) obj) => HashCode.Combine(keys.GetHashCode(obj.Key), obj.One);
    }
}
