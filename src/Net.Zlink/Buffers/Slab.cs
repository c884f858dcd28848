using System.Buffers;
using System.Runtime.InteropServices;

namespace Net.Zlink.Buffers;

/// <summary>A pooled array shared by reference count: received messages point into it, and the last one to let go returns it to the pool.</summary>
/// <remarks>
/// Thread safety: references may be added by a holder and released from any thread. The array's content is written by one thread before it is
/// published and is read-only afterwards.
/// </remarks>
internal sealed class Slab
{
    private SlabCache? _cache; // Null while it waits for its next use: a thread that keeps a wrapper must not keep a pool alive.
    private byte[] _array = [];
    private int _references;
    private int _stripe;
    private IMemoryOwner<byte>? _owner;

    private Slab()
    {
    }

    /// <summary>The backing array; valid while the caller holds a reference.</summary>
    public byte[] Array => _array;

    /// <summary>True when the caller's reference is the only one, so the array may be written again.</summary>
    public bool IsExclusive => Volatile.Read(ref _references) == 1;

    /// <summary>So many slabs are out that what is to be kept of this one should rather be copied.</summary>
    public bool ShouldBeCopied => _cache!.IsOverBudget;

    public void AddReference() => Interlocked.Increment(ref _references);

    /// <summary>Drops one reference; the last one returns the array to the pool.</summary>
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

    /// <summary>Moves the content to a larger array. Only the exclusive holder may call it.</summary>
    public void Grow(int length, int capacity)
    {
        SlabCache cache = _cache!;
        byte[] larger = cache.Pool.RentArray(capacity);
        _array.AsSpan(0, length).CopyTo(larger);
        cache.Account(larger.Length - _array.Length, _stripe);
        cache.Pool.ReturnArray(_array);
        _array = larger;
    }

    /// <summary>Hands out slabs and keeps the wrapper objects for reuse, so that a slab costs no allocation in steady state.</summary>
    internal sealed class SlabCache(BufferPool pool)
    {
        // Wrappers kept for reuse: 4,096 of about 40 bytes is 160 KB at most, and covers 1 GiB of outstanding 256 KB slabs.
        private const int MaxKept = 4096;

        // Kept messages pin whole slabs, however small they are. Past this much, what is kept is copied into buffers of its own size.
        private const long PinnedBudget = 32L * 1024 * 1024;

        // Threads count on stripes of their own: one count that all of them write moves between processors for each slab, and costs more than the rest of a rent. What a stripe has not told the total yet is at most this much.
        private const int Stripes = 8;
        private const long ReportStepBytes = 256 * 1024;

        [ThreadStatic]
        private static Slab? t_spare;

        private readonly ObjectCache<Slab> _spares = new(MaxKept);
        private readonly Stripe[] _stripes = new Stripe[Stripes];
        private long _total;

        public BufferPool Pool => pool;

        /// <summary>Bytes in arrays that are out now. Exact when nothing moves; adds up the stripes.</summary>
        public long OutstandingBytes
        {
            get
            {
                long sum = 0;
                foreach (ref Stripe stripe in _stripes.AsSpan())
                {
                    sum += Volatile.Read(ref stripe.Bytes);
                }

                return sum;
            }
        }

        /// <summary>So much memory is pinned that what is kept of a larger slab should be copied. To 2 MB.</summary>
        public bool IsOverBudget => Volatile.Read(ref _total) > PinnedBudget;

        /// <summary>A slab of at least <paramref name="minimumLength"/> bytes with one reference, the caller's.</summary>
        public Slab Rent(int minimumLength)
        {
            return Adopt(pool.RentArray(minimumLength));
        }

        /// <summary>A slab that begins with a copy of the bytes, with one reference, the caller's.</summary>
        public Slab Copy(ReadOnlySpan<byte> bytes)
        {
            Slab slab = Rent(bytes.Length);
            bytes.CopyTo(slab.Array);
            return slab;
        }

        /// <summary>A slab around an array of this pool that is out already; it goes back with the last reference.</summary>
        public Slab Adopt(byte[] array)
        {
            Slab slab = Wrapper(array);
            slab._stripe = Environment.CurrentManagedThreadId % Stripes;
            Account(array.Length, slab._stripe);
            return slab;
        }

        /// <summary>A slab around memory that somebody handed over; its owner is disposed with the last reference.</summary>
        public Slab Adopt(byte[] array, IMemoryOwner<byte> owner)
        {
            Slab slab = Wrapper(array);
            slab._owner = owner;
            return slab;
        }

        /// <summary>Counts bytes that go out, or, negative, come back: on the stripe that they went out on.</summary>
        internal void Account(long bytes, int stripeIndex)
        {
            ref Stripe stripe = ref _stripes[stripeIndex];
            long now = Interlocked.Add(ref stripe.Bytes, bytes);
            if (Math.Abs(now - Volatile.Read(ref stripe.ReportedBytes)) >= ReportStepBytes)
            {
                Interlocked.Add(ref _total, now - Interlocked.Exchange(ref stripe.ReportedBytes, now));
            }
        }

        internal void Recycle(Slab slab, byte[] array)
        {
            if (slab._owner is { } owner)
            {
                slab._owner = null;
                DeferredDisposal.Dispose(owner);
            }
            else
            {
                Account(-array.Length, slab._stripe);
                pool.ReturnArray(array);
            }

            _spares.Return(ref t_spare, slab);
        }

        private Slab Wrapper(byte[] array)
        {
            if (!_spares.TryRent(ref t_spare, out Slab? slab))
            {
                slab = new Slab();
            }

            slab._cache = this;
            slab._array = array;
            Volatile.Write(ref slab._references, 1);
            return slab;
        }

        /// <summary>One line of the cache and its neighbour, which the processor fetches with it.</summary>
        [StructLayout(LayoutKind.Sequential, Size = 128)]
        private struct Stripe
        {
            public long Bytes;
            public long ReportedBytes;
        }
    }
}
