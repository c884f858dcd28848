using System.Buffers;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>
/// What <see cref="BufferPool.Rent"/> hands out: one object per rent, never recycled. Thread-safe.
/// </summary>
/// <remarks>
/// <para>Why it is not pooled: the holder of a plain reference can't show which rent he means. Were the object handed out again, a stale
/// second Dispose, or a stale look at Memory, would hit the next renter, and no generation inside the object could tell the two apart. An
/// object that is used once can: the reference itself is the generation. It costs 40 bytes a rent, of the kind that a collector frees for
/// nothing; a <see cref="BufferLease"/> costs none, because there the value that the holder keeps carries the generation.</para>
/// <para>It is a memory manager so that a memory taken before Dispose asks here each time it is turned into a span, and so that pinning
/// needs no handle: the array is pinned anyway.</para>
/// </remarks>
internal sealed class BufferOwner : MemoryManager<byte>
{
    // Above the pin count, which takes the lower bits.
    private const int DisposedBit = 1 << 30;

    private BufferPool? _pool;
    private byte[]? _array;
    private int _state;

    internal BufferOwner(BufferPool pool, byte[] array)
    {
        _pool = pool;
        _array = array;
    }

    public override Memory<byte> Memory => CreateMemory(Array().Length);

    public override Span<byte> GetSpan() => Array();

    public override unsafe MemoryHandle Pin(int elementIndex = 0)
    {
        byte[] array = Array();
        ArgumentOutOfRangeException.ThrowIfNegative(elementIndex);
        ArgumentOutOfRangeException.ThrowIfGreaterThan(elementIndex, array.Length);
        int state = Volatile.Read(ref _state);
        while (true)
        {
            ObjectDisposedException.ThrowIf((state & DisposedBit) != 0, typeof(IMemoryOwner<byte>));
            int seen = Interlocked.CompareExchange(ref _state, state + 1, state);
            if (seen == state)
            {
                return new MemoryHandle((byte*)Unsafe.AsPointer(ref array[0]) + elementIndex, pinnable: this);
            }

            state = seen;
        }
    }

    public override void Unpin()
    {
        int state = Volatile.Read(ref _state);

        // A copy of a handle disposed twice finds no pin left, and must not count below none.
        while ((state & ~DisposedBit) > 0)
        {
            int seen = Interlocked.CompareExchange(ref _state, state - 1, state);
            if (seen == state)
            {
                ReturnIf(state - 1 == DisposedBit);
                return;
            }

            state = seen;
        }
    }

    protected override bool TryGetArray(out ArraySegment<byte> segment)
    {
        segment = Array();
        return true;
    }

    protected override void Dispose(bool disposing)
    {
        int before = Interlocked.Or(ref _state, DisposedBit);
        ReturnIf(before == 0);
    }

    private byte[] Array()
    {
        byte[]? array = _array;
        if (array is null || (Volatile.Read(ref _state) & DisposedBit) != 0)
        {
            throw new ObjectDisposedException(
                nameof(IMemoryOwner<>), "The owner of this pooled memory is disposed: the buffer may already be someone else's.");
        }

        return array;
    }

    // Exactly one caller sees the change to "disposed and not pinned".
    private void ReturnIf(bool last)
    {
        if (last)
        {
            byte[] array = _array!;
            BufferPool pool = _pool!;

            // Whoever forgets a disposed owner somewhere holds on to neither.
            _array = null;
            _pool = null;
            pool.ReturnArray(array);
        }
    }
}
