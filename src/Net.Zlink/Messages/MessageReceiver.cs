using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Pipes;

namespace Net.Zlink;

/// <summary>The receiving half of a ZMP socket: turns what the receive queue gives into messages, for every way of waiting.</summary>
internal sealed class MessageReceiver
{
    // A batch is taken under one lock in steps of this many: 32 of 24 bytes fit the stack, and the lock is free again within a microsecond.
    private const int Step = 32;

    private readonly SocketCore _core;
    private readonly ReceiveQueue _queue;
    private readonly WaiterPool<MessageReceipt> _waiters = new();
    private readonly Action<Waiter<TakenMessage>> _recycle;
    private SpinBudget _spin;
    private GatheringPause _gathering;

    public MessageReceiver(SocketCore core)
    {
        _core = core;
        _queue = core.Receive;
        _recycle = waiter => _waiters.Return((MessageReceipt)waiter);
    }

    public bool TryReceive(out Message message)
    {
        if (_queue.TryTake(out TakenMessage taken))
        {
            message = Opened(taken);
            return true;
        }

        message = default;
        return false;
    }

    public Message Receive(TimeSpan timeout) => Take(timeout, out TakenMessage taken)
        ? Opened(taken)
        : throw new TimeoutException($"no message came within {timeout.TotalMilliseconds:0} ms{VainWait.Reason(_core)}");

    public bool TryReceive(TimeSpan timeout, out Message message)
    {
        bool isTaken = Take(timeout, out TakenMessage taken);
        message = isTaken ? Opened(taken) : default;
        return isTaken;
    }

    private bool Take(TimeSpan timeout, out TakenMessage taken)
    {
        bool gathered = _queue.HasCaughtUp && _gathering.Make();
        if (_queue.TryTake(out taken))
        {
            if (gathered)
            {
                _gathering.Report(taken.Lease.Messages);
            }

            return true;
        }

        if (timeout == TimeSpan.Zero)
        {
            return false;
        }

        BlockingWait.ThrowIfOnShard(nameof(ReceiveAsync));
        if (_spin.Wait(_core, static core => LookAgain(core)) && _queue.TryTake(out taken))
        {
            return true;
        }

        MessageReceipt waiter = _waiters.Rent();
        waiter.Prepare(_queue, _recycle, blocking: true);
        waiter.Core = _core;
        if (_queue.TakeOrWait(waiter, out taken))
        {
            _waiters.Return(waiter);
            return true;
        }

        bool isOver = BlockingWait.Until(waiter, _queue, timeout);
        if (isOver)
        {
            taken = waiter.GetResult(waiter.Version);
        }

        return isOver;
    }

    public ValueTask<Message> ReceiveAsync(CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<Message>(cancellation);
        }

        if (_queue.TryTake(out TakenMessage taken))
        {
            return new ValueTask<Message>(Opened(taken));
        }

        MessageReceipt waiter = _waiters.Rent();
        waiter.Prepare(_queue, _recycle, blocking: false);
        waiter.Core = _core;
        if (_queue.TakeOrWait(waiter, out taken))
        {
            _waiters.Return(waiter);
            return new ValueTask<Message>(Opened(taken));
        }

        waiter.CancelWith(cancellation);
        return new ValueTask<Message>(waiter, waiter.Version);
    }

    [SkipLocalsInit]
    public int ReceiveMany(Span<Message> messages, bool mayThrow = true)
    {
        StepBuffer buffer = default;
        Span<TakenMessage> step = buffer;
        int count = 0;
        while (count < messages.Length)
        {
            Span<TakenMessage> room = step[..Math.Min(Step, messages.Length - count)];
            int taken = _queue.TakeMany(room, mayThrow && count == 0);

            for (int i = 0; i < taken; i++)
            {
                messages[count++] = Opened(room[i]);
            }

            if (taken < room.Length)
            {
                break;
            }
        }

        return count;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> ReceiveManyAsync(Memory<Message> messages, CancellationToken cancellation)
    {
        if (messages.IsEmpty)
        {
            throw new ArgumentException("There must be room for at least one message.", nameof(messages));
        }

        cancellation.ThrowIfCancellationRequested();
        int count = ReceiveMany(messages.Span);
        if (count > 0)
        {
            return count;
        }

        Message first = await ReceiveAsync(cancellation).ConfigureAwait(false);
        messages.Span[0] = first;
        return 1 + ReceiveMany(messages.Span[1..], mayThrow: false);
    }

    public async IAsyncEnumerable<Message> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellation)
    {
        while (true)
        {
            Message message;
            try
            {
                message = await ReceiveAsync(cancellation).ConfigureAwait(false);
            }
            catch (ObjectDisposedException)
            {
                yield break;
            }
            catch (ZlinkException e) when (e.Error == ZlinkError.ContextTerminated)
            {
                yield break;
            }

            yield return message;
        }
    }

    private static bool LookAgain(SocketCore core)
    {
        if (!core.Receive.IsWorthTaking)
        {
            core.ReadAhead();
        }

        return core.Receive.IsWorthTaking;
    }

    private Message Opened(in TakenMessage taken)
    {
        _core.OnTaken(taken);
        return new Message(taken);
    }

    /// <summary>A wait for one message.</summary>
    private sealed class MessageReceipt : ReceiveWaiter, IValueTaskSource<Message>
    {
        public SocketCore? Core { get; set; }

        Message IValueTaskSource<Message>.GetResult(short token)
        {
            SocketCore core = Core!; // Read first: the result gives the waiter back for reuse.
            TakenMessage taken = GetResult(token);
            core.OnTaken(taken);
            return new Message(taken);
        }
    }

    [InlineArray(Step)]
    private struct StepBuffer
    {
        private TakenMessage _first;
    }
}
