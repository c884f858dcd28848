namespace Net.Zlink.Sockets;

/// <summary>Any number of things by a key (a name, a listener), those of one key in the order in which they were added. Not safe for
/// several threads: its owner has a lock.</summary>
/// <remarks>
/// To add one and to take one out is a step, however many there are, of that key too: thousands of endpoints come and go one by one, and a
/// list searched from end to end took 2 s of the time that a socket needed to connect 10,000 names.
/// A key that has nothing left takes up no room.
/// </remarks>
internal sealed class ListsByKey<TKey, T>
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedList<T>> _lists;
    private readonly Dictionary<(TKey Key, T One), LinkedListNode<T>> _nodes;

    /// <param name="keys">When two keys are the same; null: as they say themselves.</param>
    public ListsByKey(IEqualityComparer<TKey>? keys = null)
    {
        _lists = new(keys);
        _nodes = new(new NodeComparer(keys ?? EqualityComparer<TKey>.Default));
    }

    /// <summary>All of them, each as often as it has keys.</summary>
    public IEnumerable<T> All => _lists.Values.SelectMany(static list => list);

    public int Count => _nodes.Count;

    /// <summary>Adds one behind the others of its key. False if it is there.</summary>
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

    /// <summary>False if it is not there.</summary>
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

    /// <summary>Takes out all of a key.</summary>
    /// <returns>What was there.</returns>
    public T[] RemoveAll(TKey key)
    {
        T[] all = Of(key);
        foreach (T one in all)
        {
            Remove(key, one);
        }

        return all;
    }

    /// <summary>Takes out all of them.</summary>
    /// <returns>What was there.</returns>
    public T[] RemoveAll()
    {
        T[] all = [.. All];
        _lists.Clear();
        _nodes.Clear();
        return all;
    }

    /// <summary>Whether there is any of a key.</summary>
    public bool Has(TKey key) => _lists.ContainsKey(key);

    /// <summary>The one of a key that was added last; where there is none, the default.</summary>
    public T? LastOf(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? list.Last!.Value : default;

    /// <summary>Those of a key, as they are now.</summary>
    public T[] Of(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? [.. list] : [];

    private sealed class NodeComparer(IEqualityComparer<TKey> keys) : IEqualityComparer<(TKey Key, T One)>
    {
        public bool Equals((TKey Key, T One) x, (TKey Key, T One) y) => EqualityComparer<T>.Default.Equals(x.One, y.One)
            && keys.Equals(x.Key, y.Key);

        public int GetHashCode((TKey Key, T One) obj) => HashCode.Combine(keys.GetHashCode(obj.Key), obj.One);
    }
}
