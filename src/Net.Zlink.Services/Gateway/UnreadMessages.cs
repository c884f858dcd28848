using System.Numerics;
using System.Runtime.CompilerServices;
using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>The messages of one link that wait for the application. Guarded by the lock of <see cref="UnreadMessages"/>.</summary>
internal sealed class UnreadOfLink
{
    public int Head { get; set; } = -1;

    public int Tail { get; set; } = -1;

    public long Bytes { get; set; }

    /// <summary>It stands in the queue of turns.</summary>
    public bool HasTurn { get; set; }

    public bool IsEmpty => Head < 0;
}

/// <summary>Messages of receivers that are not replies, until the application receives them: one of each link in turn. Limited in
/// messages and in bytes, for all links and for each, within the context's QueuedByteLimit. Safe for any number of threads.</summary>
internal sealed class UnreadMessages
{
    // What a message takes besides its bytes: its place here, and its share of what the socket keeps of it.
    private const long MessageCost = 128;

    private const int SmallestArray = 16;

    private readonly QueueReservation _reservation;
    private readonly ServiceGatewayOptions _options;
    private readonly ILogger _logger;
    private readonly Lock _gate = new();
    private readonly ReceiveWaiters<GatewayMessage> _waiters;
    private readonly Queue<UnreadOfLink> _turns = new();
    private (GatewayMessage Message, int Next)[] _places = [];
    private int _usedPlaces;
    private int _freePlace = -1;
    private int _count;
    private long _bytes;
    private long _dropped;
    private bool _isWanted;
    private UnreadOfLink? _blocked;
    private TaskCompletionSource? _capacity;
    private Func<Exception>? _ended;

    public UnreadMessages(ZlinkContext context, ServiceGatewayOptions options, ILogger logger)
    {
        (_reservation, _options, _logger) = (new QueueReservation(context), options, logger);
        _waiters = new ReceiveWaiters<GatewayMessage>(_gate);
    }

    public int Count => Volatile.Read(ref _count);

    public long Bytes => Volatile.Read(ref _bytes);

    public long Dropped => Volatile.Read(ref _dropped);

    /// <summary>The application has sent a plain message, or receives: from now on messages are kept. Before that it cannot miss
    /// it.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void Want()
    {
        if (!Volatile.Read(ref _isWanted))
        {
            Volatile.Write(ref _isWanted, true);
        }
    }

    /// <summary>Takes a message over.</summary>
    /// <param name="link">By which it came.</param>
    /// <param name="message">The message.</param>
    /// <param name="mayDrop">At a limit the oldest one of the link that holds most is dropped.</param>
    /// <param name="capacity">Completes when it is worth another attempt.</param>
    /// <returns>False: there is no capacity, and the message is still the caller's.</returns>
    public bool TryEnqueue(UnreadOfLink link, in GatewayMessage message, bool mayDrop, out Task capacity)
    {
        ReceiveWaiter<GatewayMessage>? waiter = null;
        capacity = Task.CompletedTask;
        long before;
        long dropped;
        lock (_gate)
        {
            before = _dropped;
            if (_ended is not null || !Volatile.Read(ref _isWanted))
            {
                message.Dispose();
                _dropped += _ended is null ? 1 : 0;
            }
            else
            {
                waiter = _waiters.TakeFirst();
                if (waiter is null && !Accept(link, message, mayDrop))
                {
                    _blocked = link;
                    capacity = (_capacity ??= new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously)).Task;
                    return false;
                }
            }

            dropped = _dropped;
        }

        waiter?.Complete(message);
        if (BitOperations.Log2((ulong)dropped + 1) > BitOperations.Log2((ulong)before + 1))
        {
            ServicesLog.UnreadMessagesDropped(_logger, dropped);
        }

        return true;
    }

    public bool TryReceive(out GatewayMessage message)
    {
        Want();
        message = default;
        if (Volatile.Read(ref _count) == 0)
        {
            return false; // Without the lock: who polls would delay who enqueues.
        }

        TaskCompletionSource? capacity;
        bool isFound;
        lock (_gate)
        {
            isFound = TryTake(out message);
            capacity = TakeCapacity();
        }

        capacity?.SetResult();
        return isFound;
    }

    /// <summary>Takes the next message, or waits for it; no message is lost by a cancellation.</summary>
    public ValueTask<GatewayMessage> ReceiveAsync(CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<GatewayMessage>(cancellationToken);
        }

        Want();
        ReceiveWaiter<GatewayMessage>? waiter = null;
        TaskCompletionSource? capacity;
        GatewayMessage message;
        lock (_gate)
        {
            if (!TryTake(out message))
            {
                if (_ended is not null)
                {
                    return ValueTask.FromException<GatewayMessage>(_ended());
                }

                waiter = _waiters.Add();
            }

            capacity = TakeCapacity();
        }

        capacity?.SetResult();
        return waiter?.Begin(cancellationToken) ?? new ValueTask<GatewayMessage>(message);
    }

    /// <summary>All messages until the end.</summary>
    public async IAsyncEnumerable<GatewayMessage> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellationToken)
    {
        while (true)
        {
            GatewayMessage message;
            try
            {
                message = await ReceiveAsync(cancellationToken).ConfigureAwait(false);
            }
            catch (Exception e) when (e is not OperationCanceledException)
            {
                yield break;
            }

            yield return message;
        }
    }

    /// <summary>Ends every wait, drops what is unread, takes nothing from now on.</summary>
    public void End(Func<Exception> exception)
    {
        ReceiveWaiter<GatewayMessage>? waiters;
        TaskCompletionSource? capacity;
        lock (_gate)
        {
            if (_ended is not null)
            {
                return;
            }

            _ended = exception;
            while (TryTake(out GatewayMessage message))
            {
                message.Dispose();
            }

            waiters = _waiters.TakeAll();
            (capacity, _capacity) = (_capacity, null);
        }

        capacity?.SetResult();
        ReceiveWaiters<GatewayMessage>.FailAll(waiters, exception);
    }

    private static long CostOf(in GatewayMessage message) => message.Message.ByteCount + MessageCost;

    private bool Accept(UnreadOfLink link, in GatewayMessage message, bool mayDrop)
    {
        long bytes = CostOf(message);
        while (WhoIsFull(link, bytes) is { } full)
        {
            if (!mayDrop)
            {
                return false;
            }

            _dropped++;
            if (full.IsEmpty)
            {
                message.Dispose(); // It alone is more than any link holds.
                return true;
            }

            Take(full).Dispose();
        }

        Add(link, message, bytes);
        return true;
    }

    /// <summary>The link that must drop a message before this one is accepted; null: none. One message is always accepted.</summary>
    private UnreadOfLink? WhoIsFull(UnreadOfLink link, long bytes)
    {
        if (_count == 0)
        {
            _ = _reservation.TryCover(bytes);
            return null;
        }

        if (!link.IsEmpty && link.Bytes + bytes > _options.UnreadBytesOfLink)
        {
            return link;
        }

        return _count < _options.UnreadMessageLimit && _bytes + bytes <= _options.UnreadByteLimit
            && _reservation.TryCover(_bytes + bytes) ? null : WhoHoldsMost(link, bytes);
    }

    private UnreadOfLink WhoHoldsMost(UnreadOfLink link, long bytes)
    {
        UnreadOfLink most = link;
        long held = link.Bytes + bytes;
        foreach (UnreadOfLink other in _turns)
        {
            if (other.Bytes > held || (most.IsEmpty && !other.IsEmpty && other.Bytes >= held))
            {
                (most, held) = (other, other.Bytes);
            }
        }

        return most;
    }

    private void Add(UnreadOfLink link, in GatewayMessage message, long bytes)
    {
        int place = RentPlace();
        _places[place] = (message, -1);
        if (link.IsEmpty)
        {
            link.Head = place;
        }
        else
        {
            _places[link.Tail].Next = place;
        }

        link.Tail = place;
        link.Bytes += bytes;
        _bytes += bytes;
        _count++;
        if (!link.HasTurn)
        {
            link.HasTurn = true;
            _turns.Enqueue(link);
        }
    }

    private bool TryTake(out GatewayMessage message)
    {
        while (_turns.TryDequeue(out UnreadOfLink? link))
        {
            if (link.IsEmpty)
            {
                link.HasTurn = false; // All it had was dropped.
                continue;
            }

            message = Take(link);
            link.HasTurn = !link.IsEmpty;
            if (link.HasTurn)
            {
                _turns.Enqueue(link);
            }

            return true;
        }

        message = default;
        return false;
    }

    private GatewayMessage Take(UnreadOfLink link)
    {
        int place = link.Head;
        (GatewayMessage message, link.Head) = _places[place];
        _places[place] = (default, _freePlace);
        _freePlace = place;
        long bytes = CostOf(message);
        link.Bytes -= bytes;
        _bytes -= bytes;
        _count--;
        _reservation.Shrink(_bytes);
        return message;
    }

    private int RentPlace()
    {
        int place = _freePlace;
        if (place >= 0)
        {
            _freePlace = _places[place].Next;
            return place;
        }

        if (_usedPlaces == _places.Length)
        {
            Array.Resize(ref _places, Math.Max(SmallestArray, 2 * _places.Length));
        }

        return _usedPlaces++;
    }

    /// <summary>Waiters for capacity resume when half of it is free, not after each message.</summary>
    private TaskCompletionSource? TakeCapacity()
    {
        if (_capacity is null || _count > _options.UnreadMessageLimit / 2 || _bytes > _options.UnreadByteLimit / 2
            || _blocked!.Bytes > _options.UnreadBytesOfLink / 2)
        {
            return null;
        }

        TaskCompletionSource capacity = _capacity;
        (_capacity, _blocked) = (null, null);
        return capacity;
    }
}
