using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>Under the queue's lock; never copy it.</summary>
internal struct OutboundBacklog(BufferPool pool)
{
    // Per system call: 256 KiB leave one short packet instead of one per 64 KiB (docs/benchmarks/log.md, "Full packets").
    private const int GatheredBytes = 256 * 1024;
    private const int MaxGathered = 8;

    private OutboundChain _messages = new(pool);
    private ControlFrames _control;
    private OutboundSegment? _inFlight;
    private OutboundCounts _counts;
    private bool _midFrame;
    private bool _dropsUpdates;

    [UnscopedRef]
    public readonly ref readonly OutboundCounts Counts => ref _counts;

    public bool IsSendPaused { get; set; }

    public bool Conflates { get; set; }

    public readonly bool HasMessages => !_messages.IsEmpty;

    /// <summary>Returns true if donated memory was copied: dispose it outside the lock.</summary>
    public bool Add(in OutgoingMessage message, out OutboundSegment? obsolete)
    {
        if (Conflates)
        {
            return Replace(message, out obsolete);
        }

        obsolete = Begin();
        bool copied = message.AddTo(ref _messages, pool);
        End();
        return copied;
    }

    /// <summary>The socket's own messages are not conflated: a second topic does not supersede the first.</summary>
    public void AddOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate)
    {
        _messages.BeginMessage(isUpdate);
        _messages.AddEncoded(header, body);
        End();
        if (isUpdate)
        {
            _counts.AddUpdate(1, _messages.MessageBytes);
        }
    }

    public OutboundSegment? AddArray(byte[] array, int length)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddArray(array, length);
        End();
        return obsolete;
    }

    public OutboundSegment? AddShared(Slab encoded, int offset, int length, int messages)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddShared(encoded, offset, length, messages);
        End(messages);
        return obsolete;
    }

    public bool TryAddControl(ReadOnlySpan<byte> frames) => _control.TryAdd(frames, pool);

    /// <summary>Control frames come first, at a frame boundary.</summary>
    public OutboundSegment? Next(bool several)
    {
        if (!_midFrame && !_control.IsEmpty)
        {
            return _inFlight = _control.Dequeue();
        }

        // After its header was written, a body follows even while sending is paused: the frame must be completed first.
        _inFlight = IsSendPaused && !_midFrame ? null : _messages.Dequeue();
        if (several && !Conflates && _inFlight is { } first && !_messages.IsEmpty)
        {
            Gather(first);
        }

        return _inFlight;
    }

    public void PutBack(OutboundSegment segment)
    {
        if (segment.Next is { } first)
        {
            segment.Next = null;
            _messages.PutBack(first);
        }
    }

    public OutboundSegment? Written(OutboundSegment segment)
    {
        _inFlight = segment.Next;
        segment.Next = null;
        _midFrame = segment.EndsMidFrame;
        if (!segment.IsControl)
        {
            SettleWritten(segment);
        }

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
        _counts.CompleteUpdates(_counts.QueuedUpdates, _counts.QueuedUpdateBytes, written: false);
        _counts.Settle(_counts.QueuedMessages, _counts.QueuedBytes, written: false);
        OutboundSegment? dropped = _messages.DequeueAll();
        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    /// <summary>Gives all messages to another queue. There is no connection, so they are whole and no updates.</summary>
    public OutboundSegment? GiveAll(out OutboundCounts given)
    {
        given = new OutboundCounts { QueuedMessages = _counts.QueuedMessages, QueuedBytes = _counts.QueuedBytes };
        _counts.Accept(-given.QueuedMessages, -given.QueuedBytes);
        return _messages.DequeueAll();
    }

    public void Adopt(OutboundSegment? first, in OutboundCounts given)
    {
        if (first is not null)
        {
            _counts.Accept(given.QueuedMessages, given.QueuedBytes);
            _messages.PutBack(first);
        }
    }

    public OutboundSegment? DropUnstarted()
    {
        OutboundSegment? dropped = _messages.DequeueAllUnstarted(out int messages, out long bytes);
        _counts.Settle(messages, bytes, written: false);
        DropUpdatesIn(dropped);
        return dropped;
    }

    public OutboundSegment? DropSubscriptionUpdates()
    {
        _dropsUpdates = OutboundSegment.UpdatesIn(_inFlight).Messages > 0;
        OutboundSegment? dropped = _messages.DequeueUpdates();
        (int messages, long bytes) = DropUpdatesIn(dropped);
        _counts.Settle(messages, bytes, written: false);
        return dropped;
    }

    public readonly bool HasControl => !_control.IsEmpty;

    /// <summary>
    /// Whole unsent messages stay, in order. A message that may be partly sent is dropped and counted, and so are control frames.
    /// </summary>
    public OutboundSegment? Lose()
    {
        OutboundSegment? dropped = null;
        OutboundSegment? segment = _inFlight;
        while (segment is { IsControl: false } whole && whole.Sent == whole.Length)
        {
            SettleWritten(whole);
            segment = whole.Next;
        }

        if (segment is { IsControl: false } broken)
        {
            PutBack(broken);
            OutboundLoss loss = OutboundLoss.Of(broken);
            if (!TryRetainFrom(broken, loss) || loss.Continues)
            {
                dropped = DropRemaining();
            }
        }
        else
        {
            dropped = DropRemaining();
        }

        _inFlight = null;
        _midFrame = false;
        if (_dropsUpdates)
        {
            OutboundSegment.Append(ref dropped, DropSubscriptionUpdates());
        }

        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    private void SettleWritten(OutboundSegment segment)
    {
        long bytes = segment.Length - segment.Skipped;
        _counts.Settle(Math.Min(segment.Messages, _counts.QueuedMessages), Math.Min(bytes, _counts.QueuedBytes), written: true);
        if (segment.IsSubscriptionUpdate)
        {
            long messages = Math.Min(segment.Messages, _counts.QueuedUpdates);
            _counts.CompleteUpdates(messages, Math.Min(bytes, _counts.QueuedUpdateBytes), written: true);
        }
    }

    private void Gather(OutboundSegment first)
    {
        OutboundSegment last = first;
        int bytes = first.Length;
        for (int parts = 1; parts < MaxGathered && bytes < GatheredBytes && !_messages.IsEmpty && MayFollow(last); parts++)
        {
            last.Next = _messages.Dequeue();
            last = last.Next!;
            bytes += last.Length;
        }
    }

    private readonly bool MayFollow(OutboundSegment last) => last.EndsMidFrame || (_control.IsEmpty && !IsSendPaused);

    private OutboundSegment? Begin()
    {
        OutboundSegment? obsolete = Conflates ? Supersede() : null;
        _messages.BeginMessage();
        return obsolete;
    }

    /// <summary>The new message is made aside: if no buffer can be had, the one that it would replace stays.</summary>
    private bool Replace(in OutgoingMessage message, out OutboundSegment? obsolete)
    {
        var newest = new OutboundChain(pool);
        newest.BeginMessage();
        bool copied = message.AddTo(ref newest, pool);
        obsolete = Supersede();
        _messages.AddMessageOf(ref newest);
        End();
        return copied;
    }

    private OutboundSegment? Supersede()
    {
        if (_messages.IsEmpty)
        {
            return null;
        }

        OutboundSegment? obsolete = _messages.DequeueAllUnstarted(out int messages, out long bytes);
        _counts.Settle(messages, bytes, written: false);
        _counts.Excuse(messages, bytes);
        return obsolete;
    }

    private (int Messages, long Bytes) DropUpdatesIn(OutboundSegment? dropped)
    {
        (int messages, long bytes) = OutboundSegment.UpdatesIn(dropped);
        _counts.CompleteUpdates(messages, bytes, written: false);
        return (messages, bytes);
    }

    private void End(int messages = 1)
    {
        _messages.EndMessage(messages);
        _counts.Accept(messages, _messages.MessageBytes);
    }

    /// <summary>False: no memory for what could be kept; it is dropped.</summary>
    private bool TryRetainFrom(OutboundSegment broken, in OutboundLoss loss)
    {
        int written = Math.Min(Math.Max(broken.Sent, broken.Skipped), loss.Boundary);
        _counts.Settle(loss.Written, written - broken.Skipped, written: true);
        _counts.Settle(loss.Lost, loss.Boundary - written, written: false);
        if (broken.IsSubscriptionUpdate)
        {
            _counts.CompleteUpdates(loss.Written, written - broken.Skipped, written: true);
            _counts.CompleteUpdates(loss.Lost, loss.Boundary - written, written: false);
        }

        int left = broken.Length - loss.Boundary;
        if (left == 0)
        {
            return true;
        }

        int messages = broken.Messages - loss.Written - loss.Lost;
        byte[] array;
        try
        {
            array = pool.RentArray(left);
        }
        catch (OutOfMemoryException)
        {
            _counts.Settle(messages, left, written: false);
            if (broken.IsSubscriptionUpdate)
            {
                _counts.CompleteUpdates(messages, left, written: false);
            }

            return false;
        }

        OutboundSegment kept = OutboundSegment.ForEncoding(array);
        broken.Memory.Span.Slice(loss.Boundary, left).CopyTo(kept.FreeSpan);
        kept.Length = left;
        kept.Messages = messages;
        kept.EndsMidFrame = broken.EndsMidFrame;
        kept.IsSubscriptionUpdate = broken.IsSubscriptionUpdate;
        kept.IsOpen = false;
        _messages.PutFirst(kept);
        return true;
    }

    private OutboundSegment? DropRemaining()
    {
        bool ended = _messages.DropUnfinishedMessage(out long bytes, out OutboundSegment? dropped);
        _counts.Settle(ended ? 1 : 0, bytes, written: false);
        return dropped;
    }
}
