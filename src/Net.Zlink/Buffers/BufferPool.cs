using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;

namespace Net.Zlink.Buffers;

/// <summary>
/// A pool of pinned byte buffers in 66 size classes, from 128 bytes to 8.5 million bytes. Thread-safe; a buffer may be returned on any
/// thread.
/// </summary>
/// <remarks>
/// Each thread has a cache in front of a store that all threads share. The pool creates buffers in advance and trims unused ones. Larger
/// requests are allocated at their exact size and not retained.
/// <para>Buffers are never cleared. A buffer that is not returned is collected as garbage; <see cref="BufferPoolOptions.LeakCheck"/> finds
/// its renter.</para>
/// </remarks>
/// <example>
/// <code>
/// using IMemoryOwner&lt;byte&gt; owner = BufferPool.Shared.Rent(1_500);
/// int length = Encoding.UTF8.GetBytes("hello", owner.Memory.Span);
/// socket.Send(owner.Memory.Span[..length]);
/// </code>
/// </example>
public sealed class BufferPool : MemoryPool<byte>
{
    private const int DefaultLength = 4_096;

    // The timer and the timestamps use different clocks: an early tick must not cost a whole further period.
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

    /// <summary>Creates a pool with the default settings.</summary>
    public BufferPool()
        : this(new BufferPoolOptions())
    {
    }

    /// <summary>Creates a pool. Returns after the warm buffers are allocated and touched.</summary>
    /// <param name="options">The settings. They are copied.</param>
    /// <exception cref="ArgumentNullException"><paramref name="options"/> is null.</exception>
    /// <exception cref="ArgumentException">As for <see cref="BufferPoolOptions.Validate"/>.</exception>
    public BufferPool(BufferPoolOptions options)
        : this(options, neverDisposed: false)
    {
    }

    private BufferPool(BufferPoolOptions options, bool neverDisposed)
    {
        ArgumentNullException.ThrowIfNull(options);
        options = options.ValidCopy();
        _neverDisposed = neverDisposed;
        _weakThis = new WeakReference<BufferPool>(this);
        _leakCheck = options.LeakCheck;
        _time = options.TimeProvider;
        _ledger = options.LeakCheck || AlwaysChecked ? new BufferLedger(_time, options.LeakCheck) : null;

        // With a ledger no cache matches on the fast path, so every call takes the slow path, which uses the ledger. Other pools pay
        // nothing for it.
        _fastKey = _ledger is null ? _key : new object();
        long now = _time.GetTimestamp();
        TimeSpan period = TimeSpan.MaxValue;
        RetainedByteLimit = options.RetainedLimitOrDefault;
        var retained = new RetainedBytes(RetainedByteLimit);
        for (int index = 0; index < _classes.Length; index++)
        {
            var bufferClass = new BufferClass(SizeClasses.Sizes[index], options.ClassPolicies[index], retained) { PeriodStart = now };
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
            // The runtime's timers would keep a plug-in's library loaded until the process ends.
            plugIn.Unloading += _ => _timer?.Dispose();
        }
    }

    /// <summary>The process's pool with default settings, created on first use. Disposing it has no effect.</summary>
    public static new BufferPool Shared => SharedPool.Instance;

    /// <summary>The 66 sizes in bytes, ascending.</summary>
    public static ReadOnlySpan<int> ClassSizes => SizeClasses.Sizes;

    /// <summary>The longest possible request, in bytes. Requests above the largest class are allocated and not retained.</summary>
    public override int MaxBufferSize => Array.MaxLength;

    /// <summary>Rents a buffer.</summary>
    /// <param name="minBufferSize">Bytes needed; -1 for a page of 4,096 bytes.</param>
    /// <returns>
    /// The owner of a buffer of at least that many bytes (its class size), with undefined content. Its Dispose returns the buffer; a second
    /// one has no effect. Afterwards the owner and every memory obtained from it throw <see cref="ObjectDisposedException"/>. A span or an
    /// array is not checked. While the memory is pinned, the return waits for the last unpin.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="minBufferSize"/> is below -1 or above <see cref="MaxBufferSize"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    /// <exception cref="OutOfMemoryException">The allocation failed, also after <see cref="Trim"/>.</exception>
    public override IMemoryOwner<byte> Rent(int minBufferSize = -1)
    {
        return new BufferOwner(this, RentArray(minBufferSize == -1 ? DefaultLength : minBufferSize));
    }

    /// <summary>Rents a buffer, without an allocation in steady state.</summary>
    /// <param name="minimumLength">Bytes needed; -1 for a page of 4,096 bytes.</param>
    /// <returns>A lease on a buffer of at least that many bytes, with undefined content. Its Dispose returns the buffer.</returns>
    /// <exception cref="ArgumentOutOfRangeException">
    /// <paramref name="minimumLength"/> is below -1 or above <see cref="MaxBufferSize"/>.
    /// </exception>
    /// <exception cref="ObjectDisposedException">The pool is disposed.</exception>
    /// <exception cref="OutOfMemoryException">The allocation failed, also after <see cref="Trim"/>.</exception>
    public BufferLease Lease(int minimumLength = -1)
    {
        byte[] array = RentArray(minimumLength == -1 ? DefaultLength : minimumLength);
        LeaseSlot slot = LeaseSlot.Rent();
        return new BufferLease(slot, slot.Begin(this, array));
    }

    /// <summary>Takes a snapshot of the counters. Allocates a few kilobytes: for meters and tests, not for each message.</summary>
    /// <returns>Counters per class and in total.</returns>
    public BufferPoolStatistics GetStatistics() => new(_registry.Snapshot(_classes), _oversize.Snapshot());

    /// <summary>
    /// Drops all retained buffers beyond each class's warm count now. The timer drops those that were unused for the policy's time.
    /// </summary>
    public void Trim()
    {
        for (int index = 0; index < _classes.Length; index++)
        {
            _registry.Trim(index, _classes[index], onlyUnused: false);
        }
    }

    /// <summary>Lists the buffers in use and their renters. Empty unless <see cref="BufferPoolOptions.LeakCheck"/> is on.</summary>
    /// <returns>One entry per buffer.</returns>
    public IReadOnlyList<BufferLeak> GetOutstanding() => _leakCheck ? _ledger!.GetOutstanding() : [];

    internal long RetainedByteLimit { get; }

    /// <summary>Called with each size to be allocated; tests let it throw.</summary>
    internal Action<int>? Allocating { get; set; }

    /// <summary>Return it once with <see cref="ReturnArray"/>, on any thread.</summary>
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
    /// A second return is detected only with a ledger (Debug builds, leak check): in Release the library's callers ensure that it does not
    /// happen.
    /// </summary>
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

    internal void RetireThreadCache(ThreadCache cache) => _registry.Retire(cache, _classes);

    /// <summary>Drops all retained buffers. Buffers in use remain valid and may be returned; a rent throws.</summary>
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
            array = Allocate(this, minimumLength, static (pool, length) => pool.OnAllocate(length)._oversize.Rent(length));
        }
        else
        {
            int classIndex = SizeClasses.IndexOf(minimumLength);
            ThreadCache cache = FindThreadCache();
            byte[]? popped = cache.TryPop(classIndex);
            array = popped ?? cache.Refill(classIndex, _classes[classIndex])
                ?? Allocate(this, classIndex, static (pool, index) => pool.OnAllocate(SizeClasses.Sizes[index])._classes[index].Allocate());
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

    // What the pool retains may be the memory that is missing.
    private static byte[] Allocate(BufferPool pool, int argument, Func<BufferPool, int, byte[]> allocate)
    {
        try
        {
            return allocate(pool, argument);
        }
        catch (OutOfMemoryException)
        {
            pool.Trim();
            return allocate(pool, argument);
        }
    }

    private BufferPool OnAllocate(int size)
    {
        Allocating?.Invoke(size);
        return this;
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
            throw new ArgumentException($"An array of {array.Length} bytes fits no size class, so it does not come from a pool.",
                nameof(array));
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

    // A separate class, so that creating another pool does not warm this one.
    private static class SharedPool
    {
        internal static readonly BufferPool Instance = new(new BufferPoolOptions(), neverDisposed: true);
    }
}
