using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>
/// Encoded messages in order, as a chain of segments: small ones packed into shared arrays, large ones in segments of their own. Each
/// segment records how many of its first bytes continue an earlier message, so that a loss drops a half-sent message whole
/// (docs/architecture.md, "After a loss"). A struct: with a thousand peers each object on the way is a cache miss. Not thread-safe; never
/// copy it.
/// </summary>
internal struct OutboundChain(BufferPool pool)
{
    // Larger payloads get a buffer and a send of their own: a copy of 16 KiB under the lock (about 1 us) costs more than a second send.
    public const int LargePayload = 16 * 1024;

    // Larger runs are forwarded without a copy, if the queue is empty: copying 4 KiB of cold memory costs as much as a segment, 0.4 us.
    private const int SmallestRun = 4 * 1024;

    private OutboundSegment? _first;
    private OutboundSegment? _last;
    private OutboundSegment? _messageStart;
    private int _sizeHint;
    private int _burst;
    private bool _isUpdate;

    public readonly bool IsEmpty => _first is null;

    public long MessageBytes { get; private set; }

    /// <summary>Updates have segments of their own, each frame in one segment.</summary>
    public void BeginMessage(bool isUpdate = false)
    {
        _messageStart = null;
        MessageBytes = 0;
        _isUpdate = isUpdate;
    }

    public readonly Mark MarkEnd() => new(_last, _last?.Length ?? 0, _last?.IsOpen ?? false, _last?.EndsMidFrame ?? false);

    /// <summary>Takes back what came behind the mark: a message of which not all could be added.</summary>
    public void ReturnTo(in Mark mark)
    {
        OutboundSegment? added = mark.Last is null ? _first : mark.Last.Next;
        _last = mark.Last;
        if (_last is { } last)
        {
            last.Next = null;
            (last.Length, last.IsOpen, last.EndsMidFrame) = (mark.Length, mark.IsOpen, mark.EndsMidFrame);
        }
        else
        {
            _first = null;
        }

        for (OutboundSegment? segment = added; segment is not null; segment = segment.Next)
        {
            segment.Disown();
        }

        OutboundSegment.ReleaseAll(added, pool);
    }

    public void AddMessageOf(ref OutboundChain other)
    {
        MessageBytes = other.MessageBytes;
        if (_last is null)
        {
            _first = other._first;
        }
        else
        {
            _last.Next = other._first;
        }

        _last = other._last;
    }

    public void EndMessage(int messages = 1) => _last!.Messages += messages;

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

    public void AddEncoded(ReadOnlySpan<byte> encoded, ReadOnlySpan<byte> more = default)
    {
        int total = encoded.Length + more.Length;
        OutboundSegment segment = OpenSegment(total);
        encoded.CopyTo(segment.FreeSpan);
        more.CopyTo(segment.FreeSpan[encoded.Length..]);
        Grown(segment, total);
    }

    public void AddArray(byte[] array, int length)
    {
        OutboundSegment segment = OutboundSegment.ForEncoding(array);
        Link(segment);
        Grown(segment, length);
    }

    public void AddShared(Slab slab, int offset, int length, int messages)
    {
        if (_last is { IsSubscriptionUpdate: false } last && last.TryExtend(slab, offset, length))
        {
            Enter(last, length);
        }
        else if (messages == 1
            ? length >= LargePayload
            : length >= (IsEmpty ? SmallestRun : LargePayload) && !slab.ShouldBeCopied)
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

    public void AddSharedFrame(FrameHeader header, Slab slab, int offset, int length)
    {
        AddHeaderBefore(header);
        OutboundSegment body = OutboundSegment.ForShared(slab, offset, length);
        Link(body);
        Enter(body, length);
    }

    public void AddDonatedFrame(FrameHeader header, IMemoryOwner<byte> owner, ReadOnlyMemory<byte> payload)
    {
        AddHeaderBefore(header);
        AddDonatedBody(owner, payload);
    }

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

    public OutboundSegment? Dequeue()
    {
        OutboundSegment? segment = _first;
        if (segment is null)
        {
            // Remembers the burst size, so that the next burst fits one segment.
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

    public OutboundSegment? DequeueAll()
    {
        OutboundSegment? all = _first;
        _first = null;
        _last = null;
        return all;
    }

    public OutboundSegment? DequeueAllUnstarted(out int messages, out long bytes)
    {
        OutboundSegment? head = null;
        OutboundSegment? obsolete = _first;
        messages = 0;
        bytes = 0;
        while (obsolete is { HeadBytes: > 0 } segment)
        {
            head = segment;
            obsolete = segment.Next;
            if (segment.Messages > 0)
            {
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

        _last = head;
        if (head is null)
        {
            _first = null;
        }
        else
        {
            head.Next = null;
        }

        return obsolete;
    }

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

    public void PutFirst(OutboundSegment segment)
    {
        segment.Next = _first;
        _first = segment;
        _last ??= segment;
    }

    public void PutBack(OutboundSegment first)
    {
        OutboundSegment last = first;
        int taken = first.IsEncoded ? first.Length : 0;
        while (last.Next is { } next)
        {
            last = next;
            taken += next.IsEncoded ? next.Length : 0;
        }

        _burst = Math.Max(0, _burst - taken);
        last.Next = _first;
        _first = first;
        if (_last is null)
        {
            // The last one stays open: otherwise a slow reader would cost a new array with each attempt to write.
            _last = last;
            last.IsOpen = last is { IsEncoded: true, EndsMidFrame: false };
        }
    }

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
        // Just the header's size: a segment before donated memory is never extended, so more would be wasted with each message.
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

        int next = _last is { IsEncoded: true } full ? full.Memory.Length * 4 : 0;
        int size = OutboundSegment.SizeFor(Math.Max(Math.Max(_sizeHint, needed), next));
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

    public readonly record struct Mark(OutboundSegment? Last, int Length, bool IsOpen, bool EndsMidFrame);
}
