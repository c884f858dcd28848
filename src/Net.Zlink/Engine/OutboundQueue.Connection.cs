namespace Net.Zlink.Engine;

/// <content>What its connection does to it: pauses, losses, drops.</content>
internal sealed partial class OutboundQueue
{
    public void PauseSending()
    {
        using (_gate.EnterScope())
        {
            _isPaused = true;
        }
    }

    public bool Release()
    {
        using (_gate.EnterScope())
        {
            _isPaused = false;
            return _first is not null && AcquireFlush();
        }
    }

    public void Close()
    {
        bool wasRefused;
        using (_gate.EnterScope())
        {
            _closed = true;
            wasRefused = _quota.IsRefused;
            _quota.IsRefused = false;
        }

        Notify(wasRefused);
    }

    /// <summary>The segment in flight stays: the kernel may still read it.</summary>
    public void Abandon() => Drop(static queue =>
    {
        queue._closed = true;
        queue._quota.DropAll();
        return queue.DropControl(queue.DequeueAll());
    });

    /// <summary>
    /// Whole unsent messages stay, in order. A message that may be partly sent is dropped and counted, and so are control frames. The next
    /// connection begins with all topics if one was being written.
    /// </summary>
    public void Detach() => Drop(static queue => queue.Lose());

    /// <summary>A message whose beginning has left stays.</summary>
    public void DropQueued() => Drop(static queue => queue.DropUnstarted(isObsolete: false));

    public void DropUpdates() => Drop(static queue => queue.DropUpdatesUnderLock());

    public void ReleaseInFlight(OutboundSegment? segment)
    {
        using (_gate.EnterScope())
        {
            if (ReferenceEquals(_inFlight, segment))
            {
                _inFlight = null;
            }
        }

        OutboundSegment.ReleaseAll(segment, pool);
    }

    /// <summary>Takes all messages of another queue. It has no connection, so they are whole and no updates.</summary>
    public void Adopt(OutboundQueue other)
    {
        OutboundSegment? first;
        long messages;
        long bytes;
        using (other._gate.EnterScope())
        {
            (messages, bytes) = (other._quota.Counts.QueuedMessages, other._quota.Counts.QueuedBytes);
            other._quota.Add(-messages, -bytes);
            other._quota.Shrink();
            first = other.DequeueAll();
        }

        using (_gate.EnterScope())
        {
            _quota.Add(messages, bytes);
            PutFirst(first);
        }
    }

    private void Drop(Func<OutboundQueue, OutboundSegment?> drop)
    {
        OutboundSegment? dropped;
        bool isFreed;
        using (_gate.EnterScope())
        {
            dropped = drop(this);
            isFreed = _quota.TryResume();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
        Notify(isFreed);
    }

    private OutboundSegment? DropControl(OutboundSegment? others)
    {
        OutboundSegment? control = _control;
        control?.Next = others;
        _control = null;
        return control ?? others;
    }

    private OutboundSegment? DropUnstarted(bool isObsolete)
    {
        OutboundSegment? started = null;
        OutboundSegment? dropped = _first;
        while (dropped is { IsContinuation: true } rest)
        {
            started = rest;
            dropped = rest.Next;
        }

        _first = started is null ? null : _first;
        _last = started;
        started?.Next = null;
        for (OutboundSegment? segment = dropped; segment is not null; segment = segment.Next)
        {
            Settle(segment, isWritten: false);
            if (isObsolete)
            {
                _quota.Counts.Excuse(segment.Messages, segment.Length);
            }
        }

        return dropped;
    }

    private OutboundSegment? DropUpdatesUnderLock()
    {
        OutboundSegment? updates = null;
        OutboundSegment? next = DequeueAll();
        while (next is { } segment)
        {
            next = segment.Next;
            segment.Next = null;
            if (segment.IsSubscriptionUpdate)
            {
                Settle(segment, isWritten: false);
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

    private OutboundSegment? Lose()
    {
        _isPaused = true;
        _hasWriter = false;
        OutboundSegment? segment = _inFlight;
        while (segment is { IsControl: false } whole && whole.Sent == whole.Length)
        {
            Settle(whole, isWritten: true);
            segment = whole.Next;
        }

        OutboundSegment? dropped = null;
        if (segment is { IsControl: false } broken)
        {
            PutBackGathered(broken);
            Retain(broken);
            dropped = broken.IsSubscriptionUpdate ? DropUpdatesUnderLock() : null;
        }

        while (_first is { IsContinuation: true } rest)
        {
            Settle(rest, isWritten: false);
            _first = rest.Next;
            rest.Next = dropped;
            dropped = rest;
        }

        _last = _first is null ? null : _last;
        _inFlight = null;
        _isMidFrame = false;
        return DropControl(dropped);
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

    private int BoundaryIn(OutboundSegment broken, out int written, out int lost)
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

    private OutboundSegment? DequeueAll()
    {
        OutboundSegment? all = _first;
        _first = null;
        _last = null;
        return all;
    }

    private void PutBackGathered(OutboundSegment segment)
    {
        OutboundSegment? gathered = segment.Next;
        segment.Next = null;
        PutFirst(gathered);
    }

    private void PutFirst(OutboundSegment? first)
    {
        if (first is null)
        {
            return;
        }

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
}
