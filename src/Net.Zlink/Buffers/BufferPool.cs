using System.Buffers;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// A pool of pinned byte buffers in 66 size classes, from 128 bytes to 8.5 million bytes. Thread-safe; a buffer may be returned on any
/// thread.
/// </summary>
/// <remarks>
/// Each class has several stacks, and threads begin at different ones. The pool creates buffers in advance and trims unused ones. Larger
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

    private readonly BufferClass[] _classes;
    private readonly OversizeCounter _oversize = new();
    private readonly BufferLedger? _ledger;
    private readonly bool _neverDisposed;
    private readonly TimeProvider _time;
    private readonly ITimer? _timer;
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
        _time = options.TimeProvider;
        _ledger = options.LeakCheck || AlwaysChecked ? new BufferLedger(_time, options.LeakCheck) : null;
        RetainedByteLimit = options.RetainedLimitOrDefault;
        var retained = new RetainedBytes(RetainedByteLimit);
        long now = _time.GetTimestamp();
        _classes = [.. options.ClassPolicies.Select((policy, index) => new BufferClass(SizeClasses.Sizes[index], policy, retained, now))];
        _timer = StartTimer(options.ClassPolicies.Where(static policy => policy.TrimsWhenIdle));
        if (neverDisposed && AssemblyLoadContext.GetLoadContext(typeof(BufferPool).Assembly) is { IsCollectible: true } plugIn)
        {
            // The runtime's timers would keep a plug-in's library loaded until the process ends.
            plugIn.Unloading += _ => _timer?.Dispose();
        }
    }

#pragma warning disable MA0055 // The timer of a pool that was not disposed must not tick for ever.
    /// <summary>Stops the timer.</summary>
    ~BufferPool() => _timer?.Dispose();
#pragma warning restore MA0055

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
    public BufferPoolStatistics GetStatistics() => new([.. _classes.Select(static one => one.Snapshot())], _oversize.Snapshot());

    /// <summary>
    /// Drops all retained buffers beyond each class's warm count now. The timer drops those that were unused for the policy's time.
    /// </summary>
    public void Trim() => Array.ForEach(_classes, static one => one.Trim(onlyUnused: false));

    /// <summary>Lists the buffers in use and their renters. Empty unless <see cref="BufferPoolOptions.LeakCheck"/> is on.</summary>
    /// <returns>One entry per buffer.</returns>
    public IReadOnlyList<BufferLeak> GetOutstanding() => _ledger?.GetOutstanding() ?? [];

    internal long RetainedByteLimit { get; }

    /// <summary>Called with each size to be allocated; tests let it throw.</summary>
    internal Action<int>? Allocating { get; set; }

    /// <summary>Return it once with <see cref="ReturnArray"/>, on any thread.</summary>
    internal byte[] RentArray(int minimumLength)
    {
        byte[] array = ((uint)minimumLength <= SizeClasses.LargestSize ? _classes[SizeClasses.IndexOf(minimumLength)].TryRent() : null)
            ?? Allocate(minimumLength);
        if (_ledger is not null)
        {
            NoteRented(array);
        }

        return array;
    }

    /// <summary>
    /// A second return is detected only with a ledger (Debug builds, leak check): in Release the library's callers ensure that it does not
    /// happen.
    /// </summary>
    internal void ReturnArray(byte[] array)
    {
        if (array.Length > SizeClasses.LargestSize)
        {
            _ledger?.OnReturned(array);
            _oversize.Return(array.Length);
            return;
        }

        BufferClass bufferClass = _classes[SizeClasses.IndexOf(array.Length)];
        if (bufferClass.Size != array.Length)
        {
            throw new ArgumentException($"An array of {array.Length} bytes fits no size class, so it does not come from a pool.",
                nameof(array));
        }

        _ledger?.OnReturned(array);
        bufferClass.Return(array);
    }

    internal void ThrowIfDisposed() => ObjectDisposedException.ThrowIf(Volatile.Read(ref _disposed), this);

    /// <summary>Drops all retained buffers. Buffers in use remain valid and may be returned; a rent throws.</summary>
    protected override void Dispose(bool disposing)
    {
        if (!disposing || _neverDisposed)
        {
            return;
        }

        Volatile.Write(ref _disposed, true);
        _timer?.Dispose();
        Array.ForEach(_classes, static one => one.Close());
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private byte[] Allocate(int minimumLength)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(minimumLength);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(minimumLength, Array.MaxLength);
        ThrowIfDisposed();
        try
        {
            return AllocateOnce(minimumLength);
        }
        catch (OutOfMemoryException)
        {
            Trim(); // What the pool retains may be the memory that is missing.
            return AllocateOnce(minimumLength);
        }
    }

    private byte[] AllocateOnce(int minimumLength)
    {
        if (minimumLength > SizeClasses.LargestSize)
        {
            Allocating?.Invoke(minimumLength);
            return _oversize.Rent(minimumLength);
        }

        BufferClass bufferClass = _classes[SizeClasses.IndexOf(minimumLength)];
        Allocating?.Invoke(bufferClass.Size);
        return bufferClass.Allocate();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
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
                _classes[SizeClasses.IndexOf(array.Length)].CountRejected();
            }
        }
    }

    private ITimer? StartTimer(IEnumerable<BufferClassPolicy> trimmed)
    {
        // Neither the pool nor the AsyncLocals of its creator are kept by the timer.
        var pool = new WeakReference<BufferPool>(this);
        TimeSpan period = trimmed.Select(static policy => policy.TrimAfterIdle).DefaultIfEmpty(Timeout.InfiniteTimeSpan).Min();
        return period == Timeout.InfiniteTimeSpan ? null
            : DefaultContext.Run(() => _time.CreateTimer(static pool => TrimIdle((WeakReference<BufferPool>)pool!), pool, period, period));
    }

    private static void TrimIdle(WeakReference<BufferPool> weak)
    {
        if (weak.TryGetTarget(out BufferPool? pool))
        {
            long now = pool._time.GetTimestamp();
            foreach (BufferClass one in pool._classes)
            {
                if (one.Policy.TrimsWhenIdle
                    && pool._time.GetElapsedTime(one.PeriodStart, now) >= one.Policy.TrimAfterIdle * TimerTolerance)
                {
                    one.PeriodStart = now;
                    one.Trim(onlyUnused: true);
                }
            }
        }
    }

    // A separate class, so that creating another pool does not warm this one.
    private static class SharedPool
    {
        internal static readonly BufferPool Instance = new(new BufferPoolOptions(), neverDisposed: true);
    }
}
