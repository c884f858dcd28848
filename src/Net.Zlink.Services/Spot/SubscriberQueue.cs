using System.Buffers;

namespace Net.Zlink.Services;

/// <summary>The messages that wait for one subscriber, and the receives that wait for messages. Safe for any number of threads.</summary>
/// <remarks>At any moment under its lock: matched = received + dropped + queued.</remarks>
internal sealed class SubscriberQueue
{
    // 2 KB: what an idle subscriber keeps.
    private const int SegmentSize = 64;

    private readonly SpotSubscriberOptions _options;
    private readonly Action<long> _onFull;
    private readonly QueueReservation _share;
    private readonly Lock _gate = new();
    private readonly ReceiveWaiters<SpotMessage> _waiters;
    private readonly Queue<SpotMessage[]> _segments = new();
    private SpotMessage[] _tail = [];
    private int _headIndex;
    private int _tailCount;
    private int _count;
    private long _bytes;
    private long _matched;
    private long _received;
    private long _dropped;
    private bool _hasHandler;
    private bool _isClosed;
    private bool _hasDropped;
    private SpotGap? _missed; // Of a message that was dropped: the next one says it.

    /// <param name="options">Its limits.</param>
    /// <param name="onFull">Called outside of the lock when it drops for the first time since it was empty, with all it has
    /// dropped.</param>
    /// <param name="context">Whose QueuedByteLimit counts what waits; null: none does.</param>
    public SubscriberQueue(SpotSubscriberOptions options, Action<long> onFull, ZlinkContext? context = null)
    {
        (_options, _onFull) = (options, onFull);
        _share = new QueueReservation(context);
        _waiters = new ReceiveWaiters<SpotMessage>(_gate);
    }

    /// <summary>What it has subscribed to: text, and whether that is a prefix. Guarded by the index's lock.</summary>
    public HashSet<(byte[] Text, bool IsPrefix)> Filters { get; } = [];

    public bool IsClosed => Volatile.Read(ref _isClosed);

    public SpotSubscriberStatistics Statistics
    {
        get
        {
            lock (_gate)
            {
                return new SpotSubscriberStatistics
                {
                    Matched = _matched,
                    Received = _received,
                    Dropped = _dropped,
                    Queued = _count,
                    QueuedBytes = _bytes
                };
            }
        }
    }

    /// <summary>Takes messages over, in order, under one lock.</summary>
    public void Enqueue(ReadOnlySpan<SpotMessage> messages)
    {
        ReceiveWaiter<SpotMessage>? waiter;
        bool isFirstDrop;
        long dropped;
        do
        {
            waiter = null;
            int done = 0;
            lock (_gate)
            {
                bool wasDropping = _hasDropped;
                while (done < messages.Length && waiter is null)
                {
                    waiter = Accept(messages[done]);
                    done++;
                }

                isFirstDrop = _hasDropped && !wasDropping;
                dropped = _dropped;
            }

            // Outside of the lock: a completion may run anything.
            waiter?.Complete(messages[done - 1]);
            messages = messages[done..];
            if (isFirstDrop)
            {
                _onFull(dropped);
            }
        }
        while (!messages.IsEmpty);
    }

    public bool TryReceive(out SpotMessage message)
    {
        if (IsSeenEmpty)
        {
            message = default;
            return false;
        }

        lock (_gate)
        {
            ThrowIfNotReceiving();
            return TryTake(out message);
        }
    }

    public int ReceiveMany(Span<SpotMessage> messages)
    {
        if (IsSeenEmpty)
        {
            return 0;
        }

        lock (_gate)
        {
            ThrowIfNotReceiving();
            return TakeMany(messages);
        }
    }

    public int ReceiveMore(Span<SpotMessage> messages)
    {
        lock (_gate)
        {
            return _hasHandler ? 0 : TakeMany(messages);
        }
    }

    /// <summary>Takes the next message, or waits for it.</summary>
    /// <param name="cancellationToken">Ends the wait; no message is lost by it.</param>
    /// <param name="isHandler">It is the handler's loop that asks.</param>
    public ValueTask<SpotMessage> ReceiveAsync(CancellationToken cancellationToken, bool isHandler = false)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<SpotMessage>(cancellationToken);
        }

        ReceiveWaiter<SpotMessage> waiter;
        lock (_gate)
        {
            if (_isClosed)
            {
                return ValueTask.FromException<SpotMessage>(Ended());
            }

            if (_hasHandler && !isHandler)
            {
                return ValueTask.FromException<SpotMessage>(Handled());
            }

            if (TryTake(out SpotMessage message))
            {
                return new ValueTask<SpotMessage>(message);
            }

            waiter = _waiters.Add();
        }

        return waiter.Begin(cancellationToken);
    }

    /// <exception cref="InvalidOperationException">There is a handler already, or a receive waits.</exception>
    public void BeginHandling()
    {
        lock (_gate)
        {
            ThrowIfNotReceiving();
            if (!_waiters.IsEmpty)
            {
                throw new InvalidOperationException("A receive is waiting for a message: end it before you set a handler.");
            }

            _hasHandler = true;
        }
    }

    public void EndHandling()
    {
        lock (_gate)
        {
            _hasHandler = false;
        }
    }

    /// <summary>Ends every wait, drops what is unread, takes nothing from now on.</summary>
    public void Close()
    {
        ReceiveWaiter<SpotMessage>? waiters;
        lock (_gate)
        {
            if (_isClosed)
            {
                return;
            }

            Volatile.Write(ref _isClosed, true);
            while (_count > 0)
            {
                DropOldest();
            }

            while (_segments.TryDequeue(out SpotMessage[]? segment))
            {
                ArrayPool<SpotMessage>.Shared.Return(segment);
            }

            waiters = _waiters.TakeAll();
        }

        ReceiveWaiters<SpotMessage>.FailAll(waiters, Ended);
    }

    // Without the lock: who polls would delay who enqueues.
    private bool IsSeenEmpty => Volatile.Read(ref _count) == 0 && !Volatile.Read(ref _hasHandler) && !Volatile.Read(ref _isClosed);

    private static ObjectDisposedException Ended() =>
        new("Net.Zlink.Services.SpotSubscriber", "The subscriber, its node or its context has ended.");

    private static InvalidOperationException Handled() =>
        new("A handler receives the messages: dispose it before you call a receive method.");

    /// <summary>Under the lock. Returns the waiter that the message is for; else it is queued or dropped.</summary>
    private ReceiveWaiter<SpotMessage>? Accept(in SpotMessage message)
    {
        if (_isClosed)
        {
            message.Dispose();
            return null;
        }

        _matched++;
        if (_waiters.TakeFirst() is { } waiter)
        {
            _received++;
            return waiter;
        }

        long bytes = message.ByteCount;
        while (_count > 0 && (_count >= _options.Capacity || _bytes + bytes > _options.ByteLimit || !_share.TryCover(_bytes + bytes)))
        {
            _hasDropped = true;
            if (_options.Overflow == SpotOverflow.DropNewest)
            {
                _dropped++;
                _missed = message.MissedBefore ?? _missed;
                message.Dispose();
                return null;
            }

            DropOldest();
        }

        if (_tailCount == _tail.Length)
        {
            _tail = ArrayPool<SpotMessage>.Shared.Rent(SegmentSize);
            _tailCount = 0;
            _segments.Enqueue(_tail);
        }

        _tail[_tailCount++] = message;
        _count++;
        _bytes += bytes;
        return null;
    }

    private int TakeMany(Span<SpotMessage> messages)
    {
        int taken = 0;
        while (taken < messages.Length && TryTake(out messages[taken]))
        {
            taken++;
        }

        return taken;
    }

    private bool TryTake(out SpotMessage message)
    {
        if (_count == 0)
        {
            message = default;
            return false;
        }

        message = Dequeue();
        if (_missed is { } missed)
        {
            _missed = null;
            message = message.MissedBefore is null ? message.After(missed) : message;
        }

        _received++;
        _hasDropped &= _count > 0;
        return true;
    }

    private void DropOldest()
    {
        _dropped++;
        SpotMessage oldest = Dequeue();
        _missed = oldest.MissedBefore ?? _missed;
        oldest.Dispose();
    }

    private SpotMessage Dequeue()
    {
        SpotMessage[] head = _segments.Peek();
        SpotMessage message = head[_headIndex];
        head[_headIndex++] = default;
        _bytes -= message.ByteCount;
        _share.Shrink(_bytes);
        if (--_count == 0)
        {
            (_headIndex, _tailCount) = (0, 0); // It is the only segment: it is filled again from its start.
        }
        else if (_headIndex == head.Length)
        {
            _headIndex = 0;
            ArrayPool<SpotMessage>.Shared.Return(_segments.Dequeue());
        }

        return message;
    }

    private void ThrowIfNotReceiving()
    {
        if (_isClosed)
        {
            throw Ended();
        }

        if (_hasHandler)
        {
            throw Handled();
        }
    }
}
