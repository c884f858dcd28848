using System.Runtime.CompilerServices;
using Net.Zlink.Engine;
using Net.Zlink.Sockets;

namespace Net.Zlink;

internal sealed class StreamReceiver
{
    private readonly PullQueue _queue;
    private readonly WaiterPool<MessageWaiter> _messageWaiters = new();
    private readonly WaiterPool<BatchWaiter> _batchWaiters = new();
    private readonly Action<Waiter<PulledRun>> _recycleMessage;
    private readonly Action<Waiter<PulledRun>> _recycleBatch;
    private readonly bool _runsSynchronously;

    public StreamReceiver(PullQueue queue, bool runsSynchronously)
    {
        _queue = queue;
        _runsSynchronously = runsSynchronously;
        _recycleMessage = waiter => _messageWaiters.Return((MessageWaiter)waiter);
        _recycleBatch = waiter => _batchWaiters.Return((BatchWaiter)waiter);
    }

    public static int Unpack(in PulledRun run, Span<StreamMessage> into)
    {
        for (int i = 0; i < run.Count; i++)
        {
            into[i] = new StreamMessage(run, i);
        }

        return run.Count;
    }

    public bool TryReceive(TimeSpan timeout, out StreamMessage message)
    {
        bool isTaken = Dequeue(timeout, out PulledRun run);
        message = isTaken ? new StreamMessage(run, 0) : default;
        return isTaken;
    }

    public StreamMessage Receive(TimeSpan timeout) => TryReceive(timeout, out StreamMessage message) ? message
        : throw new TimeoutException($"no message came within {timeout.TotalMilliseconds:0} ms");

    private bool Dequeue(TimeSpan timeout, out PulledRun run)
    {
        if (_queue.TryDequeue(1, out run))
        {
            return true;
        }

        if (timeout == TimeSpan.Zero)
        {
            return false;
        }

        BlockingWait.ThrowIfOnShard(nameof(ReceiveAsync));
        MessageWaiter waiter = _messageWaiters.Rent();
        waiter.Prepare(_queue, _recycleMessage, blocking: true);
        waiter.RunsSynchronously = false;
        if (_queue.DequeueOrWait(waiter, out run))
        {
            _messageWaiters.Return(waiter);
            return true;
        }

        bool isOver = BlockingWait.Until(waiter, _queue, timeout);
        if (isOver)
        {
            run = waiter.GetResult(waiter.Version);
        }

        return isOver;
    }

    public ValueTask<StreamMessage> ReceiveAsync(CancellationToken cancellation)
    {
        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<StreamMessage>(cancellation);
        }

        if (_runsSynchronously ? _queue.TryDequeueMore(1, out PulledRun run) : _queue.TryDequeue(1, out run))
        {
            return new ValueTask<StreamMessage>(new StreamMessage(run, 0));
        }

        MessageWaiter waiter = _messageWaiters.Rent();
        waiter.Prepare(_queue, _recycleMessage, blocking: false);
        waiter.RunsSynchronously = _runsSynchronously;
        if (_queue.DequeueOrWait(waiter, out run))
        {
            _messageWaiters.Return(waiter);
            return new ValueTask<StreamMessage>(new StreamMessage(run, 0));
        }

        waiter.CancelWith(cancellation);
        return new ValueTask<StreamMessage>(waiter, waiter.Version);
    }

    public int ReceiveMany(Span<StreamMessage> messages)
    {
        int count = 0;
        while (count < messages.Length && _queue.TryDequeue(messages.Length - count, out PulledRun run, mayThrow: count == 0))
        {
            count += Unpack(run, messages[count..]);
        }

        return count;
    }

    public ValueTask<int> ReceiveManyAsync(Memory<StreamMessage> messages, CancellationToken cancellation)
    {
        if (messages.IsEmpty)
        {
            throw new ArgumentException("The buffer is empty: pass one for at least one message.", nameof(messages));
        }

        if (cancellation.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<int>(cancellation);
        }

        int count = !_runsSynchronously ? ReceiveMany(messages.Span) : _queue.TryDequeueMore(messages.Length, out PulledRun run)
            ? Unpack(run, messages.Span) : 0;
        if (count > 0)
        {
            return new ValueTask<int>(count);
        }

        BatchWaiter waiter = _batchWaiters.Rent();
        waiter.Prepare(_queue, _recycleBatch, blocking: false);
        waiter.RunsSynchronously = _runsSynchronously;
        waiter.Max = messages.Length;
        waiter.Destination = messages;
        if (_queue.DequeueOrWait(waiter, out run))
        {
            waiter.Destination = default;
            _batchWaiters.Return(waiter);
            return new ValueTask<int>(Unpack(run, messages.Span));
        }

        waiter.CancelWith(cancellation);
        return new ValueTask<int>(waiter, waiter.Version);
    }

    public async IAsyncEnumerable<StreamMessage> ReceiveAllAsync([EnumeratorCancellation] CancellationToken cancellation)
    {
        while (true)
        {
            StreamMessage message;
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
}
