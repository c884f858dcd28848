using System.Buffers;

namespace Net.Zlink.Buffers;

/// <summary>
/// References may be added by a holder and released on any thread. One thread writes the array before it is published; afterwards it is
/// read-only.
/// </summary>
internal sealed class Slab
{
    private SlabCache? _cache; // Null while unused: a cached object must not keep a pool alive.
    private byte[] _array = [];
    private int _references;
    private IMemoryOwner<byte>? _owner;

    public byte[] Array => _array;

    public bool IsExclusive => Volatile.Read(ref _references) == 1;

    public bool ShouldBeCopied => _cache!.IsOverBudget;

    public void AddReference() => Interlocked.Increment(ref _references);

    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        if (left == 0)
        {
            byte[] array = _array;
            _array = [];
            SlabCache cache = _cache!;
            _cache = null;
            cache.Recycle(this, array);
        }
        else if (left < 0)
        {
            throw new InvalidOperationException("A slab was released more often than it was referenced.");
        }
    }

    /// <summary>Exclusive holder only.</summary>
    public void Grow(int length, int capacity)
    {
        SlabCache cache = _cache!;
        byte[] larger = cache.Pool.RentArray(capacity);
        _array.AsSpan(0, length).CopyTo(larger);
        cache.Account(larger.Length - _array.Length);
        cache.Pool.ReturnArray(_array);
        _array = larger;
    }

    internal sealed class SlabCache(BufferPool pool)
    {
        // 4,096 objects of about 40 bytes are 160 KB, enough for 1 GiB in slabs of 256 KB.
        private const int MaxKept = 4096;

        // Retained messages pin whole slabs: above this, they are copied to buffers of their own size.
        private const long PinnedBudget = 32L * 1024 * 1024;

        [ThreadStatic]
        private static Slab? t_cached;

        private readonly ObjectCache<Slab> _cache = new(MaxKept);
        private long _outstanding;

        public BufferPool Pool => pool;

        public long OutstandingBytes => Volatile.Read(ref _outstanding);

        public bool IsOverBudget => OutstandingBytes > PinnedBudget;

        public Slab Rent(int minimumLength) => Adopt(pool.RentArray(minimumLength));

        public Slab Copy(ReadOnlySpan<byte> bytes)
        {
            Slab slab = Rent(bytes.Length);
            bytes.CopyTo(slab.Array);
            return slab;
        }

        public Slab Adopt(byte[] array)
        {
            Slab slab = Wrapper(array);
            Account(array.Length);
            return slab;
        }

        public Slab Adopt(byte[] array, IMemoryOwner<byte> owner)
        {
            Slab slab = Wrapper(array);
            slab._owner = owner;
            return slab;
        }

        internal void Account(long bytes) => Interlocked.Add(ref _outstanding, bytes);

        internal void Recycle(Slab slab, byte[] array)
        {
            if (slab._owner is { } owner)
            {
                slab._owner = null;
                DeferredDisposal.Dispose(owner);
            }
            else
            {
                Account(-array.Length);
                pool.ReturnArray(array);
            }

            _cache.Return(ref t_cached, slab);
        }

        private Slab Wrapper(byte[] array)
        {
            Slab slab = _cache.Rent(ref t_cached);
            slab._cache = this;
            slab._array = array;
            Volatile.Write(ref slab._references, 1);
            return slab;
        }
    }
}
