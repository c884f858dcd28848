using System.Collections.Concurrent;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Sockets;

/// <summary>Up to 256 received messages that point into one slab, each with a slot and a generation of its own.</summary>
/// <remarks>
/// A message is {lease, slot, generation}. Ending a message raises its slot's generation, so a second end, or a read afterwards, is noticed in every
/// build, even when the lease serves another peer by then: no message ever shows another peer's bytes. When the last message ends, the slab's
/// reference goes back and the lease is reused. Slots are released from any thread; the rest belongs to the <see cref="PullQueue"/>'s lock.
/// </remarks>
internal sealed class InboundLease
{
    /// <summary>Also the longest turn of a peer in messages (docs/architecture.md, "Fair queue").</summary>
    public const int MaxSlots = 256;

    // Leases are reused with their slot arrays, at most 4 KB each: 2,048 of them cover a full receive budget of 16 KB reads in 8 MB.
    private const int MaxKept = 2048;
    // One read of 1 KB messages at 30 in flight fits without growing; 384 bytes.
    private const int SmallestSlots = 32;

    private static readonly ConcurrentQueue<InboundLease> Free = new();
    private static int s_kept;

    private Slab? _slab;
    private byte[] _array = [];
    private Slot[] _slots = new Slot[SmallestSlots];
    private int _live;

    /// <summary>The next lease of the same peer.</summary>
    public InboundLease? Next { get; set; }

    public int Count { get; private set; }

    /// <summary>The next slot to hand to a consumer.</summary>
    public int Cursor { get; set; }

    /// <summary>Makes a lease of the frames at the start of a region; takes a reference to the slab.</summary>
    /// <param name="slab">Where the frames are.</param>
    /// <param name="offset">Start of the region; moved behind the frames that were taken.</param>
    /// <param name="end">End of the region, a frame boundary.</param>
    public static InboundLease Take(Slab slab, ref int offset, int end)
    {
        if (Free.TryDequeue(out InboundLease? lease))
        {
            Interlocked.Decrement(ref s_kept);
        }
        else
        {
            lease = new InboundLease();
        }

        slab.AddReference();
        lease._slab = slab;
        lease._array = slab.Array;
        lease.Fill(ref offset, end);
        return lease;
    }

    public int GenerationOf(int slot) => Volatile.Read(ref _slots[slot].Generation);

    public int LengthOf(int slot) => _slots[slot].Length;

    /// <summary>The payload of a live message.</summary>
    /// <exception cref="ObjectDisposedException">The message has ended.</exception>
    public ReadOnlyMemory<byte> Payload(int slot, int generation)
    {
        ref Slot entry = ref _slots[slot];
        byte[] array = Volatile.Read(ref _array);
        int offset = Volatile.Read(ref entry.Offset);
        int length = Volatile.Read(ref entry.Length);

        // Checked last: what was read before it belongs to this message if the generation is still its own.
        ObjectDisposedException.ThrowIf(Volatile.Read(ref entry.Generation) != generation, typeof(InboundLease));
        return new ReadOnlyMemory<byte>(array, offset, length);
    }

    /// <summary>Ends a message. Harmless if it has ended already.</summary>
    public void Release(int slot, int generation)
    {
        if (Interlocked.CompareExchange(ref _slots[slot].Generation, generation + 1, generation) == generation && Interlocked.Decrement(ref _live) == 0)
        {
            Recycle();
        }
    }

    /// <summary>Ends the messages from <see cref="Cursor"/> on, which no consumer has seen.</summary>
    public void ReleaseRest()
    {
        int count = Count;
        for (int slot = Cursor; slot < count; slot++)
        {
            Release(slot, GenerationOf(slot));
        }
    }

    private void Fill(ref int offset, int end)
    {
        int count = 0;
        while (offset < end && count < MaxSlots)
        {
            if (count == _slots.Length)
            {
                Array.Resize(ref _slots, count * 2);
            }

            int length = StreamFraming.ReadLength(_array.AsSpan(offset));
            ref Slot slot = ref _slots[count++];
            slot.Offset = offset + StreamFraming.HeaderSize;
            slot.Length = length;
            offset += StreamFraming.HeaderSize + length;
        }

        Count = count;
        Cursor = 0;
        Next = null;
        Volatile.Write(ref _live, count);
    }

    private void Recycle()
    {
        Slab slab = _slab!;
        _slab = null;
        _array = [];
        Next = null;
        if (Interlocked.Increment(ref s_kept) <= MaxKept)
        {
            Free.Enqueue(this);
        }
        else
        {
            Interlocked.Decrement(ref s_kept);
        }

        slab.Release();
    }

    private struct Slot
    {
        public int Generation;
        public int Offset;
        public int Length;
    }
}
