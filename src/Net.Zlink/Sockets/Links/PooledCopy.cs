using System.Buffers;

namespace Net.Zlink.Sockets.Links;

/// <summary>A copy of a set, made under its lock. Sums over thousands of peers are read often, so it must not allocate.</summary>
internal readonly ref struct PooledCopy<T> : IDisposable
    where T : class
{
    private readonly T[] _items;
    private readonly int _count;

    public PooledCopy(ICollection<T> set)
    {
        _count = set.Count;
        _items = ArrayPool<T>.Shared.Rent(_count);
        set.CopyTo(_items, 0);
    }

    public ReadOnlySpan<T> Items => _items.AsSpan(0, _count);

    public void Dispose()
    {
        Array.Clear(_items, 0, _count);
        ArrayPool<T>.Shared.Return(_items);
    }
}
