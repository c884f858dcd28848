using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Buffers;

namespace Net.Zlink.Engine;

/// <summary>What an <see cref="OutboundQueue"/> holds, and its books: messages, control frames, the segment on its way, and what becomes of all that after a loss. Not thread-safe: under the queue's lock.</summary>
/// <remarks>A part of its queue, never to be copied.</remarks>
internal struct OutboundBacklog(BufferPool pool)
{
    // What one system call takes: 256 KiB more or less, which leaves one short packet behind it instead of one behind each 64 KiB (docs/benchmarks/log.md, "Full packets"), in as many pieces as the runtime passes on without allocating.
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

    /// <summary>Messages are kept back: only control frames go out.</summary>
    public bool IsSendPaused { get; set; }

    /// <summary>Only the newest message is kept.</summary>
    public bool Conflates { get; set; }

    public readonly bool HasMessages => !_messages.IsEmpty;

    /// <summary>Takes a message in. True if handed-over memory was copied, so that its owner can be disposed once the lock is left.</summary>
    /// <param name="message">The message.</param>
    /// <param name="obsolete">The one that it takes the place of, where only the newest is kept: for the caller to release outside the lock.</param>
    public bool Add(in OutgoingMessage message, out OutboundSegment? obsolete)
    {
        obsolete = Begin();
        bool copied = message.AddTo(ref _messages, pool);
        End();
        return copied;
    }

    /// <summary>Takes one message in that the socket itself has to say, encoded; copies it. It takes no other one's place: of two topics that a subscriber names, the second is no news of the first.</summary>
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

    /// <summary>Takes in one message that was encoded outside the lock, with its array. Returns what is obsolete by it, as <see cref="Add(in OutgoingMessage, out OutboundSegment?)"/>.</summary>
    public OutboundSegment? AddArray(byte[] array, int length)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddArray(array, length);
        End();
        return obsolete;
    }

    /// <summary>Takes in messages that others use too; long ones by a reference of its own. Returns what is obsolete by them, as <see cref="Add(in OutgoingMessage, out OutboundSegment?)"/>.</summary>
    public OutboundSegment? AddShared(Slab encoded, int offset, int length, int messages)
    {
        OutboundSegment? obsolete = Begin();
        _messages.AddShared(encoded, offset, length, messages);
        End(messages);
        return obsolete;
    }

    /// <summary>Takes in protocol frames. False if too many wait already.</summary>
    public bool TryAddControl(ReadOnlySpan<byte> frames) => _control.TryAdd(frames, pool);

    /// <summary>The next segment to write, or null: control frames first, where a frame ends. If <paramref name="several"/>, what may leave in the same write is linked to it.</summary>
    public OutboundSegment? Next(bool several)
    {
        if (!_midFrame && !_control.IsEmpty)
        {
            return _inFlight = _control.Dequeue();
        }

        // A body whose header is written goes out even while messages are held: the frame must be whole before anything else is said.
        _inFlight = IsSendPaused && !_midFrame ? null : _messages.Dequeue();
        if (several && !Conflates && _inFlight is { } first && !_messages.IsEmpty)
        {
            Gather(first);
        }

        return _inFlight;
    }

    /// <summary>What is linked behind a segment that is being written waits again, in front of everything: its write has to wait.</summary>
    public void PutBack(OutboundSegment segment)
    {
        if (segment.Next is { } first)
        {
            segment.Next = null;
            _messages.PutBack(first);
        }
    }

    /// <summary>Accounts for a segment that was written, the first of those in flight. Returns the next of these, if there is one.</summary>
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

    /// <summary>The queue has nothing to do with a segment that is being written any more.</summary>
    public void Forget(OutboundSegment? segment)
    {
        if (ReferenceEquals(_inFlight, segment))
        {
            _inFlight = null; // Unless the queue already serves another connection.
        }
    }

    /// <summary>Takes all messages out, counting them as dropped, and all control frames; linked, for the caller to release outside the lock. The segment in flight stays: the operating system may still read it.</summary>
    public OutboundSegment? DropAll()
    {
        _counts.CompleteUpdates(_counts.QueuedUpdates, _counts.QueuedUpdateBytes, written: false);
        _counts.Settle(_counts.QueuedMessages, _counts.QueuedBytes, written: false);
        OutboundSegment? dropped = _messages.DequeueAll();
        OutboundSegment.Append(ref dropped, _control.Dequeue());
        return dropped;
    }

    /// <summary>Takes all messages out for another queue, as if they had never been accepted here. There is no connection, so they are whole; and there is no news among them.</summary>
    public OutboundSegment? GiveAll(out OutboundCounts given)
    {
        given = new OutboundCounts { QueuedMessages = _counts.QueuedMessages, QueuedBytes = _counts.QueuedBytes };
        _counts.Accept(-given.QueuedMessages, -given.QueuedBytes);
        return _messages.DequeueAll();
    }

    /// <summary>Takes in, first of all, what another queue has given.</summary>
    public void Adopt(OutboundSegment? first, in OutboundCounts given)
    {
        if (first is not null)
        {
            _counts.Accept(given.QueuedMessages, given.QueuedBytes);
            _messages.PutBack(first);
        }
    }

    /// <summary>As <see cref="DropAll"/>, but what has begun to leave goes on to its message's end: the connection stays, and a message is sent whole or not at all.</summary>
    public OutboundSegment? DropUnstarted()
    {
        OutboundSegment? dropped = _messages.DequeueAllUnstarted(out int messages, out long bytes);
        _counts.Settle(messages, bytes, written: false);
        DropUpdatesIn(dropped);
        return dropped;
    }

    /// <summary>The peer has no connection, and the next one is told all anew: takes out what is news, counting it as obsolete, be it later that of a segment which the lost connection has not let go of yet.</summary>
    public OutboundSegment? DropSubscriptionUpdates()
    {
        _dropsUpdates = OutboundSegment.UpdatesIn(_inFlight).Messages > 0;
        OutboundSegment? dropped = _messages.DequeueUpdates();
        (int messages, long bytes) = DropUpdatesIn(dropped);
        _counts.Settle(messages, bytes, written: false);
        return dropped;
    }

    /// <summary>Control frames wait, be it behind a frame that is on its way.</summary>
    public readonly bool HasControl => !_control.IsEmpty;

    /// <summary>
    /// The connection is lost: whole messages that were not handed over stay, in order; one that may have left in part is dropped and counted, and control frames go. Returns segments to release.
    /// </summary>
    public OutboundSegment? Lose()
    {
        OutboundSegment? dropped = null;
        OutboundSegment? segment = _inFlight;
        while (segment is { IsControl: false } whole && whole.Sent == whole.Length)
        {
            SettleWritten(whole); // It stays linked to what was written with it: their connection gives them back.
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
            dropped = DropRemaining(); // Nothing, unless the message that was written last is not whole yet.
        }

        _inFlight = null; // Its connection gives it back; a second loss must not count it again.
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
        // Nothing is queued any more where it was dropped while this segment was on its way.
        _counts.Settle(Math.Min(segment.Messages, _counts.QueuedMessages), Math.Min(segment.Length - segment.Skipped, _counts.QueuedBytes), written: true);
        if (segment.IsSubscriptionUpdate)
        {
            _counts.CompleteUpdates(Math.Min(segment.Messages, _counts.QueuedUpdates), Math.Min(segment.Length - segment.Skipped, _counts.QueuedUpdateBytes), written: true);
        }
    }

    /// <summary>Links what may be written together with a segment: up to where a control frame has to come first.</summary>
    private void Gather(OutboundSegment first)
    {
        OutboundSegment last = first;
        int bytes = first.Length;
        for (int parts = 1; parts < MaxGathered && bytes < GatheredBytes && !_messages.IsEmpty && (last.EndsMidFrame || (_control.IsEmpty && !IsSendPaused)); parts++)
        {
            last.Next = _messages.Dequeue();
            last = last.Next!;
            bytes += last.Length;
        }
    }

    /// <summary>Returns what the next message makes obsolete, taken out: a message whose beginning is with the kernel already goes out whole.</summary>
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
        _counts.Excuse(messages, bytes); // No news among it: a socket that keeps the newest only and sends both is none of ours.
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

        // Copied, at most once per loss: the operating system may still read the old one.
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
