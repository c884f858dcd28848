using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

internal struct PrefixChildren<TValue>
{
    /// <summary>A longer list becomes a table: its 2 KB are then at most 64 bytes a child, less than the child.</summary>
    private const int LongestList = 32;

    /// <summary>A table becomes a list again only here, so that one child that comes and goes does not rebuild it each time.</summary>
    private const int SmallestTable = 16;

    private const int ShortestList = 2;

    /// <summary>First bytes, ascending.</summary>
    private byte[]? _keys;

    private PrefixNode<TValue>?[]? _nodes;

    public int Count { get; private set; }

    public readonly PrefixNode<TValue>? Only => Count == 1 ? _nodes![0] : null;

    public readonly PrefixNode<TValue>? Find(byte key)
    {
        PrefixNode<TValue>?[]? nodes = _nodes;
        if (nodes is null)
        {
            return null;
        }

        if (_keys is null)
        {
            return nodes[key];
        }

        int index = _keys.AsSpan(0, Count).IndexOf(key);
        return index < 0 ? null : nodes[index];
    }

    public readonly PrefixNode<TValue>? After(int key)
    {
        if (_keys is not null)
        {
            int index = key < 0 ? 0 : _keys.AsSpan(0, Count).IndexOf((byte)key) + 1;
            return index < Count ? _nodes![index] : null;
        }

        for (int next = key + 1; _nodes is not null && next < _nodes.Length; next++)
        {
            if (_nodes[next] is { } child)
            {
                return child;
            }
        }

        return null;
    }

    public void Add(PrefixNode<TValue> child)
    {
        Debug.Assert(Find(child.Key) is null, "Two children of one first byte.");
        if (_nodes is null)
        {
            _keys = new byte[ShortestList];
            _nodes = new PrefixNode<TValue>[ShortestList];
        }
        else if (_keys is not null && Count == _nodes.Length)
        {
            if (Count == LongestList)
            {
                ToTable();
            }
            else
            {
                ResizeList(Count * 2);
            }
        }

        if (_keys is null)
        {
            _nodes![child.Key] = child;
        }
        else
        {
            int at = Count;
            while (at > 0 && _keys[at - 1] > child.Key)
            {
                at--;
            }

            Array.Copy(_keys, at, _keys, at + 1, Count - at);
            Array.Copy(_nodes!, at, _nodes!, at + 1, Count - at);
            _keys[at] = child.Key;
            _nodes![at] = child;
        }

        Count++;
    }

    public readonly void Replace(PrefixNode<TValue> child) => _nodes![IndexOf(child.Key)] = child;

    public void Remove(byte key)
    {
        int index = IndexOf(key);
        Count--;
        if (_keys is null)
        {
            _nodes![index] = null;
            if (Count <= SmallestTable)
            {
                ToList();
            }

            return;
        }

        Array.Copy(_keys, index + 1, _keys, index, Count - index);
        Array.Copy(_nodes!, index + 1, _nodes!, index, Count - index);
        _nodes![Count] = null;
        if (Count == 0)
        {
            _keys = null;
            _nodes = null;
        }
        else if (_nodes.Length > ShortestList && Count <= _nodes.Length / 4)
        {
            ResizeList(_nodes.Length / 2);
        }
    }

    private readonly int IndexOf(byte key) => _keys is null ? key : _keys.AsSpan(0, Count).IndexOf(key);

    private void ResizeList(int capacity)
    {
        Array.Resize(ref _keys, capacity);
        Array.Resize(ref _nodes, capacity);
    }

    private void ToTable()
    {
        var table = new PrefixNode<TValue>?[256];
        for (int index = 0; index < Count; index++)
        {
            table[_keys![index]] = _nodes![index];
        }

        _keys = null;
        _nodes = table;
    }

    private void ToList()
    {
        var keys = new byte[LongestList];
        var nodes = new PrefixNode<TValue>?[LongestList];
        int at = 0;
        foreach (PrefixNode<TValue>? child in _nodes!)
        {
            if (child is not null)
            {
                keys[at] = child.Key;
                nodes[at++] = child;
            }
        }

        _keys = keys;
        _nodes = nodes;
    }
}
