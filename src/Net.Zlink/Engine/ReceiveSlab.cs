using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>The buffer that all connections of one shard read into, one after the other, so that an idle connection holds none.</summary>
/// <remarks>
/// While nobody keeps any of it, each read overwrites the last one: push handlers that answer in place work in the same warm 64 KiB for ever. What a consumer
/// keeps stays where it is, the next read goes behind it, and a full slab is left to its readers and replaced.
/// </remarks>
/// <param name="slabs">Where slabs come from.</param>
/// <param name="size">Of each; a size class of the pool.</param>
internal sealed class ReceiveSlab(Slab.SlabCache slabs, int size = ReceiveSlab.FullSize)
{
    // Room for four full reads, so that pull consumers share a slab.
    private const int FullSize = 256 * 1024;

    /// <summary>Enough where reads of 8 KiB and more come in buffers of their own, as over tls and ws: there are many such shards, and each keeps its slab.</summary>
    public const int SmallSize = 64 * 1024;

    /// <summary>At most this much per read: one fair turn of a connection. Larger reads gained nothing on loopback and fall out of the L2 cache.</summary>
    public const int ReadSize = 64 * 1024;

    // Below this much free room a fresh slab is cheaper than the many small reads that the rest of this one would take.
    private const int SmallestRead = 16 * 1024;

    private Slab? _slab;
    private int _position;

    /// <summary>The slab to read into, positioned so that at least <paramref name="needed"/> + 16 KiB bytes are free.</summary>
    public Slab Acquire(int needed, out int offset, out int length)
    {
        if (_slab is not null && _slab.IsExclusive)
        {
            _position = 0;
        }

        if (_slab is null || _slab.Array.Length - _position < needed + SmallestRead)
        {
            _slab?.Release();
            _slab = slabs.Rent(size);
            _position = 0;
        }

        offset = _position;
        length = Math.Min(_slab.Array.Length - _position, needed + ReadSize);
        return _slab;
    }

    /// <summary>Marks bytes of the current slab as kept by somebody, so that the next read goes behind them.</summary>
    public void Retain(Slab slab, int end)
    {
        if (ReferenceEquals(slab, _slab))
        {
            _position = end;
        }
    }

    /// <summary>True when kept messages pin so much memory that a consumer should be given copies of the right size.</summary>
    public bool ShouldCopy => slabs.IsOverBudget;

    /// <summary>A right-sized buffer of its own, outside the shared slab: for a frame longer than a read, or a copy.</summary>
    public Slab RentOwn(int size) => slabs.Rent(size);

    /// <summary>A slab around an array of the pool that holds what was read already.</summary>
    public Slab Adopt(byte[] array) => slabs.Adopt(array);

    /// <summary>Gives the slab back when the shard stops.</summary>
    public void Release()
    {
        _slab?.Release();
        _slab = null;
    }
}
