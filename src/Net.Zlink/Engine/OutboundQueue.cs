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
internal sealed class OutboundQueue(BufferPool pool, FrameFormat format, QueueLimits limits, ContextQuota? context = null) : IQuotaOwner
{
    private ShortLock _gate;
    private SegmentList _segments = new(pool, format, limits, context);
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
                return _segments.Quota.Counts;
            }
        }
    }

    public long WrittenMessages => _segments.Quota.Counts.TakenMessages;

    public FullCause FullCause => _segments.Quota.Cause;

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

    /// <summary>If accepted, the queue owns its donated memory; the rest is copied.</summary>
    public SendStatus TryAppend(in OutgoingMessage message, out bool schedule, bool force = false)
    {
        schedule = false;
        try
        {
            long length = message.EncodedLength(format);
            return IsPacked(length) ? TryPack(message, (int)length, force, out schedule) : TryAppendLong(message, force, out schedule);
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
                    _segments.AddShared(encoded, offset, length, messages, mayCopy: !Conflates);
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

    public bool HasControl => _segments.HasControl;

    /// <summary>Control frames precede all messages at the next frame boundary, and are not counted.</summary>
    public bool TryAppendControl(ReadOnlySpan<byte> frames)
    {
        using (_gate.EnterScope())
        {
            return _segments.TryAddControl(frames);
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

    public void PutBack(OutboundSegment segment)
    {
        using (_gate.EnterScope())
        {
            _segments.PutBack(segment);
        }
    }

    public OutboundSegment? Written(OutboundSegment segment, bool several)
    {
        OutboundSegment? next;
        bool isFreed;
        using (_gate.EnterScope())
        {
            next = _segments.Written(segment);
            isFreed = _segments.Quota.TryResume();
            next ??= Next(several);
        }

        // Outside the lock: donated memory's owner is application code.
        segment.Release(pool);
        Notify(isFreed);
        return next;
    }

    public void PauseSending()
    {
        using (_gate.EnterScope())
        {
            _segments.IsSendPaused = true;
        }
    }

    public bool Release()
    {
        using (_gate.EnterScope())
        {
            _segments.IsSendPaused = false;
            return !_segments.IsEmpty && AcquireFlush();
        }
    }

    public void SetLimits(QueueLimits limits)
    {
        using (_gate.EnterScope())
        {
            _segments.Quota.Change(limits);
        }

        OnQuotaAvailable();
    }

    public void OnQuotaAvailable()
    {
        bool isFreed;
        using (_gate.EnterScope())
        {
            isFreed = _segments.Quota.TryResumeForAny(this);
        }

        Notify(isFreed);
    }

    public void Close()
    {
        bool wasRefused;
        using (_gate.EnterScope())
        {
            _closed = true;
            wasRefused = _segments.Quota.IsRefused;
            _segments.Quota.IsRefused = false;
        }

        Notify(wasRefused);
    }

    public void Abandon()
    {
        Close();
        Drop(static queue => queue._segments.DropAll());
    }

    public void Detach() => Drop(static queue =>
    {
        queue._segments.IsSendPaused = true;
        queue._hasWriter = false;
        return queue._segments.Lose();
    });

    public void ReleaseInFlight(OutboundSegment? segment)
    {
        using (_gate.EnterScope())
        {
            _segments.Forget(segment);
        }

        OutboundSegment.ReleaseAll(segment, pool);
    }

    public void DropQueued() => Drop(static queue => queue._segments.DropUnstarted(isObsolete: false));

    public void DropUpdates() => Drop(static queue => queue._segments.DropUpdates());

    public void Adopt(OutboundQueue other)
    {
        OutboundSegment? first;
        QueueCounts given;
        using (other._gate.EnterScope())
        {
            first = other._segments.GiveAll(out given);
            other._segments.Quota.Shrink();
        }

        using (_gate.EnterScope())
        {
            _segments.Adopt(first, given);
        }
    }

    public void AppendOwn(ReadOnlySpan<byte> header, ReadOnlySpan<byte> body, bool isUpdate, out bool schedule)
    {
        using (_gate.EnterScope())
        {
            schedule = false;
            if (!_closed)
            {
                _segments.AddOwn(header, body, isUpdate);
                schedule = AcquireFlush();
            }
        }
    }

    private void Drop(Func<OutboundQueue, OutboundSegment?> drop)
    {
        OutboundSegment? dropped;
        bool isFreed;
        using (_gate.EnterScope())
        {
            dropped = drop(this);
            isFreed = _segments.Quota.TryResume();
        }

        OutboundSegment.ReleaseAll(dropped, pool);
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
                _segments.Pack(message, length);
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
                _segments.Add(run);
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

    /// <summary>A message that has a part to refer to is longer in any case.</summary>
    private bool IsPacked(long length) => length < format.HeaderSize + OutgoingMessage.LargePayload && !Conflates;

    private OutboundSegment? Supersede() => Conflates ? _segments.DropUnstarted(isObsolete: true) : null;

    private SendStatus Admit(bool force = false, int moreMessages = 0, int moreBytes = 0) => _closed ? SendStatus.Closed
        : Conflates || force || _segments.Quota.TryAdmit(this, moreMessages, moreBytes) ? SendStatus.Accepted
        : SendStatus.Full;

    private bool AcquireFlush()
    {
        if (_hasWriter || _segments.IsSendPaused)
        {
            return false;
        }

        _hasWriter = true;
        return true;
    }

    private OutboundSegment? Next(bool several)
    {
        OutboundSegment? segment = _segments.Next(several);
        _hasWriter &= segment is not null;
        return segment;
    }

    private void Notify(bool isFreed)
    {
        if (isFreed)
        {
            CapacityAvailable?.Invoke();
        }
    }
}
