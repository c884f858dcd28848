using System.Diagnostics.CodeAnalysis;
using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Sockets.Zmp;

namespace Net.Zlink;

/// <summary>What differs between sockets in the receive calls. A structure, so that a call for each message costs nothing.</summary>
internal interface IMessageSource<TMessage>
{
    TMessage Open(in DequeuedMessage dequeued);

    /// <summary>A blocking receive polls for a moment: true: a message has come.</summary>
    bool Recheck();

    /// <summary>For the exception of a timeout, with the sign before it.</summary>
    string? WhyNothingCame();
}

/// <summary>With synchronous continuations a receive that is awaited takes what is left of this turn only, and then waits.</summary>
internal sealed class MessageReceiver<TMessage, TSource>
    where TSource : struct, IMessageSource<TMessage>
{
    // A batch is taken under one lock in steps of 32: at 24 bytes each they fit the stack, and the lock is free within a microsecond.
    private const int Step = 32;

    private readonly TSource _source;
    private readonly ReceiveQueue _queue;
    private readonly ObjectCache<MessageReceipt> _waiters = new(WaiterNode.MaxKept);
    private readonly Action<Waiter<DequeuedMessage>> _recycle;
    private readonly bool _runsSynchronously;
    private SpinBudget _spin;
    private BatchingPause _gathering;

    public MessageReceiver(TSource source, ReceiveQueue queue, bool runsSynchronously = false)
    {
        _source = source;
        _queue = queue;
        _runsSynchronously = runsSynchronously;
        _recycle = waiter => _waiters.Return((MessageReceipt)waiter);
    }

    public TMessage Receive(TimeSpan timeout) => Dequeue(timeout, out DequeuedMessage dequeued)
        ? _source.Open(dequeued)
        : throw new TimeoutException($"no message came within {timeout.TotalMilliseconds:0} ms{_source.WhyNothingCame()}");

    public bool TryReceive(TimeSpan timeout, [MaybeNullWhen(false)] out TMessage message)
    {
        bool isTaken = timeout == TimeSpan.Zero ? _queue.TryDequeue(out DequeuedMessage dequeued) : Dequeue(timeout, out dequeued);
        message = isTaken ? _source.Open(dequeued) : default;
        return isTaken;
    }

    private bool Dequeue(TimeSpan timeout, out DequeuedMessage dequeued)
    {
        bool gathered = _queue.HasCaughtUp && _gathering.Make();
        if (_queue.TryDequeue(out dequeued))
        {
            if (gathered && dequeued.Notice == LaneNotice.None)
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
        if (_spin.Wait(_source, static source => source.Recheck()) && _queue.TryDequeue(out dequeued))
        {
            return true;
        }

        MessageReceipt waiter = RentWaiter(blocking: true);
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

    public ValueTask<TMessage> ReceiveAsync(CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<TMessage>(cancellation);
        }

        DequeuedMessage dequeued = default;
        if (!_runsSynchronously && _queue.TryDequeue(out dequeued))
        {
            return new ValueTask<TMessage>(_source.Open(dequeued));
        }

        MessageReceipt waiter = RentWaiter(blocking: false);
        if (_queue.DequeueOrWait(waiter, out dequeued))
        {
            _waiters.Return(waiter);
            return new ValueTask<TMessage>(_source.Open(dequeued));
        }

        waiter.CancelWith(cancellation);
        return new ValueTask<TMessage>(waiter, waiter.Version);
    }

    private MessageReceipt RentWaiter(bool blocking)
    {
        MessageReceipt waiter = _waiters.Rent();
        waiter.Prepare(_queue, _recycle, blocking);
        waiter.Source = _source;
        waiter.RunsSynchronously = _runsSynchronously && !blocking;
        return waiter;
    }

    [SkipLocalsInit]
    public int ReceiveMany(Span<TMessage> messages, bool mayThrow = true, bool ofThisTurn = false)
    {
        StepBuffer buffer = default;
        Span<DequeuedMessage> step = buffer;
        int count = 0;
        while (count < messages.Length)
        {
            Span<DequeuedMessage> destination = step[..Math.Min(Step, messages.Length - count)];
            int taken = _queue.DequeueMany(destination, mayThrow && count == 0, ofThisTurn);

            for (int i = 0; i < taken; i++)
            {
                messages[count++] = _source.Open(destination[i]);
            }

            if (taken < destination.Length)
            {
                break;
            }
        }

        return count;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    public async ValueTask<int> ReceiveManyAsync(Memory<TMessage> messages, CancellationToken cancellation)
    {
        if (messages.IsEmpty)
        {
            throw new ArgumentException("The buffer is empty: pass one for at least one message.", nameof(messages));
        }

        cancellation.ThrowIfCancellationRequested();
        int count = ReceiveMany(messages.Span, ofThisTurn: _runsSynchronously);
        if (count > 0)
        {
            return count;
        }

        TMessage first = await ReceiveAsync(cancellation).ConfigureAwait(false);
        messages.Span[0] = first;
        return 1 + ReceiveMany(messages.Span[1..], mayThrow: false, _runsSynchronously);
    }

    public async IAsyncEnumerable<TMessage> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellation)
    {
        while (true)
        {
            TMessage message;
            try
            {
                message = await ReceiveAsync(cancellation).ConfigureAwait(false);
            }
            catch (Exception e) when (e is ObjectDisposedException or ZlinkException { Error: ZlinkError.ContextTerminated })
            {
                yield break;
            }

            yield return message;
        }
    }

    private sealed class MessageReceipt : ReceiveWaiter, IValueTaskSource<TMessage>
    {
        public TSource Source { get; set; }

        TMessage IValueTaskSource<TMessage>.GetResult(short token)
        {
            TSource source = Source; // Read first: the result returns the waiter for reuse.
            return source.Open(GetResult(token));
        }
    }

    [InlineArray(Step)]
    private struct StepBuffer
    {
        private DequeuedMessage _first;
    }
}

internal readonly struct ZmpSource(ZmpEndpoints endpoints) : IMessageSource<Message>
{
    private readonly SocketCore _core = endpoints.Socket;

    public Message Open(in DequeuedMessage dequeued)
    {
        _core.OnDequeued(dequeued);
        return new Message(dequeued);
    }

    public bool Recheck()
    {
        if (!_core.Receive.IsWorthTaking)
        {
            _core.ReadAhead();
        }

        return _core.Receive.IsWorthTaking;
    }

    public string? WhyNothingCame() => TimeoutHint.Find(endpoints);
}
