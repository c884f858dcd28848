using System.Threading.Channels;

namespace Net.Zlink.Services;

/// <summary>Publications that wait for the loop that sends and delivers them, limited by their number and by their bytes, within the
/// context's QueuedByteLimit. Safe for any number of threads, and one loop.</summary>
internal sealed class PublishQueue
{
    private readonly Lock _gate = new();
    private readonly SpotNodeOptions _options;
    private readonly QueueReservation _reservation;
    private readonly TopicIndex _index;
    private readonly Func<Message, TopicEntry, CancellationToken, ValueTask> _publish;
    private readonly LinkedList<Waiter> _waiters = [];

    // Something has come; one that was not read yet is enough.
    private readonly Channel<bool> _signal = Channel.CreateBounded<bool>(
        new BoundedChannelOptions(1) { FullMode = BoundedChannelFullMode.DropWrite, SingleReader = true });

    private QueuedPublication[] _ring = [];
    private int _head;
    private int _count;
    private long _bytes;
    private long _dropped;
    private bool _isComplete;

    /// <param name="options">Its limits, and what it does when it is full.</param>
    /// <param name="context">Whose QueuedByteLimit counts what waits.</param>
    /// <param name="index">Knows who takes a topic by the time it leaves.</param>
    /// <param name="publish">Sends and delivers a publication, and takes it over.</param>
    public PublishQueue(SpotNodeOptions options, ZlinkContext context, TopicIndex index,
        Func<Message, TopicEntry, CancellationToken, ValueTask> publish)
    {
        _options = options;
        _reservation = new QueueReservation(context);
        _index = index;
        _publish = publish;
    }

    public int Count => Volatile.Read(ref _count);

    public long Dropped => Interlocked.Read(ref _dropped);

    /// <summary>Takes the message over if it fits, or if something is dropped for it.</summary>
    public bool TryEnqueue(in Message message, TopicEntry topic)
    {
        lock (_gate)
        {
            return !_isComplete && _waiters.Count == 0 && TryAdd(new QueuedPublication(message, topic));
        }
    }

    /// <summary>Waits until it fits, in the order of the calls; the message stays the caller's if it throws.</summary>
    /// <exception cref="ObjectDisposedException">The node ends.</exception>
    public async ValueTask EnqueueAsync(Message message, TopicEntry topic, CancellationToken cancellationToken)
    {
        var waiter = new Waiter(new QueuedPublication(message, topic));
        lock (_gate)
        {
            if (_isComplete)
            {
                throw Ended();
            }

            if (_waiters.Count == 0 && TryAdd(waiter.Publication))
            {
                return;
            }

            _waiters.AddLast(waiter.Node);
        }

        CancellationTokenRegistration cancelling = cancellationToken.UnsafeRegister(_ => Cancel(waiter, cancellationToken), null);
        await using (cancelling.ConfigureAwait(false))
        {
            await waiter.Task.ConfigureAwait(false);
        }
    }

    public void Complete()
    {
        lock (_gate)
        {
            _isComplete = true;
            while (_waiters.First is { } first)
            {
                _waiters.Remove(first);
                first.Value.TrySetException(Ended());
            }

            _signal.Writer.TryComplete();
        }
    }

    /// <summary>Publishes in order until all is published behind <see cref="Complete"/>. The token ends a publication that waits for a
    /// peer.</summary>
    public async ValueTask RunAsync(CancellationToken cancellationToken)
    {
        do
        {
            _signal.Reader.TryRead(out _);
            while (TryTake(out QueuedPublication next))
            {
                try
                {
                    await _publish(next.Message, _index.Refresh(next.Topic, next.Message.Span), cancellationToken).ConfigureAwait(false);
                }
                catch
                {
                    Interlocked.Increment(ref _dropped);
                    throw;
                }
            }
        }
        while (await _signal.Reader.WaitToReadAsync(CancellationToken.None).ConfigureAwait(false)); // Without a token it allocates nothing.

        throw new ObjectDisposedException(nameof(PublishQueue)); // So that its loop ends.
    }

    /// <summary>Drops and counts what is left.</summary>
    public void DropAll()
    {
        Complete();
        while (TryTake(out QueuedPublication left))
        {
            Drop(left);
        }
    }

    private static ObjectDisposedException Ended() =>
        new("Net.Zlink.Services.SpotNode", "The node is ending: its publish queue is closed.");

    private void Cancel(Waiter waiter, CancellationToken cancellationToken)
    {
        lock (_gate)
        {
            if (waiter.Node.List is null)
            {
                return; // It was accepted, or failed.
            }

            _waiters.Remove(waiter.Node);
            waiter.TrySetCanceled(cancellationToken);
            AddWaiters(); // A smaller one behind it may fit.
        }
    }

    private bool TryTake(out QueuedPublication publication)
    {
        lock (_gate)
        {
            if (_count == 0)
            {
                publication = default;
                return false;
            }

            publication = RemoveAt(0);
            AddWaiters();
            _reservation.Shrink(_bytes);
            return true;
        }
    }

    private void AddWaiters()
    {
        while (_waiters.First is { } first && Fits(first.Value.Publication))
        {
            _waiters.Remove(first);
            Add(first.Value.Publication);
            first.Value.TrySetResult();
        }
    }

    private bool TryAdd(QueuedPublication publication)
    {
        while (!Fits(publication))
        {
            switch (_options.PublishQueueFullMode)
            {
                case BoundedChannelFullMode.DropWrite:
                    Drop(publication);
                    return true;
                case BoundedChannelFullMode.DropOldest:
                    Drop(RemoveAt(0));
                    break;
                case BoundedChannelFullMode.DropNewest:
                    Drop(RemoveAt(_count - 1));
                    break;
                default:
                    return false;
            }
        }

        Add(publication);
        return true;
    }

    /// <summary>Into an empty queue any publication fits.</summary>
    private bool Fits(QueuedPublication publication)
    {
        long bytes = _bytes + publication.Message.ByteCount;
        return _count == 0 || (_count < _options.PublishQueueCapacity && bytes <= _options.PublishQueueByteLimit
            && _reservation.TryCover(bytes));
    }

    private void Add(QueuedPublication publication)
    {
        if (_count == _ring.Length)
        {
            var larger = new QueuedPublication[Math.Max(16, _count * 2)];
            for (int i = 0; i < _count; i++)
            {
                larger[i] = _ring[(_head + i) % _ring.Length];
            }

            (_ring, _head) = (larger, 0);
        }

        _ring[(_head + _count) % _ring.Length] = publication;
        _bytes += publication.Message.ByteCount;
        if (_count == 0)
        {
            _reservation.TryCover(_bytes); // Accepted in any case.
            _signal.Writer.TryWrite(true);
        }

        Volatile.Write(ref _count, _count + 1);
    }

    /// <summary>The oldest or the newest.</summary>
    private QueuedPublication RemoveAt(int index)
    {
        ref QueuedPublication place = ref _ring[(_head + index) % _ring.Length];
        QueuedPublication removed = place;
        place = default;
        _head = index == 0 ? (_head + 1) % _ring.Length : _head;
        _bytes -= removed.Message.ByteCount;
        Volatile.Write(ref _count, _count - 1);
        return removed;
    }

    private void Drop(QueuedPublication publication)
    {
        Interlocked.Increment(ref _dropped);
        publication.Message.Dispose();
    }

    private readonly record struct QueuedPublication(Message Message, TopicEntry Topic);

    private sealed class Waiter : TaskCompletionSource
    {
        public Waiter(QueuedPublication publication)
            : base(TaskCreationOptions.RunContinuationsAsynchronously)
        {
            Publication = publication;
            Node = new LinkedListNode<Waiter>(this);
        }

        public QueuedPublication Publication { get; }

        public LinkedListNode<Waiter> Node { get; }
    }
}
