using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Protocol;

namespace Net.Zlink.Engine;

/// <summary>What waits to be written to one peer: encoded bytes, their message boundaries, the limits, and those who wait for room.</summary>
/// <remarks>
/// Any thread appends; the one that holds the <em>write turn</em> takes segments and writes them. The turn is taken by the append that finds
/// nobody holding it (which then schedules the connection, once), so load turns into batching by itself: while a write is on its way, appends only
/// accumulate. The lock is held for pointer work and for copying payloads below <see cref="LargePayload"/>.
/// </remarks>
internal sealed class OutboundQueue(BufferPool pool, QueueLimits limits) : IWaiterList
{
    // From here on a payload gets a buffer and a send of its own: 16 KiB is where a copy under the lock (about 1 us) costs more than a second send.
    public const int LargePayload = 16 * 1024;

    private readonly Lock _gate = new();
    private readonly WaiterList<SendWaiter> _waiters = new();
    private OutboundSegment? _first;
    private OutboundSegment? _last;
    private OutboundSegment? _inFlight;
    private bool _hasWriter;
    private bool _closed;
    private int _sizeHint;
    private int _burst;
    private OutboundCounts _counts;

    /// <summary>The write turn is held: a flush is scheduled or on its way.</summary>
    public bool HasWriter => Volatile.Read(ref _hasWriter);

    public OutboundCounts Counts
    {
        get
        {
            lock (_gate)
            {
                return _counts;
            }
        }
    }

    /// <summary>What a send would meet now.</summary>
    public SendStatus Status
    {
        get
        {
            lock (_gate)
            {
                return Admit();
            }
        }
    }

    /// <summary>Appends one frame; copies the payload.</summary>
    /// <param name="header">The encoded header.</param>
    /// <param name="payload">The payload.</param>
    /// <param name="schedule">True if the caller got the write turn and must schedule the flush.</param>
    public SendStatus TryAppend(FrameHeader header, ReadOnlySpan<byte> payload, out bool schedule)
    {
        schedule = false;
        if (payload.Length >= LargePayload)
        {
            return TryAppendLarge(header, payload, out schedule);
        }

        lock (_gate)
        {
            SendStatus status = Admit();
            if (status == SendStatus.Accepted)
            {
                Encode(header, payload);
                schedule = TakeTurn();
            }

            return status;
        }
    }

    /// <summary>Appends bytes that are encoded already and shared with other peers; takes a reference of its own if it accepts.</summary>
    public SendStatus TryAppendShared(Slab encoded, int length, out bool schedule)
    {
        schedule = false;
        lock (_gate)
        {
            SendStatus status = Admit();
            if (status == SendStatus.Accepted)
            {
                if (length < LargePayload)
                {
                    Copy(encoded.Array.AsSpan(0, length));
                }
                else
                {
                    encoded.AddReference();
                    Link(OutboundSegment.ForShared(encoded, length));
                }

                Count(length);
                schedule = TakeTurn();
            }

            return status;
        }
    }

    /// <summary>Appends, or puts the caller in the line of those who wait for room. The payload must stay unchanged until the wait ends.</summary>
    /// <returns>Accepted, Closed, or Full: then <paramref name="waiter"/> stands in line.</returns>
    public SendStatus AppendOrWait(FrameHeader header, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner, SendWaiter waiter, out bool schedule)
    {
        schedule = false;
        SendStatus status;
        if (owner is null && payload.Length >= LargePayload)
        {
            status = TryAppendLarge(header, payload.Span, out schedule);
            if (status != SendStatus.Full)
            {
                return status;
            }
        }

        bool copied = false;
        lock (_gate)
        {
            status = Admit();
            if (status == SendStatus.Accepted)
            {
                copied = EncodeOwned(header, payload, owner);
                schedule = TakeTurn();
            }
            else if (status == SendStatus.Full)
            {
                waiter.Payload = payload;
                waiter.Owner = owner;
                waiter.Header = header;
                _waiters.Add(waiter);
            }
        }

        if (copied && owner is not null)
        {
            OutboundSegment.DisposeOwner(owner);
        }

        return status;
    }

    /// <summary>Takes the write turn without appending: the shard does so around a handler, so that the handler's answers leave in one write.</summary>
    /// <returns>False if somebody holds it already.</returns>
    public bool TryTakeTurn()
    {
        lock (_gate)
        {
            return TakeTurn();
        }
    }

    /// <summary>The next segment to write, or null: then the write turn is given back. Called by the holder of the turn.</summary>
    public OutboundSegment? NextToWrite()
    {
        lock (_gate)
        {
            return Next();
        }
    }

    /// <summary>Accounts for a written segment, lets waiting sends in, and returns the next segment as <see cref="NextToWrite"/> does.</summary>
    public OutboundSegment? Written(OutboundSegment segment)
    {
        SendWaiter? admitted;
        OutboundSegment? next;
        lock (_gate)
        {
            _counts.QueuedMessages -= segment.Messages;
            _counts.QueuedBytes -= segment.Length;
            _counts.WrittenMessages += segment.Messages;
            _counts.WrittenBytes += segment.Length;
            _burst = Math.Min(_burst + segment.Length, OutboundSegment.Largest);
            _inFlight = null;
            admitted = AdmitWaiters();
            next = Next();
        }

        // Outside the lock, like every release: the owner of donated memory is the application's code.
        segment.Release(pool);
        CompleteAll(admitted, SendStatus.Accepted);
        return next;
    }

    /// <summary>Refuses further sends. What was accepted stays to be written.</summary>
    public void Close()
    {
        SendWaiter? refused = null;
        lock (_gate)
        {
            _closed = true;
            while (_waiters.First is { } waiter)
            {
                _waiters.Remove(waiter);
                waiter.Next = refused;
                refused = waiter;
            }
        }

        CompleteAll(refused, SendStatus.Closed);
    }

    /// <summary>Refuses further sends and drops what was accepted but not written, counting it.</summary>
    public void Abandon()
    {
        Close();
        OutboundSegment? dropped;
        lock (_gate)
        {
            // The segment in flight stays: the operating system may still read it. ReleaseInFlight gives it back.
            dropped = _first;
            _first = null;
            _last = null;
            _counts.DroppedMessages += _counts.QueuedMessages;
            _counts.DroppedBytes += _counts.QueuedBytes;
            _counts.QueuedMessages = 0;
            _counts.QueuedBytes = 0;
        }

        while (dropped is not null)
        {
            OutboundSegment? next = dropped.Next;
            dropped.Release(pool);
            dropped = next;
        }
    }

    /// <summary>Gives back the segment that was being written when the connection ended, once no operation uses it.</summary>
    public void ReleaseInFlight()
    {
        OutboundSegment? segment;
        lock (_gate)
        {
            segment = _inFlight;
            _inFlight = null;
        }

        segment?.Release(pool);
    }

    public bool TryTakeOut(WaiterNode waiter)
    {
        lock (_gate)
        {
            return _waiters.Remove(waiter);
        }
    }

    private SendStatus TryAppendLarge(FrameHeader header, ReadOnlySpan<byte> payload, out bool schedule)
    {
        schedule = false;

        // Copied outside the lock: others go on appending meanwhile. Looked at first, so that a full queue costs no copy.
        lock (_gate)
        {
            SendStatus status = Admit();
            if (status != SendStatus.Accepted)
            {
                return status;
            }
        }

        int total = header.Length + payload.Length;
        byte[] array = pool.RentArray(total);
        header.WriteTo(array);
        payload.CopyTo(array.AsSpan(header.Length));
        OutboundSegment segment = OutboundSegment.ForEncoding(array);
        segment.Length = total;
        segment.Messages = 1;
        lock (_gate)
        {
            SendStatus status = Admit();
            if (status == SendStatus.Accepted)
            {
                Link(segment);
                Count(total);
                schedule = TakeTurn();
                return status;
            }

            segment.Release(pool);
            return status;
        }
    }

    /// <summary>Whether a message may enter now. Nobody overtakes those who already wait.</summary>
    private SendStatus Admit()
    {
        if (_closed)
        {
            return SendStatus.Closed;
        }

        return !_waiters.IsEmpty || limits.IsFull(_counts.QueuedMessages, _counts.QueuedBytes) ? SendStatus.Full : SendStatus.Accepted;
    }

    private bool TakeTurn()
    {
        if (_hasWriter)
        {
            return false;
        }

        _hasWriter = true;
        return true;
    }

    private OutboundSegment? Next()
    {
        OutboundSegment? segment = _first;
        if (segment is null)
        {
            _hasWriter = false;

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
        _inFlight = segment;
        return segment;
    }

    private void Encode(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        int total = header.Length + payload.Length;
        OutboundSegment segment = OpenSegment(total);
        Span<byte> free = segment.FreeSpan;
        header.WriteTo(free);
        payload.CopyTo(free[header.Length..]);
        segment.Length += total;
        segment.Messages++;
        Count(total);
    }

    /// <summary>Takes a payload in. True if it was copied, so that its owner can be disposed once the lock is left.</summary>
    private bool EncodeOwned(FrameHeader header, ReadOnlyMemory<byte> payload, IMemoryOwner<byte>? owner)
    {
        if (payload.Length < LargePayload)
        {
            Encode(header, payload.Span);
            return true;
        }

        int total = header.Length + payload.Length;
        if (owner is null)
        {
            ReadOnlySpan<byte> bytes = payload.Span; // First: it is the step that may throw.
            OutboundSegment own = OutboundSegment.ForEncoding(pool.RentArray(total));
            header.WriteTo(own.FreeSpan);
            bytes.CopyTo(own.FreeSpan[header.Length..]);
            own.Length = total;
            own.Messages = 1;
            Link(own);
            Count(total);
            return true;
        }

        // No room beside the header: behind donated memory a segment stays as it is, so anything larger would be wasted on every message.
        if (_last is not { IsOpen: true } last || last.FreeSpan.Length < header.Length)
        {
            last = OutboundSegment.ForEncoding(pool.RentArray(header.Length));
            Link(last);
        }

        header.WriteTo(last.FreeSpan);
        last.Length += header.Length;
        Link(OutboundSegment.ForDonated(owner, payload));
        Count(total);
        return false;
    }

    private void Copy(ReadOnlySpan<byte> encoded)
    {
        OutboundSegment segment = OpenSegment(encoded.Length);
        encoded.CopyTo(segment.FreeSpan);
        segment.Length += encoded.Length;
        segment.Messages++;
    }

    private void Count(int bytes)
    {
        _counts.AcceptedMessages++;
        _counts.AcceptedBytes += bytes;
        _counts.QueuedMessages++;
        _counts.QueuedBytes += bytes;
    }

    private OutboundSegment OpenSegment(int needed)
    {
        if (_last is { IsOpen: true } last && last.Memory.Length - last.Length >= needed)
        {
            return last;
        }

        int size = OutboundSegment.SizeFor(Math.Max(_sizeHint, _last is null ? 0 : _last.Memory.Length * 4));
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

        _last = segment;
    }

    private SendWaiter? AdmitWaiters()
    {
        SendWaiter? admitted = null;
        SendWaiter? tail = null;
        while (_waiters.First is { } waiter && !limits.IsFull(_counts.QueuedMessages, _counts.QueuedBytes))
        {
            _waiters.Remove(waiter);
            try
            {
                if (!EncodeOwned(waiter.Header, waiter.Payload, waiter.Owner))
                {
                    waiter.Owner = null;
                }
            }
            catch (Exception exception)
            {
                waiter.Failure = exception; // Its memory was disposed while it waited: that one send's fault, nobody else's.
            }

            if (tail is null)
            {
                admitted = waiter;
            }
            else
            {
                tail.Next = waiter;
            }

            tail = waiter;
        }

        return admitted;
    }

    private static void CompleteAll(SendWaiter? waiter, SendStatus status)
    {
        while (waiter is not null)
        {
            var next = (SendWaiter?)waiter.Next;
            waiter.Next = null;
            if (waiter.Failure is { } failure)
            {
                waiter.Fail(failure);
            }
            else
            {
                if (status == SendStatus.Accepted && waiter.Owner is { } copied)
                {
                    waiter.Owner = null;
                    OutboundSegment.DisposeOwner(copied);
                }

                waiter.Complete(status);
            }

            waiter = next;
        }
    }
}
