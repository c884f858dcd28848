using System.Buffers;
using System.Collections.Concurrent;

namespace Net.Zlink.Buffers;

/// <summary>A pooled array shared by reference count: received messages point into it, and the last one to let go returns it to the pool.</summary>
/// <remarks>
/// Thread safety: references may be added by a holder and released from any thread. The array's content is written by one thread before it is
/// published and is read-only afterwards.
/// </remarks>
internal sealed class Slab
{
    private readonly SlabCache _cache;
    private byte[] _array = [];
    private int _references;
    private IMemoryOwner<byte>? _owner;

    private Slab(SlabCache cache) => _cache = cache;

    /// <summary>The backing array; valid while the caller holds a reference.</summary>
    public byte[] Array => _array;

    /// <summary>True when the caller's reference is the only one, so the array may be written again.</summary>
    public bool IsExclusive => Volatile.Read(ref _references) == 1;

    /// <summary>So many slabs are out that what is to be kept of this one should rather be copied.</summary>
    public bool ShouldBeCopied => _cache.IsOverBudget;

    public void AddReference() => Interlocked.Increment(ref _references);

    /// <summary>Drops one reference; the last one returns the array to the pool.</summary>
    public void Release()
    {
        int left = Interlocked.Decrement(ref _references);
        if (left == 0)
        {
            byte[] array = _array;
            _array = [];
            _cache.Recycle(this, array);
        }
        else if (left < 0)
        {
            throw new InvalidOperationException("A slab was released more often than it was referenced.");
        }
    }

    /// <summary>Moves the content to a larger array. Only the exclusive holder may call it.</summary>
    public void Grow(int length, int capacity)
    {
        byte[] larger = _cache.Pool.RentArray(capacity);
        _array.AsSpan(0, length).CopyTo(larger);
        _cache.Grown(larger.Length - _array.Length);
        _cache.Pool.ReturnArray(_array);
        _array = larger;
    }

    /// <summary>Hands out slabs and keeps the wrapper objects for reuse, so that a slab costs no allocation in steady state.</summary>
    internal sealed class SlabCache(BufferPool pool)
    {
        // Wrappers kept for reuse: 4,096 of about 40 bytes is 160 KB at most, and covers 1 GiB of outstanding 256 KB slabs.
        private const int MaxKept = 4096;

        // Kept messages pin whole slabs, however small they are. Past this much, what is kept is copied into buffers of its own size.
        private const long PinnedBudget = 32L * 1024 * 1024;

        private readonly ConcurrentQueue<Slab> _free = new();
        private int _kept;
        private long _outstandingBytes;

        public BufferPool Pool => pool;

        /// <summary>Bytes in arrays that are out now.</summary>
        public long OutstandingBytes => Volatile.Read(ref _outstandingBytes);

        /// <summary>So much memory is pinned that what is kept of a larger slab should be copied.</summary>
        public bool IsOverBudget => OutstandingBytes > PinnedBudget;

        /// <summary>A slab of at least <paramref name="minimumLength"/> bytes with one reference, the caller's.</summary>
        public Slab Rent(int minimumLength)
        {
            return Adopt(pool.RentArray(minimumLength));
        }

        /// <summary>A slab around an array of this pool that is out already; it goes back with the last reference.</summary>
        public Slab Adopt(byte[] array)
        {
            Slab slab = Wrapper();
            Interlocked.Add(ref _outstandingBytes, array.Length);
            slab._array = array;
            Volatile.Write(ref slab._references, 1);
            return slab;
        }

        /// <summary>A slab around memory that somebody handed over; its owner is disposed with the last reference.</summary>
        public Slab Adopt(byte[] array, IMemoryOwner<byte> owner)
        {
            Slab slab = Wrapper();
            slab._array = array;
            slab._owner = owner;
            Volatile.Write(ref slab._references, 1);
            return slab;
        }

        internal void Recycle(Slab slab, byte[] array)
        {
            if (slab._owner is { } owner)
            {
                slab._owner = null;
                HandedOver.Dispose(owner);
            }
            else
            {
                Interlocked.Add(ref _outstandingBytes, -array.Length);
                pool.ReturnArray(array);
            }

            if (Interlocked.Increment(ref _kept) <= MaxKept)
            {
                _free.Enqueue(slab);
            }
            else
            {
                Interlocked.Decrement(ref _kept);
            }
        }

        private Slab Wrapper()
        {
            if (_free.TryDequeue(out Slab? slab))
            {
                Interlocked.Decrement(ref _kept);
                return slab;
            }

            return new Slab(this);
        }

        internal void Grown(int by) => Interlocked.Add(ref _outstandingBytes, by);
    }
}
