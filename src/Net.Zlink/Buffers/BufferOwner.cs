using System.Buffers;
using System.Runtime.CompilerServices;

namespace Net.Zlink.Buffers;

/// <summary>The result of <see cref="BufferPool.Rent"/>: one object per rent, never reused. Thread-safe.</summary>
/// <remarks>
/// Not pooled: a stale Dispose or Memory of a reused object would affect the next renter, and a plain reference carries no generation. It
/// costs 40 bytes of short-lived garbage per rent. A <see cref="BufferLease"/> costs none, since the value carries a generation.
/// <para>A memory manager, so that a memory obtained before Dispose is checked with each span. The array is pinned already, so a pin needs
/// no handle.</para>
/// </remarks>
internal sealed class BufferOwner(BufferPool rentedFrom, byte[] rented) : MemoryManager<byte>
{
    private const int DisposedBit = 1 << 30;

    private BufferPool? _pool = rentedFrom;
    private byte[]? _array = rented;
    private int _state;

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

        // A handle that is disposed twice must not count below zero.
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
                nameof(IMemoryOwner<>), "The owner of this pooled memory is disposed: the buffer may already be in use elsewhere.");
        }

        return array;
    }

    private void ReturnIf(bool last)
    {
        if (last)
        {
            byte[] array = _array!;
            BufferPool pool = _pool!;

            // A disposed owner must not keep the pool or the array alive.
            _array = null;
            _pool = null;
            pool.ReturnArray(array);
        }
    }
}
