using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// The buffer that all connections of one shard read into, so that an idle connection holds none. While nobody retains any of it, each read
/// overwrites the last: handlers that reply in place use the same warm 64 KiB.
/// </summary>
internal sealed class ReceiveSlab(Slab.SlabCache slabs, int size = ReceiveSlab.FullSize)
{
    // Four full reads, so that pull consumers share a slab.
    private const int FullSize = 256 * 1024;

    /// <summary>
    /// For shards of tls and ws, where reads of 8 KiB and more have own buffers: there are many such shards, each with a slab.
    /// </summary>
    public const int SmallSize = 64 * 1024;

    /// <summary>Larger reads gained nothing on loopback and exceed the L2 cache.</summary>
    public const int ReadSize = 64 * 1024;

    private const int SmallestRead = 16 * 1024;

    private Slab? _slab;
    private int _position;

    public Slab Acquire(int needed, out int offset, out int length)
    {
        if (_slab is not null && _slab.IsExclusive)
        {
            _position = 0;
        }

        if (_slab is null || _slab.Array.Length - _position < needed + SmallestRead)
        {
            Release(); // Before the rent, which may fail.
            _slab = slabs.Rent(size);
            _position = 0;
        }

        offset = _position;
        length = Math.Min(_slab.Array.Length - _position, needed + ReadSize);
        return _slab;
    }

    public void Retain(Slab slab, int end)
    {
        if (ReferenceEquals(slab, _slab))
        {
            _position = end;
        }
    }

    public bool ShouldCopy => slabs.IsOverBudget;

    public Slab RentOwn(int size) => slabs.Rent(size);

    public Slab Copy(ReadOnlySpan<byte> bytes) => slabs.Copy(bytes);

    public Slab Adopt(byte[] array) => slabs.Adopt(array);

    public void Release()
    {
        _slab?.Release();
        _slab = null;
    }
}
