using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

/// <summary>
/// A run of received messages in pooled memory. A message is {lease, first slot, generation}. 32 slots share a word, a generation and a bit
/// per live message: a release clears its bit with one compare-exchange that also checks the generation, so a second release or a late read
/// is detected. Parts lie in the lease's own slab, or each in a slab of its own: if a message came in several reads, or is forwarded by
/// reference.
/// </summary>
internal sealed class InboundLease
{
    public const int MaxSlots = 256;

    public const int SmallestSlots = 32;

    public const int GroupSize = 32;

    private const int FewSlots = 4;
    private const int ShortBytes = 256;

    public const int NeverFiltered = -1;

    // Leases keep their slot arrays, at most 3 KB: 4,096 of them hold a million short messages (both full queues of an inproc pair) in 13
    // MB.
    private const int MaxKept = 4096;

    private static readonly ObjectCache<InboundLease> s_small = new(MaxKept);

    // Reads use these first, single messages last. In a single cache, grown leases would serve short uses, and others would grow in their
    // place, although enough exist.
    private static readonly ObjectCache<InboundLease> s_grown = new(MaxKept);

    // For a thread that sends and receives alternately. A FIFO cache returns the coldest of thousands of leases after a flood: 0.6 us a
    // message instead of 0.13.
    [ThreadStatic]
    private static InboundLease? t_small;

    [ThreadStatic]
    private static InboundLease? t_grown;

    private Slab? _slab;
    private byte[] _array = [];
    private Slot[] _slots = new Slot[SmallestSlots];
    private long[] _groups = new long[SmallestSlots / GroupSize];
    private Slab?[] _own = [];
    private int _liveGroups;
    private int _messageStart;
    private bool _hasOwnSlabs;

    public InboundLease? Next { get; set; }

    public int Count { get; private set; }

    public int Unread => Count - Cursor;

    public int Messages { get; private set; }

    public long Bytes { get; private set; }

    public int Cursor { get; set; }

    /// <summary>The peer that the messages concern, if they are notifications of the socket itself.</summary>
    public object? NoticeOf { get; set; }

    /// <summary>Notices that change nothing for all subscribers together: others have the topic.</summary>
    public bool IsRepeatedNotice { get; set; }

    public int CheckedAtVersion { get; set; }

    public object? Source { get; private set; }

    public static InboundLease Open(Slab slab, ref int offset, int end, object? source = null)
    {
        slab.AddReference();
        InboundLease lease = Rent(slab, source);
        while (offset < end && lease.Count < MaxSlots)
        {
            int length = StreamFraming.ReadLength(lease._array.AsSpan(offset));
            lease.AddPart(offset + StreamFraming.HeaderSize, length);
            lease.EndMessage();
            offset += StreamFraming.HeaderSize + length;
        }

        return lease;
    }

    /// <summary><paramref name="slab"/>: Holds most parts; the lease takes over one reference.</summary>
    public static InboundLease Rent(Slab? slab, object? source, int checkedAt = 0)
    {
        InboundLease lease = s_grown.TryRent(ref t_grown, out InboundLease? grown) ? grown : s_small.Rent(ref t_small);
        return lease.Begin(slab, source, checkedAt);
    }

    /// <summary>As <see cref="Rent"/>, for the parts of one message.</summary>
    public static InboundLease RentForOne(Slab? slab, object? source)
    {
        InboundLease lease = s_small.TryRent(ref t_small, out InboundLease? small) ? small : s_grown.Rent(ref t_grown);
        return lease.Begin(slab, source, checkedAt: 0);
    }

    private InboundLease Begin(Slab? slab, object? source, int checkedAt)
    {
        _slab = slab;
        _array = slab is null ? [] : slab.Array;
        Source = source;
        CheckedAtVersion = checkedAt;
        Count = 0;
        Messages = 0;
        Bytes = 0;
        Cursor = 0;
        Next = null;
        _liveGroups = 0;
        _messageStart = 0;
        return this;
    }

    public void AddPart(int offset, int length)
    {
        ref Slot slot = ref NewSlot();
        slot.Offset = offset;
        slot.Length = length;
        Bytes += length;
    }

    public void AddPart(Slab slab, int offset, int length)
    {
        int index = Count;
        AddPart(offset, length);
        if (_own.Length < _slots.Length)
        {
            Array.Resize(ref _own, _slots.Length);
        }

        _own[index] = slab;
        _hasOwnSlabs = true;
    }

    public void AddParts(InboundLease from, int slot, int skip = 0)
    {
        int parts = from.PartsOf(slot);
        for (int i = skip; i < parts; i++)
        {
            (Slab slab, int offset, int length) = from.PartAt(slot + i);
            if (ReferenceEquals(slab, _slab))
            {
                AddPart(offset, length);
                continue;
            }

            slab.AddReference();
            AddPart(slab, offset, length);
        }
    }

    /// <summary>Where the copy is.</summary>
    public int AddCopy(InboundLease from, int slot)
    {
        AddParts(from, slot);
        return EndMessage();
    }

    /// <summary>Where the message is.</summary>
    public int EndMessage()
    {
        int start = _messageStart;
        _slots[start].Parts = Count - start;
        _messageStart = Count;
        Messages++;

        // Published by the queue's lock before any consumer can release one.
        ref long group = ref _groups[start / GroupSize];
        if ((uint)group == 0)
        {
            _liveGroups++;
        }

        group |= 1L << (start % GroupSize);
        return start;
    }

    /// <summary>Moves its parts to a slab of which it takes over one reference. No consumer may know of it.</summary>
    public void MoveTo(Slab slab)
    {
        int position = 0;
        foreach (ref Slot slot in _slots.AsSpan(0, Count))
        {
            _array.AsSpan(slot.Offset, slot.Length).CopyTo(slab.Array.AsSpan(position));
            slot.Offset = position;
            position += slot.Length;
        }

        _slab!.Release();
        _slab = slab;
        _array = slab.Array;
    }

    public int UnfinishedParts => Count - _messageStart;

    /// <summary>As <see cref="MoveTo"/>, of a lease without slabs of parts.</summary>
    public InboundLease? SplitOpenMessage()
    {
        if (UnfinishedParts == 0)
        {
            return null;
        }

        InboundLease unfinished = Rent(slab: null, Source, CheckedAtVersion);
        for (int i = _messageStart; i < Count; i++)
        {
            ref Slot slot = ref _slots[i];
            _slab!.AddReference();
            unfinished.AddPart(_slab, slot.Offset, slot.Length);
            Bytes -= slot.Length;
        }

        Count = _messageStart;
        return unfinished;
    }

    public bool IsOfSameSource(InboundLease other) => ReferenceEquals(Source, other.Source)
        && ReferenceEquals(NoticeOf, other.NoticeOf) && IsRepeatedNotice == other.IsRepeatedNotice;

    /// <summary>No consumer may know of either lease.</summary>
    public bool TryAbsorb(InboundLease other)
    {
        // Long messages are excluded: in this lease's slab they would stay as long as any of its messages.
        bool isLittle = other.Count <= FewSlots && other.Bytes <= ShortBytes;
        bool hasCapacity = Count + other.Count <= MaxSlots && Bytes <= ShortBytes * MaxSlots;
        bool areAlike = IsOfSameSource(other) && CheckedAtVersion == other.CheckedAtVersion;
        if (!isLittle || !hasCapacity || !areAlike || !IsPlain || !other.IsPlain)
        {
            return false;
        }

        for (int i = 0; i < other.Count; i++)
        {
            AddCopy(other, i);
        }

        other.ReleaseRemaining();
        return true;
    }

    private bool IsPlain => Cursor == 0 && Messages == Count;

    public int ConflateToLast()
    {
        int dropped = 0;
        while (Messages > 1)
        {
            int slot = Cursor;
            int parts = _slots[slot].Parts;
            Bytes -= BytesOf(slot);
            Cursor = slot + parts;
            Messages--;
            dropped++;
            Release(slot, GenerationOf(slot));
        }

        return dropped;
    }

    public void FetchSlot()
    {
        Slot[] slots = Volatile.Read(ref _slots);
        CacheLines.Fetch(slots);
        CacheLines.FetchElement(slots, Cursor);
        CacheLines.Fetch(Volatile.Read(ref _groups));
    }

    public void FetchPayload()
    {
        Slot[] slots = Volatile.Read(ref _slots);
        int slot = Cursor;
        if ((uint)slot < (uint)slots.Length)
        {
            byte[] array = Volatile.Read(ref _array);
            // Payload access checks the array's length: this miss was a third of the time to read and release a message.
            CacheLines.Fetch(array);
            CacheLines.FetchElement(array, slots[slot].Offset);
        }
    }

    public int GenerationOf(int slot) => (int)(Volatile.Read(ref _groups[slot / GroupSize]) >> 32);

    public int PartsOf(int slot) => _slots[slot].Parts;

    public ReadOnlyMemory<byte> Part(int slot, int index, int generation)
    {
        ref Slot entry = ref Volatile.Read(ref _slots)[slot + index];
        byte[] array = OwnOf(slot + index) is { } own ? own.Array : Volatile.Read(ref _array);
        int offset = Volatile.Read(ref entry.Offset);
        int length = Volatile.Read(ref entry.Length);

        // Last: if the generation still matches, the values read above belong to this message.
        if (!IsLive(slot, generation))
        {
            throw Ended();
        }

        return new ReadOnlyMemory<byte>(array, offset, length);
    }

    public static ObjectDisposedException Ended() => new("Net.Zlink.Message", "The message was disposed or sent.");

    public bool IsLive(int slot, int generation) => AreLive(slot, 1, generation);

    public bool AreLive(int slot, int count, int generation)
    {
        long bits = BitsOf(slot, count);
        long group = Volatile.Read(ref _groups[slot / GroupSize]);
        return (int)(group >> 32) == generation && (group & bits) == bits;
    }

    public long BytesOf(int slot)
    {
        int parts = _slots[slot].Parts;
        if (parts == 1)
        {
            return _slots[slot].Length;
        }

        long sum = 0;
        for (int i = 0; i < parts; i++)
        {
            sum += _slots[slot + i].Length;
        }

        return sum;
    }

    public (Slab Slab, int Offset, int Length) PartAt(int slot)
    {
        ref Slot entry = ref _slots[slot];
        return (OwnOf(slot) ?? _slab!, entry.Offset, entry.Length);
    }

    public (Slab Slab, int Offset, int Length) FramesAt(int slot, int count)
    {
        ref Slot last = ref _slots[slot + count - 1];
        int offset = _slots[slot].Offset - StreamFraming.HeaderSize;
        return (OwnOf(slot) ?? _slab!, offset, last.Offset + last.Length - offset);
    }

    public void Release(int slot, int generation) => Release(slot, 1, generation);

    public void Release(int slot, int count, int generation)
    {
        // Read first: another release may recycle the lease once this message is released.
        Slab? own = _hasOwnSlabs && Volatile.Read(ref _slots)[slot].Parts == 1 ? OwnOf(slot) : null;
        ref long group = ref _groups[slot / GroupSize];
        long bits = BitsOf(slot, count);
        long seen = Volatile.Read(ref group);
        while ((int)(seen >> 32) == generation && (seen & bits) != 0)
        {
            long left = seen & ~bits;
            long before = Interlocked.CompareExchange(ref group, left, seen);
            if (before == seen)
            {
                // Only this thread can know that this is the last group: then no interlocked operation is needed (5 ns).
                if ((uint)left == 0 && (Volatile.Read(ref _liveGroups) == 1 || Interlocked.Decrement(ref _liveGroups) == 0))
                {
                    Recycle();
                }

                own?.Release();
                return;
            }

            seen = before;
        }
    }

    public void ReleaseRemaining()
    {
        int count = Count;
        for (int slot = Cursor; slot < count;)
        {
            int parts = _slots[slot].Parts;
            Release(slot, GenerationOf(slot));
            slot += parts;
        }
    }

    public static void ReleaseAll(InboundLease? lease)
    {
        while (lease is not null)
        {
            InboundLease? next = lease.Next;
            lease.ReleaseRemaining();
            lease = next;
        }
    }

    /// <summary>Ends it with all its messages, also an incomplete one. No consumer may know of it.</summary>
    public void Abandon()
    {
        if (Messages == 0)
        {
            Recycle();
            return;
        }

        Count = _messageStart;
        ReleaseRemaining();
    }

    /// <summary>Messages may lie apart from each other: they came in several reads.</summary>
    public bool HasOwnSlabs => _hasOwnSlabs;

    private static long BitsOf(int slot, int count) => ((1L << count) - 1) << (slot % GroupSize);

    private ref Slot NewSlot()
    {
        if (Count == _slots.Length)
        {
            // In one step: doubling would use twice the bytes, and nearly all leases that grow reach the maximum.
            int larger = Math.Max(MaxSlots, Count * 2);
            Array.Resize(ref _slots, larger);
            Array.Resize(ref _groups, larger / GroupSize);
        }

        return ref _slots[Count++];
    }

    private void Recycle()
    {
        Slab? slab = _slab;
        _slab = null;
        _array = [];
        Source = null;
        NoticeOf = null;
        IsRepeatedNotice = false;
        Next = null;
        for (int i = 0; i * GroupSize < Count; i++)
        {
            // Only handles of released messages refer to these words now: a new generation invalidates them.
            Volatile.Write(ref _groups[i], (_groups[i] & ~(long)uint.MaxValue) + (1L << 32));
        }

        if (_hasOwnSlabs)
        {
            ReleaseOwnSlabs();
        }

        if (_slots.Length == SmallestSlots)
        {
            s_small.Return(ref t_small, this);
        }
        else if (_slots.Length <= MaxSlots)
        {
            s_grown.Return(ref t_grown, this);
        }

        slab?.Release();
    }

    private void ReleaseOwnSlabs()
    {
        _hasOwnSlabs = false;
        for (int i = 0; i < Count;)
        {
            bool isWhole = i < _messageStart;
            int parts = isWhole ? _slots[i].Parts : Count - i;
            bool isReleased = isWhole && parts == 1;
            for (int end = i + parts; i < end; i++)
            {
                if (i >= _own.Length)
                {
                    return;
                }

                Slab? own = _own[i];
                _own[i] = null;
                if (!isReleased)
                {
                    own?.Release();
                }
            }
        }
    }

    private Slab? OwnOf(int slot)
    {
        Slab?[] own = Volatile.Read(ref _own);
        return (uint)slot < (uint)own.Length ? Volatile.Read(ref own[slot]) : null;
    }

    private struct Slot
    {
        public int Offset;
        public int Length;

        public int Parts;
    }
}
