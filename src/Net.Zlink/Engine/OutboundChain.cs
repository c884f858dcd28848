using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>Encoded messages in order, as a chain of segments: small ones packed into shared arrays, large ones as segments of their own. Not thread-safe.</summary>
/// <remarks>
/// A message may lie across several segments (a header here, its large body in the next). The chain knows for each segment how many bytes at its start belong to a message that began earlier,
/// so that after a loss a half-sent message can be left out whole (docs/architecture.md, "After a loss").
/// <para>A part of its queue, never to be copied: a thread that sends to a thousand peers waits for memory at each object on its way.</para>
/// </remarks>
internal struct OutboundChain(BufferPool pool)
{
    // From here on a payload gets a buffer and a send of its own: 16 KiB is where a copy under the lock (about 1 us) costs more than a second send.
    public const int LargePayload = 16 * 1024;

    // A run of received messages that nothing is queued before goes without a copy from here on: copying 4 KiB that have left the cache costs about as much as a segment, some 0.4 us.
    private const int SmallestRun = 4 * 1024;

    private OutboundSegment? _first;
    private OutboundSegment? _last;
    private OutboundSegment? _messageStart;
    private int _sizeHint;
    private int _burst;
    private bool _isUpdate;

    public readonly bool IsEmpty => _first is null;

    /// <summary>Bytes of the message being appended so far: its parts together may be more than an array holds.</summary>
    public long MessageBytes { get; private set; }

    /// <summary>Begins a message; its frames follow, then <see cref="EndMessage"/>.</summary>
    /// <param name="isUpdate">See <see cref="OutboundSegment.IsSubscriptionUpdate"/>. It has segments of its own, each frame in one piece.</param>
    public void BeginMessage(bool isUpdate = false)
    {
        _messageStart = null;
        MessageBytes = 0;
        _isUpdate = isUpdate;
    }

    /// <summary>Ends the message, or several that were added at once: counted in the segment that holds the last byte.</summary>
    public void EndMessage(int messages = 1) => _last!.Messages += messages;

    /// <summary>Adds one frame; copies the payload.</summary>
    public void AddFrame(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        int total = header.Length + payload.Length;
        OutboundSegment segment = OpenSegment(total);
        Span<byte> free = segment.FreeSpan;
        header.WriteTo(free);
        payload.CopyTo(free[header.Length..]);
        CacheLines.FetchAhead(free, total);
        Grown(segment, total);
    }

    /// <summary>Adds bytes that are encoded frames already; copies them.</summary>
    public void AddEncoded(ReadOnlySpan<byte> encoded, ReadOnlySpan<byte> more = default)
    {
        int total = encoded.Length + more.Length;
        OutboundSegment segment = OpenSegment(total);
        encoded.CopyTo(segment.FreeSpan);
        more.CopyTo(segment.FreeSpan[encoded.Length..]);
        Grown(segment, total);
    }

    /// <summary>Adds encoded frames in an array that was filled outside; takes it over.</summary>
    public void AddArray(byte[] array, int length)
    {
        OutboundSegment segment = OutboundSegment.ForEncoding(array);
        Link(segment);
        Grown(segment, length);
    }

    /// <summary>Adds whole messages, encoded already, in a slab: long ones by a reference of its own, short ones by copying them.</summary>
    public void AddShared(Slab slab, int offset, int length, int messages)
    {
        if (_last is { IsSubscriptionUpdate: false } last && last.TryExtend(slab, offset, length))
        {
            Enter(last, length);
        }
        else if (messages == 1 ? length >= LargePayload : length >= (IsEmpty ? SmallestRun : LargePayload) && !slab.ShouldBeCopied)
        {
            slab.AddReference();
            OutboundSegment segment = OutboundSegment.ForShared(slab, offset, length);
            Link(segment);
            Enter(segment, length);
        }
        else
        {
            AddEncoded(slab.Array.AsSpan(offset, length));
        }
    }

    /// <summary>Adds one frame whose body stays in the slab where it is; takes over one reference.</summary>
    public void AddSharedFrame(FrameHeader header, Slab slab, int offset, int length)
    {
        AddHeaderBefore(header);
        OutboundSegment body = OutboundSegment.ForShared(slab, offset, length);
        Link(body);
        Enter(body, length);
    }

    /// <summary>Adds one frame whose body is memory that the caller handed over.</summary>
    public void AddDonatedFrame(FrameHeader header, IMemoryOwner<byte> owner, ReadOnlyMemory<byte> payload)
    {
        AddHeaderBefore(header);
        AddDonatedBody(owner, payload);
    }

    /// <summary>Adds frames that are encoded already and end in a header, whose body is memory that the caller handed over.</summary>
    public void AddBeforeDonated(ReadOnlySpan<byte> encoded, IMemoryOwner<byte> owner, ReadOnlyMemory<byte> payload)
    {
        encoded.CopyTo(SpaceBeforeBody(encoded.Length));
        AddDonatedBody(owner, payload);
    }

    private void AddDonatedBody(IMemoryOwner<byte> owner, ReadOnlyMemory<byte> payload)
    {
        OutboundSegment body = OutboundSegment.ForDonated(owner, payload);
        Link(body);
        Enter(body, payload.Length);
    }

    /// <summary>Takes the next segment to write, or null.</summary>
    public OutboundSegment? Dequeue()
    {
        OutboundSegment? segment = _first;
        if (segment is null)
        {
            // Remember how much a burst takes: the next one then fits one segment. Falls slowly, so one small burst does not undo it.
            _sizeHint = _burst >= _sizeHint ? _burst : _sizeHint - ((_sizeHint - _burst) / 8);
            _burst = 0;
            return null;
        }

        _first = segment.Next;
        if (_first is null)
        {
            _last = null;
        }

        segment.Next = null;
        segment.IsOpen = false;
        if (segment.IsEncoded)
        {
            _burst = Math.Min(_burst + segment.Length, OutboundSegment.MaxSize);
        }

        return segment;
    }

    /// <summary>Takes everything out, linked.</summary>
    public OutboundSegment? DequeueAll()
    {
        OutboundSegment? all = _first;
        _first = null;
        _last = null;
        return all;
    }

    /// <summary>Takes everything out but the rest of a message whose beginning was taken before.</summary>
    /// <param name="messages">Messages taken out.</param>
    /// <param name="bytes">Their bytes.</param>
    public OutboundSegment? DequeueAllUnstarted(out int messages, out long bytes)
    {
        OutboundSegment? rest = null;
        OutboundSegment? obsolete = _first;
        messages = 0;
        bytes = 0;
        while (obsolete is { HeadBytes: > 0 } segment)
        {
            rest = segment;
            obsolete = segment.Next;
            if (segment.Messages > 0)
            {
                // Its end is here; what is packed behind it goes.
                messages += segment.Messages - 1;
                bytes += segment.Length - segment.HeadBytes;
                segment.Messages = 1;
                segment.EndsMidFrame &= segment.Length == segment.HeadBytes;
                segment.Length = segment.HeadBytes;
                break;
            }
        }

        for (OutboundSegment? segment = obsolete; segment is not null; segment = segment.Next)
        {
            messages += segment.Messages;
            bytes += segment.Length - segment.Skipped;
        }

        _last = rest;
        if (rest is null)
        {
            _first = null;
        }
        else
        {
            rest.Next = null;
        }

        return obsolete;
    }

    /// <summary>Takes out what is news.</summary>
    public OutboundSegment? DequeueUpdates()
    {
        OutboundSegment? updates = null;
        OutboundSegment? before = null;
        for (OutboundSegment? segment = _first, next; segment is not null; segment = next)
        {
            next = segment.Next;
            if (!segment.IsSubscriptionUpdate)
            {
                before = segment;
                continue;
            }

            if (before is null)
            {
                _first = next;
            }
            else
            {
                before.Next = next;
            }

            segment.Next = updates;
            updates = segment;
        }

        _last = before;
        return updates;
    }

    /// <summary>Puts a segment in front of what is there, whole messages only.</summary>
    public void PutFirst(OutboundSegment segment)
    {
        segment.Next = _first;
        _first = segment;
        _last ??= segment;
    }

    /// <summary>Puts segments that were taken, and of which nothing has left, back where they were.</summary>
    /// <param name="first">The first of them; the others are linked to it.</param>
    public void PutBack(OutboundSegment first)
    {
        OutboundSegment last = first;
        int taken = first.IsEncoded ? first.Length : 0;
        while (last.Next is { } next)
        {
            last = next;
            taken += next.IsEncoded ? next.Length : 0;
        }

        _burst = Math.Max(0, _burst - taken); // Counted when they are taken again.
        last.Next = _first;
        _first = first;
        if (_last is null)
        {
            // The last one goes on to be filled, or a slow reader would cost a fresh array each time that a write is tried.
            _last = last;
            last.IsOpen = last is { IsEncoded: true, EndsMidFrame: false };
        }
    }

    /// <summary>After a loss in the middle of a message: takes the rest of that message out, over as many segments as it has.</summary>
    /// <param name="bytes">Its bytes that were taken out.</param>
    /// <param name="dropped">Whole segments that held nothing else, linked, for the caller to release outside its lock.</param>
    /// <returns>True if the message's end was met, and with it one message is gone.</returns>
    public bool DropUnfinishedMessage(out long bytes, out OutboundSegment? dropped)
    {
        bytes = 0;
        dropped = null;
        while (_first is { HeadBytes: > 0 } segment)
        {
            bytes += segment.HeadBytes;
            if (segment.HeadBytes < segment.Length)
            {
                segment.Messages--;
                segment.Sent = segment.HeadBytes;
                segment.Skipped = segment.HeadBytes;
                segment.HeadBytes = 0;
                return true;
            }

            bool ends = segment.Messages > 0;
            _first = segment.Next;
            if (_first is null)
            {
                _last = null;
            }

            segment.Next = dropped;
            dropped = segment;
            if (ends)
            {
                return true;
            }
        }

        return false;
    }

    private void AddHeaderBefore(FrameHeader header) => header.WriteTo(SpaceBeforeBody(header.Length));

    private Span<byte> SpaceBeforeBody(int length)
    {
        // No room beside the header: behind handed-over memory a segment stays as it is, so anything larger would be wasted on every message.
        if (_last is not { IsOpen: true, IsSubscriptionUpdate: false } last || last.FreeSpan.Length < length)
        {
            last = OutboundSegment.ForEncoding(pool.RentArray(length));
            Link(last);
        }

        Span<byte> space = last.FreeSpan;
        Grown(last, length);
        last.EndsMidFrame = true;
        last.IsOpen = false;
        return space;
    }

    private void Grown(OutboundSegment segment, int bytes)
    {
        segment.Length += bytes;
        Enter(segment, bytes);
    }

    private void Enter(OutboundSegment segment, int bytes)
    {
        MessageBytes += bytes;
        if (_messageStart is null)
        {
            _messageStart = segment;
        }
        else if (!ReferenceEquals(segment, _messageStart))
        {
            segment.HeadBytes += bytes;
        }
    }

    private OutboundSegment OpenSegment(int needed)
    {
        if (_last is { IsOpen: true } last && last.Memory.Length - last.Length >= needed && last.IsSubscriptionUpdate == _isUpdate)
        {
            return last;
        }

        int size = OutboundSegment.SizeFor(Math.Max(Math.Max(_sizeHint, needed), _last is { IsEncoded: true } full ? full.Memory.Length * 4 : 0));
        OutboundSegment segment = OutboundSegment.ForEncoding(pool.RentArray(Math.Max(size, needed)));
        Link(segment);
        return segment;
    }

    private void Link(OutboundSegment segment)
    {
        if (_last is null)
        {
            _first = segment;
        }
        else
        {
            _last.Next = segment;
        }

        segment.IsSubscriptionUpdate = _isUpdate;
        _last = segment;
    }
}
