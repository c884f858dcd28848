using System.Buffers;
using System.IO.Pipelines;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports.Pipes;

/// <summary>
/// One half of a <see cref="PipeWire"/>: at most one operation at a time. Each begins on the thread pool, and continues there: a pipe may
/// complete it on the stack of the application's own call, even inside a lock of the application. The half itself is what the pool runs,
/// because an awaiter that goes to the pool allocates for each message.
/// </summary>
internal abstract class PipeHalf<T> : IThreadPoolWorkItem
{
    private readonly Lock _gate = new();
    private readonly TaskCompletionSource _released = new(TaskCreationOptions.RunContinuationsAsynchronously);
    private readonly Action _onCompleted;
    private ConfiguredValueTaskAwaitable<T>.ConfiguredValueTaskAwaiter _call;
    private bool _isCalled;
    private Exception? _closeReason;
    private volatile bool _isBusy;
    private volatile bool _isDue;
    private volatile bool _isClosed;

    protected PipeHalf() => _onCompleted = OnCompleted;

    /// <summary>Any thread.</summary>
    public bool IsBusy => _isBusy;

    /// <summary>Any thread: what the operation waited for has come.</summary>
    public bool IsDue => _isDue;

    /// <summary>Of the last operation. Not while one is under way.</summary>
    public Exception? Failure { get; protected set; }

    public Task Released => _released.Task;

    /// <summary>Completes the application's object, behind the operation that is under way.</summary>
    public void Close(Exception? reason)
    {
        bool isBusy;
        lock (_gate)
        {
            if (_isClosed)
            {
                return;
            }

            _closeReason = reason;
            _isClosed = true;
            isBusy = _isBusy;
        }

        if (!isBusy)
        {
            Release();
            return;
        }

        try
        {
            Cancel();
        }
        catch (Exception)
        {
            // A pipe that cannot be cancelled ends by itself, or never.
        }
    }

    /// <summary>False: closed, or failed before.</summary>
    protected bool TryBegin()
    {
        lock (_gate)
        {
            Failure ??= _isClosed ? IoStreamErrors.Of(SocketError.OperationAborted) : null;
            if (Failure is not null)
            {
                return false;
            }

            _isDue = false;
            _isBusy = true;
        }

        // Behind the work of others: a shard and a half that called each other by the thread's own queue would keep the thread.
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
        return true;
    }

    void IThreadPoolWorkItem.Execute()
    {
        try
        {
            bool isTaken = false;
            while (!isTaken && (_isCalled || !_isClosed))
            {
                if (!_isCalled)
                {
                    _call = Awaiters.Of(Call());
                    _isCalled = true;
                    if (!_call.IsCompleted)
                    {
                        _call.UnsafeOnCompleted(_onCompleted);
                        return;
                    }
                }

                _isCalled = false;
                isTaken = Take(_call.GetResult());
            }
        }
        catch (Exception e)
        {
            Failure = e;
        }

        OnFinished();
    }

    /// <summary>The pipe's methods are called here only.</summary>
    protected abstract ValueTask<T> Call();

    /// <summary>False: call again, unless it was closed.</summary>
    protected abstract bool Take(in T result);

    protected abstract void Cancel();

    protected abstract void Complete(Exception? reason);

    protected abstract void Notify();

    private void OnCompleted()
    {
        _isDue = true;
        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: true);
    }

    private void OnFinished()
    {
        bool isClosed;
        lock (_gate)
        {
            _isDue = true;
            _isBusy = false;
            isClosed = _isClosed;
        }

        if (isClosed)
        {
            Release();
        }

        Notify();
    }

    private void Release()
    {
        try
        {
            Complete(_closeReason);
        }
        catch (Exception)
        {
            // The connection has ended, whatever the application's object makes of it.
        }

        _released.TrySetResult();
    }
}

/// <summary>The shard reads what the last wait brought. Until it has read all of it, the pipe is not asked for more.</summary>
internal sealed class PipeReading(PipeWire wire, PipeReader reader) : PipeHalf<ReadResult>
{
    private ReadOnlySequence<byte> _unread;
    private SequencePosition _end;
    private bool _isHeld;
    private int _unreadBytes;

    /// <summary>Any thread.</summary>
    public int UnreadBytes => Volatile.Read(ref _unreadBytes);

    /// <summary>Behind what is unread.</summary>
    public bool HasEnded { get; private set; }

    public bool TryWait() => UnreadBytes == 0 && !HasEnded && TryBegin();

    public int Receive(Span<byte> into)
    {
        if (IsBusy)
        {
            return 0;
        }

        int received = (int)Math.Min(into.Length, _unread.Length);
        _unread.Slice(0, received).CopyTo(into);
        Keep(_unread.Slice(received));
        return received;
    }

    protected override ValueTask<ReadResult> Call()
    {
        if (_isHeld)
        {
            _isHeld = false;
            reader.AdvanceTo(_end);
        }

        return reader.ReadAsync(CancellationToken.None);
    }

    protected override bool Take(in ReadResult result)
    {
        (_end, _isHeld) = (result.Buffer.End, true);
        HasEnded = result.IsCompleted;
        Keep(result.Buffer);
        return HasEnded || UnreadBytes > 0;
    }

    protected override void Cancel() => reader.CancelPendingRead();

    protected override void Complete(Exception? reason) => reader.Complete(reason);

    protected override void Notify() => wire.Sink.OnInput();

    private void Keep(in ReadOnlySequence<byte> unread)
    {
        _unread = unread;
        Volatile.Write(ref _unreadBytes, (int)Math.Min(int.MaxValue, unread.Length));
    }
}

/// <summary>A write is over when the pipe has taken it: that is how a pipe that is full holds back its writer.</summary>
internal sealed class PipeWriting(PipeWire wire, PipeWriter writer) : PipeHalf<FlushResult>
{
    private ReadOnlyMemory<byte> _bytes;
    private bool _isEnding;
    private bool _isCut; // Bytes that were to be written are not, or not all of them.

    public bool TrySend(ReadOnlyMemory<byte> bytes)
    {
        _bytes = bytes;
        _isCut = true;
        return TryBegin();
    }

    public bool TryEnd()
    {
        _isEnding = true;
        return TryBegin();
    }

    protected override ValueTask<FlushResult> Call() => _isEnding ? EndAsync() : writer.WriteAsync(_bytes, CancellationToken.None);

    protected override bool Take(in FlushResult result)
    {
        _bytes = default;
        _isCut = result.IsCanceled;
        Failure = result.IsCompleted ? new IOException("its other side does not read any more") : null;
        return true;
    }

    protected override void Cancel() => writer.CancelPendingFlush();

    /// <summary>Completing in order would wait for bytes that a cancelled flush has left.</summary>
    protected override void Complete(Exception? reason) => writer.Complete(_isCut ? reason ?? new OperationCanceledException() : reason);

    protected override void Notify()
    {
        if (_isEnding)
        {
            wire.Sink.OnEnded();
        }
        else
        {
            wire.Sink.OnSent();
        }
    }

    private async ValueTask<FlushResult> EndAsync()
    {
        await writer.CompleteAsync().ConfigureAwait(false);
        return default;
    }
}
