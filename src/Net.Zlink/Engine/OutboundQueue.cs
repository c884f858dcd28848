using Net.Zlink.Buffers;
using Net.Zlink.Flow;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>
/// One peer's outbound queue: encoded bytes, message boundaries and limits. One thread at a time writes: the append that finds no writer
/// becomes the writer and schedules the connection once, so appends during a write form the next batch. The lock is held for pointer work
/// and copies below <see cref="OutgoingMessage.LargePayload"/>. While sending is paused (no connection, a handshake, a loss) messages
/// accumulate, and only control frames are written.
/// </summary>
/// <remarks>
/// Short messages are packed into the open segment, a long one has segments of its own. So a segment either begins with a message or only
/// continues one, and a loss drops a half-sent message whole (docs/architecture.md, "After a loss").
/// </remarks>
internal sealed partial class OutboundQueue(BufferPool pool, FrameFormat format, QueueLimits limits, ContextQuota? context = null)
    : IQuotaOwner
{
    // Per system call: 256 KiB leave one short packet instead of one per 64 KiB (docs/benchmarks/log.md, "Full packets").
    private const int GatheredBytes = 256 * 1024;
    private const int MaxGathered = 8;

    // Larger batches are forwarded without a copy, if the queue is empty: copying 4 KiB of cold memory costs as much as a segment, 0.4 us.
    private const int SmallestShared = 4 * 1024;

    // A heartbeat's reply is at most 26 bytes: 64 KiB of them is a flood.
    private const int MaxControlBytes = 64 * 1024;

    private ShortLock _gate;
    private OutboundSegment? _first;
    private OutboundSegment? _last;
    private OutboundSegment? _inFlight;
    private OutboundSegment? _control;
    private Quota _quota = new(limits, context);
    private int _sizeHint;
    private int _burst;
    private bool _isMidFrame;
    private bool _isPaused;
    private bool _hasWriter;
    private bool _closed;

    /// <summary>A newer message replaces one of which nothing has left. The socket's own messages replace none.</summary>
    public bool Conflates { get; init; }

    /// <summary>Called outside the lock, on any thread: a queue that refused a message has capacity again, or is closed.</summary>
    public Action? CapacityAvailable { get; init; }

    public QueueCounts Counts
    {
        get
        {
            using (_gate.EnterScope())
            {
                return _quota.Counts;
            }
        }
    }

    public long WrittenMessages => _quota.Counts.TakenMessages;

    public FullCause FullCause => _quota.Cause;

    public SendStatus Status
    {
        get
        {
            using (_gate.EnterScope())
            {
                return Admit();
            }
        }
    }

    public bool HasControl => _control is not null;

    /// <summary>If accepted, the queue owns its donated memory; the rest is copied.</summary>
    public SendStatus TryAppend(in OutgoingMessage message, out bool schedule, bool force = false)
    {
        schedule = false;
        try
        {
            long length = message.EncodedLength(format);

            // A message that has a part to refer to is longer in any case.
            return length < format.HeaderSize + OutgoingMessage.LargePayload && !Conflates
                ? TryPack(message, (int)length, force, out schedule)
                : TryAppendLong(message, force, out schedule);
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }
    }

    public SendStatus TryAppendShared(Slab encoded, int offset, int length, int messages, out bool schedule, bool force = false)
    {
        schedule = false;
        SendStatus status;
        OutboundSegment? obsolete = null;
        try
        {
            using (_gate.EnterScope())
            {
                status = Admit(force, messages - 1, messages > 1 ? length : 0);
                if (status == SendStatus.Accepted)
                {
                    obsolete = Supersede();
                    AddShared(encoded, offset, length, messages);
                    schedule = AcquireFlush();
                }
            }
        }
        catch (OutOfMemoryException)
        {
            return SendStatus.NoMemory;
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        return status;
    }

    /// <summary>The socket's own message. Updates have segments of their own, so that they can be dropped alone.</summary>
    public void AppendOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate, out bool schedule)
    {
        using (_gate.EnterScope())
        {
            schedule = false;
            if (_closed)
            {
                return;
            }

            int length = header.Length + body.Length;
            OutboundSegment segment = OpenSegment(length, isUpdate);
            header.CopyTo(segment.FreeSpan);
            body.CopyTo(segment.FreeSpan[header.Length..]);
            Grow(segment, length, messages: 1);
            if (isUpdate)
            {
                _quota.Counts.AddUpdate(1, length);
            }

            schedule = AcquireFlush();
        }
    }

    /// <summary>Control frames precede all messages at the next frame boundary, and are not counted. False: there are too many.</summary>
    public bool TryAppendControl(ReadOnlySpan<byte> frames)
    {
        using (_gate.EnterScope())
        {
            int held = _control?.Length ?? 0;
            if (held + frames.Length > MaxControlBytes)
            {
                return false;
            }

            if (_control is null || held + frames.Length > _control.Memory.Length)
            {
                OutboundSegment larger = OutboundSegment.ForEncoding(pool.RentArray(held + frames.Length));
                larger.IsControl = true;
                if (_control is { } old)
                {
                    old.Memory.Span[..held].CopyTo(larger.FreeSpan);
                    larger.Length = held;
                    old.Release(pool);
                }

                _control = larger;
            }

            frames.CopyTo(_control.FreeSpan);
            _control.Length += frames.Length;
            return true;
        }
    }

    /// <summary>The shard does so around a handler, so that all replies are written together.</summary>
    public bool TryAcquireFlush()
    {
        using (_gate.EnterScope())
        {
            return AcquireFlush();
        }
    }

    public OutboundSegment? NextToWrite(bool several)
    {
        using (_gate.EnterScope())
        {
            return Next(several);
        }
    }

    /// <summary>What was gathered behind the first segment returns to the front.</summary>
    public void PutBack(OutboundSegment segment)
    {
        using (_gate.EnterScope())
        {
            PutBackGathered(segment);
        }
    }

    public OutboundSegment? Written(OutboundSegment segment, bool several)
    {
        OutboundSegment? next;
        bool isFreed;
        using (_gate.EnterScope())
        {
            _inFlight = segment.Next;
            segment.Next = null;
            _isMidFrame = segment.EndsMidFrame;
            Settle(segment, isWritten: true);
            isFreed = _quota.TryResume();
            next = _inFlight ?? Next(several);
        }

        // Outside the lock: donated memory's owner is application code.
        segment.Release(pool);
        Notify(isFreed);
        return next;
    }

    public void SetLimits(QueueLimits limits)
    {
        using (_gate.EnterScope())
        {
            _quota.Change(limits);
        }

        OnQuotaAvailable();
    }

    public void OnQuotaAvailable()
    {
        bool isFreed;
        using (_gate.EnterScope())
        {
            isFreed = _quota.TryResumeForAny(this);
        }

        Notify(isFreed);
    }

    private SendStatus TryPack(in OutgoingMessage message, int length, bool force, out bool schedule)
    {
        schedule = false;
        SendStatus status;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                OutboundSegment segment = OpenSegment(length, isUpdate: false);
                Span<byte> free = segment.FreeSpan;
                message.CopyTo(free, format);
                CacheLines.FetchAhead(free, length);
                Grow(segment, length, messages: 1);
                schedule = AcquireFlush();
            }
        }

        if (status == SendStatus.Accepted && message.Kind != MessageKind.Copied)
        {
            message.OnQueued(pool);
        }

        return status;
    }

    private SendStatus TryAppendLong(in OutgoingMessage message, bool force, out bool schedule)
    {
        schedule = false;

        // Copied outside the lock, so that others can append. Checked first: a full queue must not cost a copy.
        SendStatus status = force ? SendStatus.Accepted : Status;
        if (status != SendStatus.Accepted)
        {
            return status;
        }

        SegmentRun run = message.ToSegments(pool, format);
        OutboundSegment? obsolete = null;
        using (_gate.EnterScope())
        {
            status = Admit(force);
            if (status == SendStatus.Accepted)
            {
                obsolete = Supersede();
                Link(run.First!, run.Last!);
                _last!.Messages = 1;
                _quota.Add(1, run.Bytes);
                schedule = AcquireFlush();
            }
        }

        if (status == SendStatus.Accepted)
        {
            message.OnQueued(pool);
        }
        else
        {
            run.Discard(message.Built);
        }

        OutboundSegment.ReleaseAll(obsolete, pool);
        return status;
    }

    private void AddShared(Slab encoded, int offset, int length, int messages)
    {
        OutboundSegment segment;
        if (_last is { IsSubscriptionUpdate: false } last && last.TryExtend(encoded, offset, length))
        {
            segment = last;
        }
        else if (Conflates || (messages == 1 ? length >= OutgoingMessage.LargePayload
            : length >= (_first is null ? SmallestShared : OutgoingMessage.LargePayload) && !encoded.ShouldBeCopied))
        {
            encoded.AddReference();
            segment = OutboundSegment.ForShared(encoded, offset, length);
            Link(segment, segment);
        }
        else
        {
            segment = OpenSegment(length, isUpdate: false);
            encoded.Array.AsSpan(offset, length).CopyTo(segment.FreeSpan);
            segment.Length += length;
        }

        segment.Messages += messages;
        _quota.Add(messages, length);
    }

    private OutboundSegment? Supersede() => Conflates ? DropUnstarted(isObsolete: true) : null;

    private SendStatus Admit(bool force = false, int moreMessages = 0, int moreBytes = 0) => _closed ? SendStatus.Closed
        : Conflates || force || _quota.TryAdmit(this, moreMessages, moreBytes) ? SendStatus.Accepted
        : SendStatus.Full;

    private bool AcquireFlush()
    {
        if (_hasWriter || _isPaused)
        {
            return false;
        }

        _hasWriter = true;
        return true;
    }

    /// <summary>Control frames come first, at a frame boundary.</summary>
    private OutboundSegment? Next(bool several)
    {
        if (!_isMidFrame && _control is not null)
        {
            _inFlight = _control;
            _control = null;
        }
        else
        {
            // After its header was written, a body follows even while sending is paused: the frame must be completed first.
            _inFlight = _isPaused && !_isMidFrame ? null : Dequeue();
            if (several && _inFlight is not null)
            {
                Gather(_inFlight);
            }
        }

        _hasWriter &= _inFlight is not null;
        return _inFlight;
    }

    private void Gather(OutboundSegment first)
    {
        OutboundSegment last = first;
        int bytes = first.Length;
        for (int parts = 1; parts < MaxGathered && bytes < GatheredBytes && _first is not null && MayFollow(last); parts++)
        {
            last.Next = Dequeue();
            last = last.Next!;
            bytes += last.Length;
        }
    }

    private bool MayFollow(OutboundSegment last) => last.EndsMidFrame || (_control is null && !_isPaused);

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

    private void Grow(OutboundSegment segment, int bytes, int messages)
    {
        segment.Length += bytes;
        segment.Messages += messages;
        _quota.Add(messages, bytes);
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

    private void Settle(OutboundSegment segment, bool isWritten)
    {
        if (!segment.IsControl)
        {
            // What was dropped with its queue may still be in flight.
            Count(Math.Min(segment.Messages, _quota.Counts.QueuedMessages), Math.Min(segment.Length, _quota.Counts.QueuedBytes), isWritten,
                segment.IsSubscriptionUpdate);
        }
    }

    private void Count(long messages, long bytes, bool isWritten, bool isUpdate)
    {
        if (isWritten)
        {
            _quota.Take(messages, bytes);
        }
        else
        {
            _quota.Drop(messages, bytes);
        }

        if (isUpdate)
        {
            _quota.Counts.AddUpdate(-messages, -bytes);
            _quota.Counts.Excuse(isWritten ? 0 : messages, isWritten ? 0 : bytes);
        }
    }

    private void Notify(bool isFreed)
    {
        if (isFreed)
        {
            CapacityAvailable?.Invoke();
        }
    }
}
