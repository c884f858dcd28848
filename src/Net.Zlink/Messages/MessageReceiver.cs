using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;

namespace Net.Zlink;

internal sealed class MessageReceiver
{
    // A batch is taken under one lock in steps of 32: at 24 bytes each they fit the stack, and the lock is free within a microsecond.
    private const int Step = 32;

    private readonly SocketCore _core;
    private readonly ReceiveQueue _queue;
    private readonly WaiterPool<MessageReceipt> _waiters = new();
    private readonly Action<Waiter<DequeuedMessage>> _recycle;
    private SpinBudget _spin;
    private BatchingPause _gathering;

    public MessageReceiver(SocketCore core)
    {
        _core = core;
        _queue = core.Receive;
        _recycle = waiter => _waiters.Return((MessageReceipt)waiter);
    }

    public bool TryReceive(out Message message)
    {
        if (_queue.TryDequeue(out DequeuedMessage dequeued))
        {
            message = Opened(dequeued);
            return true;
        }

        message = default;
        return false;
    }

    public Message Receive(TimeSpan timeout) => Dequeue(timeout, out DequeuedMessage dequeued)
        ? Opened(dequeued)
        : throw new TimeoutException($"no message came within {timeout.TotalMilliseconds:0} ms{TimeoutHint.Find(_core)}");

    public bool TryReceive(TimeSpan timeout, out Message message)
    {
        bool isTaken = Dequeue(timeout, out DequeuedMessage dequeued);
        message = isTaken ? Opened(dequeued) : default;
        return isTaken;
    }

    private bool Dequeue(TimeSpan timeout, out DequeuedMessage dequeued)
    {
        bool gathered = _queue.HasCaughtUp && _gathering.Make();
        if (_queue.TryDequeue(out dequeued))
        {
            if (gathered)
            {
                _gathering.Report(dequeued.Lease.Messages);
            }

            return true;
        }

        if (timeout == TimeSpan.Zero)
        {
            return false;
        }

        BlockingWait.ThrowIfOnShard(nameof(ReceiveAsync));
        if (_spin.Wait(_core, static core => Recheck(core)) && _queue.TryDequeue(out dequeued))
        {
            return true;
        }

        MessageReceipt waiter = _waiters.Rent();
        waiter.Prepare(_queue, _recycle, blocking: true);
        waiter.Core = _core;
        if (_queue.DequeueOrWait(waiter, out dequeued))
        {
            _waiters.Return(waiter);
            return true;
        }

        bool isOver = BlockingWait.Until(waiter, _queue, timeout);
        if (isOver)
        {
            dequeued = waiter.GetResult(waiter.Version);
        }

        return isOver;
    }

    public ValueTask<Message> ReceiveAsync(CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<Message>(cancellation);
        }

        if (_queue.TryDequeue(out DequeuedMessage dequeued))
        {
            return new ValueTask<Message>(Opened(dequeued));
        }

        MessageReceipt waiter = _waiters.Rent();
        waiter.Prepare(_queue, _recycle, blocking: false);
        waiter.Core = _core;
        if (_queue.DequeueOrWait(waiter, out dequeued))
        {
            _waiters.Return(waiter);
            return new ValueTask<Message>(Opened(dequeued));
        }

        waiter.CancelWith(cancellation);
        return new ValueTask<Message>(waiter, waiter.Version);
    }

    [SkipLocalsInit]
    public int ReceiveMany(Span<Message> messages, bool mayThrow = true)
    {
        StepBuffer buffer = default;
        Span<DequeuedMessage> step = buffer;
        int count = 0;
        while (count < messages.Length)
        {
            Span<DequeuedMessage> destination = step[..Math.Min(Step, messages.Length - count)];
            int taken = _queue.DequeueMany(destination, mayThrow && count == 0);

            for (int i = 0; i < taken; i++)
            {
                messages[count++] = Opened(destination[i]);
            }

            if (taken < destination.Length)
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
            throw new ArgumentException("The buffer is empty: pass one for at least one message.", nameof(messages));
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

    private static bool Recheck(SocketCore core)
    {
        if (!core.Receive.IsWorthTaking)
        {
            core.ReadAhead();
        }

        return core.Receive.IsWorthTaking;
    }

    private Message Opened(in DequeuedMessage dequeued)
    {
        _core.OnDequeued(dequeued);
        return new Message(dequeued);
    }

    private sealed class MessageReceipt : ReceiveWaiter, IValueTaskSource<Message>
    {
        public SocketCore? Core { get; set; }

        Message IValueTaskSource<Message>.GetResult(short token)
        {
            SocketCore core = Core!; // Read first: the result returns the waiter for reuse.
            DequeuedMessage dequeued = GetResult(token);
            core.OnDequeued(dequeued);
            return new Message(dequeued);
        }
    }

    [InlineArray(Step)]
    private struct StepBuffer
    {
        private DequeuedMessage _first;
    }
}
