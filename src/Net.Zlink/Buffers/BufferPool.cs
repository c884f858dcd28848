using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Net.Zlink.Buffers;

/// <summary>
/// A pool of pinned byte buffers in 66 size classes from 128 bytes to 8.5 million: a cache per thread in front of a store that all threads
/// share, warmed when it is built and trimmed when idle. Larger requests are allocated exactly and not kept. All members are thread-safe;
/// a buffer may be returned on any thread.
/// </summary>
/// <remarks>
/// Buffers are not cleared, neither at the rent nor at the return. A buffer that is never returned is collected as garbage;
/// <see cref="BufferPoolOptions.LeakCheck"/> finds out whose it was.
/// </remarks>
public sealed class BufferPool : MemoryPool<byte>
{
    /// <summary>What <see cref="Rent"/> gives when no size is asked for: one page.</summary>
    private const int DefaultLength = 4_096;

    /// <summary>
    /// Timer and timestamp are two clocks: a tick that comes a little early must not cost the class a whole further period.
    /// </summary>
    private const double TimerTolerance = 0.99;

#if DEBUG
    private const bool AlwaysChecked = true;
#else
    private const bool AlwaysChecked = false;
#endif

    private readonly object _key = new();
    private readonly object _fastKey;
    private readonly BufferClass[] _classes = new BufferClass[SizeClasses.Count];
    private readonly ThreadCacheRegistry _registry = new();
    private readonly WeakReference<BufferPool> _weakThis;
    private readonly OversizeCounter _oversize = new();
    private readonly BufferLedger? _ledger;
    private readonly bool _leakCheck;
    private readonly bool _neverDisposed;
    private readonly TimeProvider _time;
    private readonly IdleTrimTimer? _timer;
    private bool _disposed;

    /// <summary>A pool with the settings of <see cref="BufferPoolOptions.Default"/>.</summary>
    public BufferPool()
        : this(BufferPoolOptions.Default)
    {
    }

    /// <summary>A pool of its own; allocates and touches the warm buffers before it returns.</summary>
    /// <param name="options">The settings.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    public BufferPool(BufferPoolOptions options)
        : this(options, neverDisposed: false)
    {
    }

    private BufferPool(BufferPoolOptions options, bool neverDisposed)
    {
        ArgumentNullException.ThrowIfNull(options);
        _neverDisposed = neverDisposed;
        _weakThis = new WeakReference<BufferPool>(this);
        _leakCheck = options.LeakCheck;
        _time = options.TimeProvider;
        _ledger = options.LeakCheck || AlwaysChecked ? new BufferLedger(_time, options.LeakCheck) : null;

        // A pool with a ledger never finds its cache on the fast path, so that every call takes the slow path, which asks the ledger; the
        // others pay nothing for it.
        _fastKey = _ledger is null ? _key : new object();
        long now = _time.GetTimestamp();
        TimeSpan period = TimeSpan.MaxValue;
        for (int index = 0; index < _classes.Length; index++)
        {
            var bufferClass = new BufferClass(SizeClasses.Sizes[index], options.ClassPolicies[index]) { PeriodStart = now };
            bufferClass.Warm();
            _classes[index] = bufferClass;
            if (bufferClass.Policy.TrimsWhenIdle && bufferClass.Policy.TrimAfterIdle < period)
            {
                period = bufferClass.Policy.TrimAfterIdle;
            }
        }

        _timer = period == TimeSpan.MaxValue ? null : new IdleTrimTimer(_weakThis, _time, period);
        if (neverDisposed && AssemblyLoadContext.GetLoadContext(typeof(BufferPool).Assembly) is { IsCollectible: true } plugIn)
        {
            // The runtime's timers would hold the library of a plug-in, and with it the plug-in, for as long as the process lives.
            plugIn.Unloading += _ => _timer?.Dispose();
        }
    }

    /// <summary>The pool of the process, with the default settings; made at the first use. Disposing it does nothing.</summary>
    public static new BufferPool Shared => SharedPool.Instance;

    /// <summary>The 66 sizes in bytes, ascending.</summary>
    public static ReadOnlySpan<int> ClassSizes => SizeClasses.Sizes;

    /// <summary>The longest request that can be met; those beyond the largest class are allocated and not kept.</summary>
    public override int MaxBufferSize => Array.MaxLength;

    /// <summary>Rents a buffer.</summary>
    /// <param name="minBufferSize">Bytes needed; -1 for a page of 4,096 bytes.</param>
    /// <returns>
    /// The owner of a buffer of at least that many bytes (the size of its class), with undefined content. Dispose it to return the
    /// buffer; a second Dispose is harmless. After it, the owner, its <see cref="IMemoryOwner{T}.Memory"/> and every memory taken from it
    /// before throw <see cref="ObjectDisposedException"/>; only a span or an array taken before can't be watched. While the memory is
    /// pinned, the return waits for the last unpin.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minBufferSize"/> is below -1 or above
    /// <see cref="MaxBufferSize"/>.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        return new BufferOwner(this, RentArray(minBufferSize == -1 ? DefaultLength : minBufferSize));
    }

    /// <summary>Rents a buffer without allocating anything in steady state.</summary>
    /// <param name="minimumLength">Bytes needed; -1 for a page of 4,096 bytes.</param>
    /// <returns>A lease on a buffer of at least that many bytes, with undefined content. Dispose it to return the buffer.</returns>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minimumLength"/> is below -1 or above
    /// <see cref="MaxBufferSize"/>.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    public BufferLease Lease(int minimumLength = -1)
    {
        byte[] array = RentArray(minimumLength == -1 ? DefaultLength : minimumLength);
        LeaseSlot slot = LeaseSlots.Rent();
        return new BufferLease(slot, slot.Begin(this, array));
    }

    /// <summary>A momentary view of the counters. Allocates a few kilobytes: meant for meters and tests, not for every message.</summary>
    /// <returns>Counts per class and in total.</returns>
    public BufferPoolStatistics GetStatistics() => new(_registry.Snapshot(_classes), _oversize.Snapshot());

    /// <summary>
    /// Lets go, now, of all kept buffers beyond the warm count of each class. The timer does the same with those that nobody needed for
    /// the policy's time.
    /// </summary>
    public void Trim()
    {
        for (int index = 0; index < _classes.Length; index++)
        {
            _registry.Trim(index, _classes[index], onlyUnused: false);
        }
    }

    /// <summary>What is out now, and who rented it. Empty unless <see cref="BufferPoolOptions.LeakCheck"/> is on.</summary>
    /// <returns>One entry per buffer.</returns>
    public IReadOnlyList<BufferLeak> GetOutstanding() => _leakCheck ? _ledger!.GetOutstanding() : [];

    /// <summary>
    /// Rents a pinned array of at least <paramref name="minimumLength"/> bytes: its length is the size of its class, or exact beyond the
    /// largest class. Return it once with <see cref="ReturnArray"/>, on any thread.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException"><paramref name="minimumLength"/> is negative or above
    /// <see cref="MaxBufferSize"/>.</exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    internal byte[] RentArray(int minimumLength)
    {
        if ((uint)minimumLength <= SizeClasses.LargestSize)
        {
            ThreadCache? cache = ThreadCache.Current;
            if (cache is not null && ReferenceEquals(cache.Key, _fastKey))
            {
                byte[]? array = cache.TryPop(SizeClasses.IndexOf(minimumLength));
                if (array is not null)
                {
                    return array;
                }
            }
        }

        return RentSlow(minimumLength);
    }

    /// <summary>
    /// Takes back an array from <see cref="RentArray"/>. The caller must not touch it again: it can be someone else's at once. Harmless
    /// on a disposed pool. A second return is only detected under a ledger (Debug builds, leak check): in Release the caller is one of
    /// ours and keeps its own books.
    /// </summary>
    /// <exception cref="ArgumentException">The length is no class size: the array is not from a pool.</exception>
    /// <exception cref="InvalidOperationException">Under a ledger: the array is not out.</exception>
    internal void ReturnArray(byte[] array)
    {
        int length = array.Length;
        if ((uint)length <= SizeClasses.LargestSize)
        {
            int classIndex = SizeClasses.IndexOf(length);
            ThreadCache? cache = ThreadCache.Current;
            if (cache is not null && ReferenceEquals(cache.Key, _fastKey)
                && SizeClasses.Sizes[classIndex] == length && cache.TryPush(classIndex, array))
            {
                return;
            }
        }

        ReturnSlow(array);
    }

    /// <summary>The timer's work: the classes whose idle span is over let go of what nobody needed in it.</summary>
    internal void TrimIdle()
    {
        long now = _time.GetTimestamp();
        for (int index = 0; index < _classes.Length; index++)
        {
            BufferClass bufferClass = _classes[index];
            if (bufferClass.Policy.TrimsWhenIdle
                && _time.GetElapsedTime(bufferClass.PeriodStart, now) >= bufferClass.Policy.TrimAfterIdle * TimerTolerance)
            {
                bufferClass.PeriodStart = now;
                _registry.Trim(index, bufferClass, onlyUnused: true);
            }
        }
    }

    internal void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed), this);

    /// <summary>The thread of a cache is gone.</summary>
    internal void RetireThreadCache(ThreadCache cache) => _registry.Retire(cache, _classes);

    /// <summary>Lets go of everything kept. What is out stays usable, and its return is harmless; a rent throws.</summary>
    protected override void Dispose(bool disposing)
    {
        if (!disposing || _neverDisposed)
        {
            return;
        }

        Volatile.Write(ref _disposed, true);
        _timer?.Dispose();
        _registry.Close();
        foreach (BufferClass bufferClass in _classes)
        {
            bufferClass.Store.Close();
        }
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte[] RentSlow(int minimumLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(minimumLength);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minimumLength, Array.MaxLength);
        ThrowIfDisposed();
        byte[] array;
        if (minimumLength > SizeClasses.LargestSize)
        {
            array = _oversize.Rent(minimumLength);
        }
        else
        {
            int classIndex = SizeClasses.IndexOf(minimumLength);
            ThreadCache cache = FindThreadCache();
            byte[]? popped = cache.TryPop(classIndex);
            array = popped ?? cache.Refill(classIndex, _classes[classIndex]) ?? _classes[classIndex].Allocate();
            if (popped is null)
            {
                cache.CountRented(classIndex);
            }
        }

        if (_ledger is not null)
        {
            NoteRented(array);
        }

        return array;
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private void ReturnSlow(byte[] array)
    {
        if (array.Length > SizeClasses.LargestSize)
        {
            _ledger?.OnReturned(array);
            _oversize.Return(array.Length);
            return;
        }

        int classIndex = SizeClasses.IndexOf(array.Length);
        if (SizeClasses.Sizes[classIndex] != array.Length)
        {
            throw new ArgumentException($"An array of {array.Length} bytes is of no size class: it is not from a pool.", nameof(array));
        }

        _ledger?.OnReturned(array);
        ThreadCache cache = FindThreadCache();
        if (cache.TryPush(classIndex, array))
        {
            return;
        }

        cache.CountReturned(classIndex);
        if (!cache.Spill(classIndex, _classes[classIndex], array))
        {
            _classes[classIndex].CountRejected();
        }
    }

    // A spoilt buffer goes to nobody: the books say it was returned and not kept.
    private void NoteRented(byte[] array)
    {
        bool sound = false;
        try
        {
            _ledger!.OnRented(array);
            sound = true;
        }
        finally
        {
            if (!sound)
            {
                int classIndex = SizeClasses.IndexOf(array.Length);
                FindThreadCache().CountReturned(classIndex);
                _classes[classIndex].CountRejected();
            }
        }
    }

    private ThreadCache FindThreadCache()
    {
        ThreadCache? cache = ThreadCache.Current;
        if (cache is not null && ReferenceEquals(cache.Key, _key))
        {
            return cache;
        }

        ThreadCacheSet set = ThreadCacheSet.OfThisThread;
        cache = set.Find(_key);
        if (cache is null)
        {
            cache = _registry.Create(_key, _weakThis);
            set.Add(cache);
        }

        ThreadCache.Current = cache;
        return cache;
    }

    // A class of its own, so that making another pool does not warm this one.
    private static class SharedPool
    {
        internal static readonly BufferPool Instance = new(BufferPoolOptions.Default, neverDisposed: true);
    }
}
