using Net.Zlink.Buffers;
using Net.Zlink.Protocol.Stream;

namespace Net.Zlink.Engine;

/// <summary>A run of received messages that point into pooled memory, each with a slot and a generation of its own.</summary>
/// <remarks>
/// A message is {lease, first slot, generation} and has one slot per part. 32 slots share a word of their generation and a bit for each message that lives; ending a message clears its bit with one
/// compare-exchange that checks the generation too. So a second end, or a read afterwards, is noticed in every build, even when the lease serves another peer by then: no message shows another
/// peer's bytes (within four thousand million uses of a lease; then its generations begin anew). Consumers write only these words, never the slots, which stay in the writer's cache. When the last message ends, the memory goes back and the lease is reused. Messages are released from any thread; the rest belongs to the lock of the queue that the lease stands in.
/// Parts lie in the lease's own slab, or, where a message was put together from several reads or is passed on by reference, each in a slab of its own. That of a message of one part goes back when the message ends,
/// whatever else of the lease lives: so long messages share leases, and none holds another's memory.
/// </remarks>
internal sealed class InboundLease
{
    /// <summary>Also the longest turn of a STREAM peer in messages (docs/architecture.md, "Fair queue").</summary>
    public const int MaxSlots = 256;

    // Leases are reused with their slot arrays, at most 3 KB each: 4,096 of them hold a million short messages, a full queue on both sides of an inproc pair, in 13 MB.
    private const int MaxKept = 4096;

    // One read of 1 KB messages at 30 in flight fits without growing; 384 bytes.
    private const int SmallestSlots = 32;

    /// <summary>Slots whose state is one word: a bit each in its lower half, their generation in the upper.</summary>
    public const int GroupSize = 32;

    // What one lease takes over from another: reads that bring more than this are worth a lease of their own.
    private const int FewSlots = 4;
    private const int ShortBytes = 256;

    /// <summary>A <see cref="CheckedAtVersion"/> of messages that no filter was asked about yet.</summary>
    public const int NeverFiltered = -1;

    private static readonly ObjectCache<InboundLease> Spares = new(MaxKept);

    // Taken first: where all waited in one line, what grew at one time would serve the next short read, and one that has not would grow in its place, long after there are enough.
    private static readonly ObjectCache<InboundLease> GrownSpares = new(MaxKept);

    // Where one thread sends and receives in turn, a message has a lease of its own. From a line, which gives out what has waited longest, each was in no cache, one of thousands after a flood: 0.6 us a message instead of 0.13.
    [ThreadStatic]
    private static InboundLease? t_spare;

    private Slab? _slab;
    private byte[] _array = [];
    private Slot[] _slots = new Slot[SmallestSlots];
    private long[] _groups = new long[SmallestSlots / GroupSize];
    private Slab?[] _own = [];
    private int _liveGroups;
    private int _messageStart;
    private bool _hasOwnSlabs;

    /// <summary>The next lease of the same peer.</summary>
    public InboundLease? Next { get; set; }

    /// <summary>Slots filled so far: parts, not messages.</summary>
    public int Count { get; private set; }

    /// <summary>Parts from <see cref="Cursor"/> on.</summary>
    public int Unread => Count - Cursor;

    /// <summary>Messages in it.</summary>
    public int Messages { get; private set; }

    /// <summary>Payload bytes in it.</summary>
    public long Bytes { get; private set; }

    /// <summary>The next slot to hand to a consumer: always a message's first.</summary>
    public int Cursor { get; set; }

    /// <summary>Its messages are notices of the socket itself (a subscription that came in), not a peer's data: whom they are about. Null for data.</summary>
    public object? NoticeOf { get; set; }

    /// <summary>How often the reader's filter had been narrowed before it was asked about the first of these messages, where the reader filters.</summary>
    public int CheckedAtVersion { get; set; }

    /// <summary>Who sent these messages.</summary>
    public object? Source { get; private set; }

    /// <summary>Makes a lease of the STREAM frames at the start of a region; takes a reference to the slab.</summary>
    /// <param name="slab">Where the frames are.</param>
    /// <param name="offset">Start of the region; moved behind the frames that were taken.</param>
    /// <param name="end">End of the region, a frame boundary.</param>
    /// <param name="source">Who sent them.</param>
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

    /// <summary>An empty lease, to be filled and then published.</summary>
    /// <param name="slab">Where most parts will lie; one reference to it is taken over. Null if each part brings its own.</param>
    /// <param name="source">Who sends.</param>
    /// <param name="checkedAt">See <see cref="CheckedAtVersion"/>.</param>
    public static InboundLease Rent(Slab? slab, object? source, int checkedAt = 0)
    {
        if (!GrownSpares.TryRent(ref t_spare, out InboundLease? lease) && !Spares.TryRent(out lease))
        {
            lease = new InboundLease();
        }

        lease._slab = slab;
        lease._array = slab is null ? [] : slab.Array;
        lease.Source = source;
        lease.CheckedAtVersion = checkedAt;
        lease.Count = 0;
        lease.Messages = 0;
        lease.Bytes = 0;
        lease.Cursor = 0;
        lease.Next = null;
        lease._liveGroups = 0;
        lease._messageStart = 0;
        return lease;
    }

    /// <summary>Adds a part that lies in the lease's own slab.</summary>
    public void AddPart(int offset, int length)
    {
        ref Slot slot = ref NewSlot();
        slot.Offset = offset;
        slot.Length = length;
        Bytes += length;
    }

    /// <summary>Adds a part that lies in another slab, of which it takes over one reference.</summary>
    public void AddPart(Slab slab, int offset, int length)
    {
        int index = Count;
        ref Slot slot = ref NewSlot();
        slot.Offset = offset;
        slot.Length = length;
        if (_own.Length < _slots.Length)
        {
            Array.Resize(ref _own, _slots.Length);
        }

        _own[index] = slab;
        _hasOwnSlabs = true;
        Bytes += length;
    }

    /// <summary>Adds a message of another lease by reference. The caller keeps that alive meanwhile, and ends the one here.</summary>
    public void AddParts(InboundLease from, int slot)
    {
        int parts = from.PartsOf(slot);
        for (int i = 0; i < parts; i++)
        {
            (Slab slab, int offset, int length) = from.OffsetOf(slot + i);
            slab.AddReference();
            AddPart(slab, offset, length);
        }
    }

    /// <summary>Ends the message that the parts since the last call make up.</summary>
    public void EndMessage()
    {
        int start = _messageStart;
        _slots[start].Parts = Count - start;
        _messageStart = Count;
        Messages++;

        // Published by the lock of the queue, before anybody can end one of them.
        ref long group = ref _groups[start / GroupSize];
        if ((uint)group == 0)
        {
            _liveGroups++;
        }

        group |= 1L << (start % GroupSize);
    }

    /// <summary>Parts of the message that has not ended yet.</summary>
    public int UnfinishedParts => Count - _messageStart;

    /// <summary>Takes the parts of the message that has not ended yet out, into a lease of its own that can be filled up from later reads. Null if there is none.</summary>
    public InboundLease? SplitOpenMessage()
    {
        if (UnfinishedParts == 0)
        {
            return null;
        }

        InboundLease rest = Rent(slab: null, Source, CheckedAtVersion);
        for (int i = _messageStart; i < Count; i++)
        {
            ref Slot slot = ref _slots[i];
            Slab? own = OwnOf(i);
            if (own is null)
            {
                _slab!.AddReference();
            }
            else
            {
                _own[i] = null;
            }

            rest.AddPart(own ?? _slab!, slot.Offset, slot.Length);
            Bytes -= slot.Length;
        }

        Count = _messageStart;
        return rest;
    }

    /// <summary>Takes over the messages of another lease, where they are few and short, of one part each, and from the same sender: the other one is then given back. Both are unread, and no consumer knows of them.</summary>
    public bool TryAbsorb(InboundLease other)
    {
        // Not what is long: in the slab of the lease itself it would stay for as long as any of the others.
        bool isLittle = other.Count <= FewSlots && other.Bytes <= ShortBytes;
        bool hasCapacity = Count + other.Count <= MaxSlots && Bytes <= ShortBytes * MaxSlots;
        bool areAlike = CheckedAtVersion == other.CheckedAtVersion && ReferenceEquals(Source, other.Source) && ReferenceEquals(NoticeOf, other.NoticeOf);
        if (!isLittle || !hasCapacity || !areAlike || !IsPlain || !other.IsPlain)
        {
            return false;
        }

        for (int i = 0; i < other.Count; i++)
        {
            (Slab slab, int offset, int length) = other.OffsetOf(i);
            slab.AddReference();
            AddPart(slab, offset, length);
            EndMessage();
        }

        other.ReleaseRemaining();
        return true;
    }

    /// <summary>Unread, and of messages of one part.</summary>
    private bool IsPlain => Cursor == 0 && Messages == Count;

    /// <summary>Ends all messages but the last. Returns how many.</summary>
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

    /// <summary>Fetches the next message's slot and state into the cache: see <see cref="CacheLines"/>.</summary>
    public void FetchSlot()
    {
        Slot[] slots = Volatile.Read(ref _slots);
        CacheLines.Fetch(slots); // Its length is looked at with each slot.
        CacheLines.FetchElement(slots, Cursor);
        CacheLines.Fetch(Volatile.Read(ref _groups)); // All eight of them.
    }

    /// <summary>Fetches the beginning of the next message's payload.</summary>
    public void FetchPayload()
    {
        Slot[] slots = Volatile.Read(ref _slots);
        int slot = Cursor;
        if ((uint)slot < (uint)slots.Length)
        {
            byte[] array = Volatile.Read(ref _array);
            CacheLines.Fetch(array); // Whoever asks for the payload has its array's length checked: a third of what ending and reading a message took.
            CacheLines.FetchElement(array, slots[slot].Offset);
        }
    }

    public int GenerationOf(int slot) => (int)(Volatile.Read(ref _groups[slot / GroupSize]) >> 32);

    /// <summary>Number of parts of the message that begins at a slot.</summary>
    public int PartsOf(int slot) => _slots[slot].Parts;

    /// <summary>The payload of a live message of one part.</summary>
    /// <exception cref="ObjectDisposedException">The message has ended.</exception>
    public ReadOnlyMemory<byte> Payload(int slot, int generation) => Part(slot, 0, generation);

    /// <summary>One part of a live message.</summary>
    /// <exception cref="ObjectDisposedException">The message has ended.</exception>
    public ReadOnlyMemory<byte> Part(int slot, int index, int generation)
    {
        ref Slot entry = ref Volatile.Read(ref _slots)[slot + index];
        byte[] array = OwnOf(slot + index) is { } own ? own.Array : Volatile.Read(ref _array);
        int offset = Volatile.Read(ref entry.Offset);
        int length = Volatile.Read(ref entry.Length);

        // Checked last: what was read before it belongs to this message if the generation is still its own.
        if (!IsLive(slot, generation))
        {
            throw Ended();
        }

        return new ReadOnlyMemory<byte>(array, offset, length);
    }

    /// <summary>Says so of what the application holds, a message: it knows no lease.</summary>
    public static ObjectDisposedException Ended() => new("Net.Zlink.Message", "The message was disposed, or sent on.");

    /// <summary>The message has not ended.</summary>
    public bool IsLive(int slot, int generation) => AreLive(slot, 1, generation);

    /// <summary>None of the messages, all of one part and of one group, has ended.</summary>
    public bool AreLive(int slot, int count, int generation)
    {
        long bits = BitsOf(slot, count);
        long group = Volatile.Read(ref _groups[slot / GroupSize]);
        return (int)(group >> 32) == generation && (group & bits) == bits;
    }

    /// <summary>The payload bytes of one message, all parts.</summary>
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

    /// <summary>Where one part of a message lies, for passing it on by reference. The caller keeps the message alive meanwhile.</summary>
    public (Slab Slab, int Offset, int Length) OffsetOf(int slot)
    {
        ref Slot entry = ref _slots[slot];
        return (OwnOf(slot) ?? _slab!, entry.Offset, entry.Length);
    }

    /// <summary>Where consecutive messages of a lease that <see cref="Open"/> made lie as they came, headers included. The caller keeps them alive meanwhile.</summary>
    public (Slab Slab, int Offset, int Length) FramesOf(int slot, int count)
    {
        ref Slot last = ref _slots[slot + count - 1];
        int offset = _slots[slot].Offset - StreamFraming.HeaderSize;
        return (_slab!, offset, last.Offset + last.Length - offset);
    }

    /// <summary>Ends a message. Harmless if it has ended already.</summary>
    public void Release(int slot, int generation) => Release(slot, 1, generation);

    /// <summary>Ends messages, all of one part and of one group; several only of a lease that <see cref="Open"/> made. Harmless for those that have ended already.</summary>
    public void Release(int slot, int count, int generation)
    {
        // Read first: when the message has ended, another's end may recycle the lease. Of a lease that was reused meanwhile it is a stranger's, but then there is nothing to end.
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
                // Of the last group nobody else can know that it is: then no interlocked operation is needed (5 ns).
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

    /// <summary>Ends the messages from <see cref="Cursor"/> on, which no consumer has seen.</summary>
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

    /// <summary>As <see cref="ReleaseRemaining"/>, for a lease and all that are linked behind it.</summary>
    public static void ReleaseAll(InboundLease? lease)
    {
        while (lease is not null)
        {
            InboundLease? next = lease.Next;
            lease.ReleaseRemaining();
            lease = next;
        }
    }

    /// <summary>Gives back a lease that holds no whole message, and so cannot be ended by one.</summary>
    public void Abandon()
    {
        if (_liveGroups == 0)
        {
            Recycle();
        }
    }

    private static long BitsOf(int slot, int count) => ((1L << count) - 1) << (slot % GroupSize);

    private ref Slot NewSlot()
    {
        if (Count == _slots.Length)
        {
            int larger = Math.Max(MaxSlots, Count * 2); // At once: by halves it would take twice as many bytes for what nearly all of them come to.
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
        Next = null;
        for (int i = 0; i * GroupSize < Count; i++)
        {
            // Only handles to ended messages refer to these words now; a new generation makes them strangers.
            Volatile.Write(ref _groups[i], (_groups[i] & ~(long)uint.MaxValue) + (1L << 32));
        }

        if (_hasOwnSlabs)
        {
            ReleaseOwnSlabs();
        }

        if (_slots.Length <= MaxSlots)
        {
            (_slots.Length == SmallestSlots ? Spares : GrownSpares).Return(ref t_spare, this);
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
            bool isReleased = isWhole && parts == 1; // With its message.
            for (int end = i + parts; i < end; i++)
            {
                if (i >= _own.Length)
                {
                    return; // It has grown since the last part that lies elsewhere, for parts in its own slab.
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

        /// <summary>Of a message's first slot: how many parts it has.</summary>
        public int Parts;
    }
}
