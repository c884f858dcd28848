using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>
/// What one queue holds, in order: short messages are packed into the open segment, a long one has segments of its own. So a segment either
/// begins with a message or only continues one, and a loss drops a half-sent message whole (docs/architecture.md, "After a loss"). Under
/// the queue's lock. A struct, because with a thousand peers each object on the way is a cache miss; never copy it.
/// </summary>
internal struct SegmentList(BufferPool pool, FrameFormat format, QueueLimits limits, ContextQuota? context)
{
    // Per system call: 256 KiB leave one short packet instead of one per 64 KiB (docs/benchmarks/log.md, "Full packets").
    private const int GatheredBytes = 256 * 1024;
    private const int MaxGathered = 8;

    // Larger batches are forwarded without a copy, if the queue is empty: copying 4 KiB of cold memory costs as much as a segment, 0.4 us.
    private const int SmallestShared = 4 * 1024;

    private OutboundSegment? _first;
    private OutboundSegment? _last;
    private OutboundSegment? _inFlight;
    private ControlFrames _control;
    private int _sizeHint;
    private int _burst;
    private bool _isMidFrame;

    /// <summary>What the list counts and whether more may come.</summary>
    public Quota Quota = new(limits, context);

    public bool IsSendPaused { get; set; }

    public readonly bool IsEmpty => _first is null;

    public readonly bool HasControl => !_control.IsEmpty;

    public void Pack(in OutgoingMessage message, int length)
    {
        OutboundSegment segment = OpenSegment(length, isUpdate: false);
        Span<byte> free = segment.FreeSpan;
        message.CopyTo(free, format);
        CacheLines.FetchAhead(free, length);
        Grow(segment, length, messages: 1);
    }

    public void Add(in SegmentRun run)
    {
        Link(run.First!, run.Last!);
        _last!.Messages = 1;
        Quota.Add(1, run.Bytes);
    }

    /// <summary>The socket's own message. Updates have segments of their own, so that they can be dropped alone.</summary>
    public void AddOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate)
    {
        int length = header.Length + body.Length;
        OutboundSegment segment = OpenSegment(length, isUpdate);
        header.CopyTo(segment.FreeSpan);
        body.CopyTo(segment.FreeSpan[header.Length..]);
        Grow(segment, length, messages: 1);
        if (isUpdate)
        {
            Quota.Counts.AddUpdate(1, length);
        }
    }

    public void AddShared(Slab slab, int offset, int length, int messages, bool mayCopy)
    {
        if (_last is { IsSubscriptionUpdate: false } last && last.TryExtend(slab, offset, length))
        {
            last.Messages += messages;
            Quota.Add(messages, length);
        }
        else if (!mayCopy || (messages == 1 ? length >= OutgoingMessage.LargePayload
            : length >= (IsEmpty ? SmallestShared : OutgoingMessage.LargePayload) && !slab.ShouldBeCopied))
        {
            slab.AddReference();
            var segment = OutboundSegment.ForShared(slab, offset, length);
            Link(segment, segment);
            segment.Messages = messages;
            Quota.Add(messages, length);
        }
        else
        {
            OutboundSegment segment = OpenSegment(length, isUpdate: false);
            slab.Array.AsSpan(offset, length).CopyTo(segment.FreeSpan);
            Grow(segment, length, messages);
        }
    }

    public bool TryAddControl(ReadOnlySpan<byte> frames) => _control.TryAdd(frames, pool);

    /// <summary>Control frames come first, at a frame boundary.</summary>
    public OutboundSegment? Next(bool several)
    {
        if (!_isMidFrame && !_control.IsEmpty)
        {
            return _inFlight = _control.Dequeue();
        }

        // After its header was written, a body follows even while sending is paused: the frame must be completed first.
        _inFlight = IsSendPaused && !_isMidFrame ? null : Dequeue();
        if (several && _inFlight is { } first)
        {
            Gather(first);
        }

        return _inFlight;
    }

    /// <summary>What was gathered behind the first segment returns to the front.</summary>
    public void PutBack(OutboundSegment segment)
    {
        if (segment.Next is { } first)
        {
            segment.Next = null;
            PutFirst(first);
        }
    }

    public OutboundSegment? Written(OutboundSegment segment)
    {
        _inFlight = segment.Next;
        segment.Next = null;
        _isMidFrame = segment.EndsMidFrame;
        Settle(segment, written: true);
        return _inFlight;
    }

    public void Forget(OutboundSegment? segment)
    {
        if (ReferenceEquals(_inFlight, segment))
        {
            _inFlight = null;
        }
    }

    /// <summary>The segment in flight stays: the kernel may still read it.</summary>
    public OutboundSegment? DropAll()
    {
        Quota.DropAll();
        OutboundSegment? dropped = DequeueAll();
        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    /// <summary>A message whose beginning has left stays.</summary>
    public OutboundSegment? DropUnstarted(bool isObsolete)
    {
        OutboundSegment? started = null;
        OutboundSegment? dropped = _first;
        while (dropped is { IsContinuation: true } rest)
        {
            started = rest;
            dropped = rest.Next;
        }

        _last = started;
        if (started is null)
        {
            _first = null;
        }
        else
        {
            started.Next = null;
        }

        for (OutboundSegment? segment = dropped; segment is not null; segment = segment.Next)
        {
            Settle(segment, written: false);
            if (isObsolete)
            {
                Quota.Counts.Excuse(segment.Messages, segment.Length);
            }
        }

        return dropped;
    }

    public OutboundSegment? DropUpdates()
    {
        OutboundSegment? updates = null;
        OutboundSegment? next = DequeueAll();
        while (next is { } segment)
        {
            next = segment.Next;
            segment.Next = null;
            if (segment.IsSubscriptionUpdate)
            {
                Settle(segment, written: false);
                segment.Next = updates;
                updates = segment;
            }
            else
            {
                Link(segment, segment);
            }
        }

        return updates;
    }

    /// <summary>Takes all messages of another queue. It has no connection, so they are whole and no updates.</summary>
    public OutboundSegment? GiveAll(out QueueCounts given)
    {
        given = new QueueCounts { QueuedMessages = Quota.Counts.QueuedMessages, QueuedBytes = Quota.Counts.QueuedBytes };
        Quota.Add(-given.QueuedMessages, -given.QueuedBytes);
        return DequeueAll();
    }

    public void Adopt(OutboundSegment? first, in QueueCounts given)
    {
        if (first is not null)
        {
            Quota.Add(given.QueuedMessages, given.QueuedBytes);
            PutFirst(first);
        }
    }

    /// <summary>
    /// Whole unsent messages stay, in order. A message that may be partly sent is dropped and counted, and so are control frames. The next
    /// connection begins with all topics if one was being written.
    /// </summary>
    public OutboundSegment? Lose()
    {
        OutboundSegment? segment = _inFlight;
        while (segment is { IsControl: false } whole && whole.Sent == whole.Length)
        {
            Settle(whole, written: true);
            segment = whole.Next;
        }

        OutboundSegment? dropped = null;
        if (segment is { IsControl: false } broken)
        {
            PutBack(broken);
            Retain(broken);
            dropped = broken.IsSubscriptionUpdate ? DropUpdates() : null;
        }

        while (_first is { IsContinuation: true } rest)
        {
            Settle(rest, written: false);
            _first = rest.Next;
            rest.Next = dropped;
            dropped = rest;
        }

        _last = _first is null ? null : _last;
        _inFlight = null;
        _isMidFrame = false;
        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    /// <summary>Keeps a copy of the messages behind everything that may have been sent, unless no memory is left.</summary>
    private void Retain(OutboundSegment broken)
    {
        bool isUpdate = broken.IsSubscriptionUpdate;
        int position = BoundaryIn(broken, out int written, out int lost);
        Count(written, broken.Sent, isWritten: true, isUpdate);
        Count(lost, position - broken.Sent, isWritten: false, isUpdate);
        int left = broken.Length - position;
        int messages = broken.Messages - written - lost;
        if (left == 0)
        {
            return;
        }

        try
        {
            var kept = OutboundSegment.ForEncoding(pool.RentArray(left));
            broken.Memory.Span.Slice(position, left).CopyTo(kept.FreeSpan);
            kept.Length = left;
            kept.Messages = messages;
            kept.EndsMidFrame = broken.EndsMidFrame;
            kept.IsSubscriptionUpdate = isUpdate;
            PutFirst(kept);
        }
        catch (OutOfMemoryException)
        {
            Count(messages, left, isWritten: false, isUpdate);
        }
    }

    private readonly int BoundaryIn(OutboundSegment broken, out int written, out int lost)
    {
        written = 0;
        lost = 0;
        if (broken.IsContinuation)
        {
            lost = broken.Messages; // Its memory may be disposed, so it is not read.
            return broken.Length;
        }

        int position = 0;
        ReadOnlySpan<byte> bytes = broken.Memory.Span[..broken.Length];
        while (position < Math.Max(broken.Sent, broken.Exposed))
        {
            int length = format.LengthOfMessage(bytes[position..]);
            if (length == 0)
            {
                return bytes.Length; // It continues in the next segment.
            }

            position += length;
            written += position <= broken.Sent ? 1 : 0;
            lost += position <= broken.Sent ? 0 : 1;
        }

        return position;
    }

    private void Gather(OutboundSegment first)
    {
        OutboundSegment last = first;
        int bytes = first.Length;
        for (int parts = 1; parts < MaxGathered && bytes < GatheredBytes && !IsEmpty && MayFollow(last); parts++)
        {
            last.Next = Dequeue();
            last = last.Next!;
            bytes += last.Length;
        }
    }

    private readonly bool MayFollow(OutboundSegment last) => last.EndsMidFrame || (_control.IsEmpty && !IsSendPaused);

    private OutboundSegment? Dequeue()
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
        _last = _first is null ? null : _last;
        segment.Next = null;
        segment.IsOpen = false;
        if (segment.IsEncoded)
        {
            _burst = Math.Min(_burst + segment.Length, OutboundSegment.MaxSize);
        }

        return segment;
    }

    private OutboundSegment? DequeueAll()
    {
        OutboundSegment? all = _first;
        _first = null;
        _last = null;
        return all;
    }

    private void PutFirst(OutboundSegment first)
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
            last.IsOpen = last is { IsEncoded: true, EndsMidFrame: false, IsContinuation: false };
        }
    }

    private void Settle(OutboundSegment segment, bool written)
    {
        if (!segment.IsControl)
        {
            // What was dropped with its queue may still be in flight.
            Count(Math.Min(segment.Messages, Quota.Counts.QueuedMessages), Math.Min(segment.Length, Quota.Counts.QueuedBytes), written,
                segment.IsSubscriptionUpdate);
        }
    }

    private void Count(long messages, long bytes, bool isWritten, bool isUpdate)
    {
        if (isWritten)
        {
            Quota.Take(messages, bytes);
        }
        else
        {
            Quota.Drop(messages, bytes);
        }

        if (isUpdate)
        {
            Quota.Counts.AddUpdate(-messages, -bytes);
            Quota.Counts.Excuse(isWritten ? 0 : messages, isWritten ? 0 : bytes);
        }
    }

    private void Grow(OutboundSegment segment, int bytes, int messages)
    {
        segment.Length += bytes;
        segment.Messages += messages;
        Quota.Add(messages, bytes);
    }

    private OutboundSegment OpenSegment(int needed, bool isUpdate)
    {
        if (_last is { IsOpen: true } last && last.Memory.Length - last.Length >= needed && last.IsSubscriptionUpdate == isUpdate)
        {
            return last;
        }

        int next = _last is { IsEncoded: true } full ? full.Memory.Length * 4 : 0;
        int size = OutboundSegment.SizeFor(Math.Max(Math.Max(_sizeHint, needed), next));
        var segment = OutboundSegment.ForEncoding(pool.RentArray(Math.Max(size, needed)));
        segment.IsSubscriptionUpdate = isUpdate;
        Link(segment, segment);
        return segment;
    }

    private void Link(OutboundSegment first, OutboundSegment last)
    {
        if (_last is null)
        {
            _first = first;
        }
        else
        {
            _last.Next = first;
        }

        _last = last;
    }
}
