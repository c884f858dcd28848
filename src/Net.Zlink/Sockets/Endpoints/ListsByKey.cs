using System.Diagnostics.CodeAnalysis;

namespace Net.Zlink.Sockets.Endpoints;

/// <summary>Adding and removing take constant time: with lists that were searched, connecting 10,000 names cost 2 s.</summary>
internal sealed class ListsByKey<TKey, T>
    where TKey : notnull
{
    private readonly Dictionary<TKey, LinkedList<T>> _lists = [];
    private readonly Dictionary<(TKey Key, T One), LinkedListNode<T>> _nodes = [];

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

    public bool Has(TKey key) => _lists.ContainsKey(key);

    public T? LastOf(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? list.Last!.Value : default;

    public T[] Of(TKey key) => _lists.TryGetValue(key, out LinkedList<T>? list) ? [.. list] : [];
}

internal static class PeerSets
{
    // A smaller table is under 20 KB, and rebuilding it each time it fills and empties would cost more.
    private const int SmallestTrimmed = 1_024;

    // Below this share of used entries a table is rebuilt.
    private const int Sparse = 4;

    extension<T>(HashSet<T> set)
    {
        /// <summary>A .NET set never shrinks by itself, and enumeration visits all entries that were ever used.</summary>
        public bool RemoveAndTrim(T item)
        {
            bool wasThere = set.Remove(item);
            if (IsSparse(set.Count, set.Capacity))
            {
                set.TrimExcess();
            }

            return wasThere;
        }
    }

    extension<TKey, TValue>(Dictionary<TKey, TValue> table)
        where TKey : notnull
    {
        public bool RemoveAndTrim(TKey key, [MaybeNullWhen(false)] out TValue value)
        {
            bool wasThere = table.Remove(key, out value);
            if (IsSparse(table.Count, table.Capacity))
            {
                table.TrimExcess();
            }

            return wasThere;
        }
    }

    private static bool IsSparse(int count, int capacity) => capacity > SmallestTrimmed && count < capacity / Sparse;
}
