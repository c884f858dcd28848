using System.Diagnostics;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Children by first byte: two arrays in ascending order. 256 bytes, the most, are searched in a few steps of a vector.</summary>
internal struct PrefixChildren<TValue>
{
    private const int SmallestCapacity = 2;

    private byte[]? _keys;
    private PrefixNode<TValue>[]? _nodes;

    public int Count { get; private set; }

    public readonly PrefixNode<TValue>? Only => Count == 1 ? _nodes![0] : null;

    public readonly PrefixNode<TValue>? Find(byte key)
    {
        int index = IndexOf(key);
        return index < 0 ? null : _nodes![index];
    }

    public readonly PrefixNode<TValue>? After(int key)
    {
        int index = key < 0 ? 0 : IndexOf((byte)key) + 1;
        return index < Count ? _nodes![index] : null;
    }

    public void Add(PrefixNode<TValue> child)
    {
        Debug.Assert(Find(child.Key) is null, "Two children of one first byte.");
        if (_keys is null || Count == _keys.Length)
        {
            Resize(Math.Max(SmallestCapacity, Count * 2));
        }

        int at = Count;
        while (at > 0 && _keys![at - 1] > child.Key)
        {
            at--;
        }

        Array.Copy(_keys!, at, _keys!, at + 1, Count - at);
        Array.Copy(_nodes!, at, _nodes!, at + 1, Count - at);
        _keys![at] = child.Key;
        _nodes![at] = child;
        Count++;
    }

    public readonly void Replace(PrefixNode<TValue> child) => _nodes![IndexOf(child.Key)] = child;

    public void Remove(byte key)
    {
        int index = IndexOf(key);
        Count--;
        Array.Copy(_keys!, index + 1, _keys!, index, Count - index);
        Array.Copy(_nodes!, index + 1, _nodes!, index, Count - index);
        _nodes![Count] = null!;
        if (Count == 0)
        {
            _keys = null;
            _nodes = null;
        }
        else if (_nodes.Length > SmallestCapacity && Count <= _nodes.Length / 4)
        {
            Resize(_nodes.Length / 2);
        }
    }

    private readonly int IndexOf(byte key) => _keys.AsSpan(0, Count).IndexOf(key);

    private void Resize(int capacity)
    {
        Array.Resize(ref _keys, capacity);
        Array.Resize(ref _nodes, capacity);
    }
}
