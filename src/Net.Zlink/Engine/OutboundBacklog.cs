using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>
/// What an <see cref="OutboundQueue"/> holds: messages, control frames, the segment in flight, and the counters. Under the queue's lock;
/// never copy it.
/// </summary>
internal struct OutboundBacklog(BufferPool pool)
{
    // Per system call: 256 KiB leave one short packet instead of one per 64 KiB (docs/benchmarks/log.md, "Full packets"). The runtime
    // passes on this many pieces without allocating.
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
    /// <remarks>
    /// <paramref name="obsolete"/>: With <see cref="Conflates"/>: the superseded messages, to be released outside the lock.
    /// </remarks>
    public bool Add(in OutgoingMessage message, out OutboundSegment? obsolete)
    {
        obsolete = Begin();
        bool copied = message.AddTo(ref _messages, pool);
        End();
        return copied;
    }

    /// <summary>Copies an encoded message of the socket itself. Not conflated: a second topic does not supersede the first.</summary>
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

    /// <summary>Takes over an array encoded outside the lock. Returns superseded messages.</summary>
    public OutboundSegment? AddArray(byte[] array, int length)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddArray(array, length);
        End();
        return obsolete;
    }

    /// <summary>Adds encoded messages that other queues share; long ones by reference. Returns superseded messages.</summary>
    public OutboundSegment? AddShared(Slab encoded, int offset, int length, int messages)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddShared(encoded, offset, length, messages);
        End(messages);
        return obsolete;
    }

    /// <summary>False if too many bytes wait already.</summary>
    public bool TryAddControl(ReadOnlySpan<byte> frames) => _control.TryAdd(frames, pool);

    /// <summary>
    /// Control frames come first, at a frame boundary. If <paramref name="several"/>, the rest of the same write is linked.
    /// </summary>
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

    /// <summary>Puts the segments linked to this one back to the front, since its write must wait.</summary>
    public void PutBack(OutboundSegment segment)
    {
        if (segment.Next is { } first)
        {
            segment.Next = null;
            _messages.PutBack(first);
        }
    }

    /// <summary>Counts the first segment in flight as written. Returns the next one in flight, or null.</summary>
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
            _inFlight = null; // Unless the queue already serves another connection.
        }
    }

    /// <summary>
    /// Removes all messages, counted as dropped, and control frames; release them outside the lock. The segment in flight stays: the kernel
    /// may still read it.
    /// </summary>
    public OutboundSegment? DropAll()
    {
        _counts.CompleteUpdates(_counts.QueuedUpdates, _counts.QueuedUpdateBytes, written: false);
        _counts.Settle(_counts.QueuedMessages, _counts.QueuedBytes, written: false);
        OutboundSegment? dropped = _messages.DequeueAll();
        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    /// <summary>
    /// Removes all messages for another queue, as if never accepted here. There is no connection, so they are whole and no updates.
    /// </summary>
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

    /// <summary>
    /// As <see cref="DropAll"/>, except a message that is partly sent: the connection stays, so the message must be completed.
    /// </summary>
    public OutboundSegment? DropUnstarted()
    {
        OutboundSegment? dropped = _messages.DequeueAllUnstarted(out int messages, out long bytes);
        _counts.Settle(messages, bytes, written: false);
        DropUpdatesIn(dropped);
        return dropped;
    }

    /// <summary>
    /// Drops subscription updates as obsolete, since the next connection sends all subscriptions anew. Includes an update in flight on the
    /// lost connection, later.
    /// </summary>
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
    /// The connection is lost. Whole unsent messages stay, in order. A message that may be partly sent is dropped and counted, and so are
    /// control frames.
    /// </summary>
    public OutboundSegment? Lose()
    {
        OutboundSegment? dropped = null;
        OutboundSegment? segment = _inFlight;
        while (segment is { IsControl: false } whole && whole.Sent == whole.Length)
        {
            SettleWritten(whole); // It stays linked to the others of its write: their connection releases them.
            segment = whole.Next;
        }

        if (segment is { IsControl: false } broken)
        {
            PutBack(broken);
            OutboundLoss loss = OutboundLoss.Of(broken);
            RetainFrom(broken, loss);
            if (loss.Continues)
            {
                dropped = DropRemaining();
            }
        }
        else
        {
            dropped = DropRemaining(); // Nothing, unless the last written message is unfinished.
        }

        _inFlight = null; // Its connection releases it; a second loss must not count it again.
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
        // Nothing is queued any more if it was dropped while this segment was in flight.
        long bytes = segment.Length - segment.Skipped;
        _counts.Settle(Math.Min(segment.Messages, _counts.QueuedMessages), Math.Min(bytes, _counts.QueuedBytes), written: true);
        if (segment.IsSubscriptionUpdate)
        {
            long messages = Math.Min(segment.Messages, _counts.QueuedUpdates);
            _counts.CompleteUpdates(messages, Math.Min(bytes, _counts.QueuedUpdateBytes), written: true);
        }
    }

    /// <summary>Links segments for the same write, up to where a control frame must come first.</summary>
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

    /// <summary>Returns superseded messages. A message that is partly sent is completed.</summary>
    private OutboundSegment? Begin()
    {
        OutboundSegment? obsolete = Conflates && !_messages.IsEmpty ? Supersede() : null;
        _messages.BeginMessage();
        return obsolete;
    }

    private OutboundSegment? Supersede()
    {
        OutboundSegment? obsolete = _messages.DequeueAllUnstarted(out int messages, out long bytes);
        _counts.Settle(messages, bytes, written: false);
        _counts.Excuse(messages, bytes); // Contains no updates: no socket type both conflates and sends them.
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

    private void RetainFrom(OutboundSegment broken, in OutboundLoss loss)
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
            return;
        }

        // Copied, once per loss: the kernel may still read the old segment.
        OutboundSegment kept = OutboundSegment.ForEncoding(pool.RentArray(left));
        broken.Memory.Span.Slice(loss.Boundary, left).CopyTo(kept.FreeSpan);
        kept.Length = left;
        kept.Messages = broken.Messages - loss.Written - loss.Lost;
        kept.EndsMidFrame = broken.EndsMidFrame;
        kept.IsSubscriptionUpdate = broken.IsSubscriptionUpdate;
        kept.IsOpen = false;
        _messages.PutFirst(kept);
    }

    private OutboundSegment? DropRemaining()
    {
        bool ended = _messages.DropUnfinishedMessage(out long bytes, out OutboundSegment? dropped);
        _counts.Settle(ended ? 1 : 0, bytes, written: false);
        return dropped;
    }
}
