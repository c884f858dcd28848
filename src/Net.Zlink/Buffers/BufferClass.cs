using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Buffers;

/// <summary>
/// One size class of a <see cref="BufferPool"/>. Each thread begins at a stack of its own number, so threads seldom wait for each other; an
/// empty or full one is passed over. Thread-safe.
/// </summary>
internal sealed class BufferClass
{
    // Also on two processors: with two stacks, half of the pairs of threads had the same one, and an inproc round trip took 0.3 us more.
    private const int Stacks = 8;

    // Filling a larger one takes longer than any wait, and few are kept.
    private const int LargestDivided = 64 * 1024;

    private readonly BufferStack[] _stacks;
    private readonly Lock _trimming = new();
    private long _allocated;
    private long _rejected;
    private long _trimmed;

    internal BufferClass(int size, BufferClassPolicy policy, RetainedBytes retained, long now)
    {
        Size = size;
        Policy = policy;
        PeriodStart = now;
        _stacks = new BufferStack[size <= LargestDivided ? Stacks : 1];
        for (int index = 0; index < _stacks.Length; index++)
        {
            _stacks[index] = new BufferStack((policy.KeepLimit + index) / _stacks.Length, size, retained);
        }

        for (int warmed = 0; warmed < policy.WarmCount; warmed++)
        {
            Return(PinnedArray.AllocateTouched(size));
        }

        // The space that they do not need is left to other classes: the warm buffers of all must fit.
        Array.ForEach(_stacks, static stack => stack.Trim(most: 0, onlyUnused: true));
        _allocated = policy.WarmCount;
    }

    internal int Size { get; }

    internal BufferClassPolicy Policy { get; }

    internal long PeriodStart { get; set; }

    /// <summary>Null: none is kept, and <see cref="Allocate"/> follows.</summary>
    internal byte[]? TryRent()
    {
        int first = Environment.CurrentManagedThreadId;
        BufferStack own = _stacks[first & (_stacks.Length - 1)];
        byte[]? array = own.TryPop();
        for (int index = 1; array is null && index < _stacks.Length; index++)
        {
            array = own.TryPopFrom(_stacks[(first + index) & (_stacks.Length - 1)]);
        }

        return array;
    }

    internal byte[] Allocate()
    {
        byte[] array = PinnedArray.Allocate(Size);
        Interlocked.Increment(ref _allocated);
        return array;
    }

    internal void Return(byte[] array)
    {
        int first = Environment.CurrentManagedThreadId;
        for (int index = 0; index < _stacks.Length; index++)
        {
            if (_stacks[(first + index) & (_stacks.Length - 1)].TryPush(array))
            {
                return;
            }
        }

        CountRejected();
    }

    /// <summary>It counts as returned, and is left to the garbage collector.</summary>
    internal void CountRejected() => Interlocked.Increment(ref _rejected);

    /// <summary>
    /// Drops buffers down to the warm count. <paramref name="onlyUnused"/>: only those unused since the last call.
    /// </summary>
    internal void Trim(bool onlyUnused)
    {
        lock (_trimming)
        {
            int excess = Math.Max(0, _stacks.Sum(static stack => stack.Count) - Policy.WarmCount);
            int dropped = 0;
            foreach (BufferStack stack in _stacks)
            {
                dropped += stack.Trim(excess - dropped, onlyUnused);
            }

            Interlocked.Add(ref _trimmed, dropped);
        }
    }

    internal void Close() => Array.ForEach(_stacks, static stack => stack.Close());

    internal BufferClassStatistics Snapshot()
    {
        // All returns are read before any rent: each return follows its rent, so Live is never negative. Warm buffers were returned first.
        long rejected = Interlocked.Read(ref _rejected);
        long returned = rejected + _stacks.Sum(static stack => stack.Pushed) - Policy.WarmCount;
        long allocated = Interlocked.Read(ref _allocated);
        return new BufferClassStatistics
        {
            Size = Size,
            Rented = allocated + _stacks.Sum(static stack => stack.Popped) - Policy.WarmCount,
            Returned = returned,
            Allocated = allocated,
            Rejected = rejected,
            Trimmed = Interlocked.Read(ref _trimmed),
            Kept = _stacks.Sum(static stack => stack.Count),
        };
    }
}

/// <summary>
/// Some of the retained buffers of a class. The last returned one goes first, since it is the likeliest in a processor's cache. The space
/// of the stack is what counts against the limit of all classes, so rents and returns change nothing that other stacks use.
/// </summary>
internal sealed class BufferStack(int limit, int size, RetainedBytes retained)
{
    // So much space at once at most: a stack that is not full must not leave other classes without any.
    private const int GrowthBytes = 128 * 1024;
    private const int MinGrowth = 8;
    private const int BatchSize = 8;

    private ShortLock _gate;
    private byte[]?[] _items = [];
    private int _count;
    private int _lowWater;
    private long _popped;
    private long _pushed;
    private bool _isClosed;

    internal int Count => Volatile.Read(ref _count);

    internal long Popped => Volatile.Read(ref _popped);

    internal long Pushed => Volatile.Read(ref _pushed);

    internal byte[]? TryPop()
    {
        if (Count == 0)
        {
            return null;
        }

        using (_gate.EnterScope())
        {
            if (_count == 0)
            {
                return null;
            }

            byte[]? array = _items[--_count];
            _items[_count] = null;
            _lowWater = Math.Min(_lowWater, _count);
            _popped++;
            return array;
        }
    }

    /// <summary>
    /// Moves some more of the other stack here, so that threads that only rent and threads that only return seldom meet.
    /// </summary>
    internal byte[]? TryPopFrom(BufferStack other)
    {
        if (other.Count == 0)
        {
            return null;
        }

        Batch batch = default;
        Span<byte[]?> taken = batch;
        taken = taken[..other.Take(taken[..(1 + MakeRoom())])];
        if (taken.IsEmpty)
        {
            return null;
        }

        foreach (byte[]? moved in taken[..^1])
        {
            _ = TryPush(moved!, isMoved: true) || other.TryPush(moved!, isMoved: true);
        }

        return taken[^1];
    }

    internal bool TryPush(byte[] array, bool isMoved = false)
    {
        using (_gate.EnterScope())
        {
            if (_count == _items.Length && !TryGrow())
            {
                return false;
            }

            _items[_count++] = array;
            _pushed += isMoved ? 0 : 1;
            return true;
        }
    }

    /// <summary>Drops the oldest. <paramref name="onlyUnused"/>: at most the fewest that were here since the last call.</summary>
    internal int Trim(int most, bool onlyUnused)
    {
        using (_gate.EnterScope())
        {
            int dropped = Math.Min(most, onlyUnused ? _lowWater : _count);
            Keep(_items[dropped.._count]);
            return dropped;
        }
    }

    internal void Close()
    {
        using (_gate.EnterScope())
        {
            _isClosed = true;
            Keep([]);
        }
    }

    /// <summary>At most half of them, of which the caller rents the last one.</summary>
    private int Take(Span<byte[]?> into)
    {
        using (_gate.EnterScope())
        {
            int taken = Math.Min((_count + 1) / 2, into.Length);
            Span<byte[]?> from = _items.AsSpan(_count - taken, taken);
            from.CopyTo(into);
            from.Clear();
            _count -= taken;
            _lowWater = Math.Min(_lowWater, _count);
            _popped += Math.Min(taken, 1);
            return taken;
        }
    }

    private int MakeRoom()
    {
        using (_gate.EnterScope())
        {
            _ = _count < _items.Length || TryGrow();
            return Math.Min(_items.Length - _count, BatchSize - 1);
        }
    }

    private void Keep(byte[]?[] items)
    {
        retained.Release(_items.Length - items.Length, size);
        _items = items;
        _count = items.Length;
        _lowWater = items.Length;
    }

    private bool TryGrow()
    {
        int wanted = Math.Max(1, Math.Min(Math.Max(MinGrowth, _count), GrowthBytes / size));
        int granted = _isClosed ? 0 : retained.Reserve(Math.Min(wanted, limit - _count), size);
        if (granted > 0)
        {
            Array.Resize(ref _items, _count + granted);
        }

        return granted > 0;
    }

    [InlineArray(BatchSize)]
    private struct Batch
    {
        private byte[]? _first;
    }
}

/// <summary>The bytes that all classes of a pool retain together.</summary>
internal sealed class RetainedBytes(long limit)
{
    private long _free = limit;

    internal int Reserve(int wanted, int size)
    {
        long free = Volatile.Read(ref _free);
        while (true)
        {
            int granted = (int)Math.Min(wanted, free / size);
            long seen = Interlocked.CompareExchange(ref _free, free - ((long)granted * size), free);
            if (seen == free)
            {
                return granted;
            }

            free = seen;
        }
    }

    internal void Release(int count, int size) => Interlocked.Add(ref _free, (long)count * size);
}

internal static class PinnedArray
{
    internal static byte[] Allocate(int length) => GC.AllocateUninitializedArray<byte>(length, pinned: true);

    /// <summary>Touches each page, so that page faults happen now and not under load.</summary>
    internal static byte[] AllocateTouched(int length)
    {
        byte[] array = Allocate(length);
        for (int offset = 0; offset < length; offset += Environment.SystemPageSize)
        {
            array[offset] = 0;
        }

        array[length - 1] = 0;
        return array;
    }
}
