using System.IO.Pipelines;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

/// <summary>
/// A flush appends to the connection's queue, so one write takes what several flushes left. The flush that finds the queue full is taken
/// too, and waits.
/// </summary>
internal sealed class PipeOutput(PipeSink sink, BufferPool pool) : PipeWriter, IWaiterList
{
    private const int SmallestBuffer = 4096;

    private Waiter<FlushResult>? _waiting;
    private Waiter<FlushResult>? _spare;
    private Action<Waiter<FlushResult>>? _recycle;
    private bool _isCanceled;
    private byte[]? _buffer;
    private int _length;
    private bool _isCompleted;

    public override bool CanGetUnflushedBytes => true;

    public override long UnflushedBytes => _length;

    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    public override Memory<byte> GetMemory(int sizeHint = 0)
    {
        ThrowIfCompleted();
        int needed = checked(_length + Math.Max(sizeHint, 1));
        if (_buffer is null || needed > _buffer.Length)
        {
            byte[] larger = pool.RentArray((int)Math.Min(Array.MaxLength, Math.Max(needed, Math.Max(SmallestBuffer, 2L * _length))));
            _buffer.AsSpan(0, _length).CopyTo(larger);
            ReleaseBuffer();
            _buffer = larger;
        }

        return _buffer.AsMemory(_length);
    }

    public override void Advance(int bytes)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)bytes, (uint)((_buffer?.Length ?? 0) - _length), nameof(bytes));
        _length += bytes;
    }

    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        WriteAsync(ReadOnlyMemory<byte>.Empty, cancellationToken);

    public override ValueTask<FlushResult> WriteAsync(ReadOnlyMemory<byte> source, CancellationToken cancellationToken = default)
    {
        ThrowIfCompleted();
        if (cancellationToken.IsCancellationRequested)
        {
            return ValueTask.FromCanceled<FlushResult>(cancellationToken);
        }

        SendStatus status = AppendBuffer();
        status = source.IsEmpty ? status : Append(source.Span);
        return sink.Failure is { } failure ? ValueTask.FromException<FlushResult>(failure)
            : status == SendStatus.Accepted ? new ValueTask<FlushResult>(new FlushResult(HasBeenCanceled(), isCompleted: false))
            : WaitAsync(cancellationToken);
    }

    public override void CancelPendingFlush()
    {
        if (Interlocked.Exchange(ref _waiting, null) is { } waiter)
        {
            waiter.Complete(new FlushResult(isCanceled: true, isCompleted: false));
        }
        else
        {
            Volatile.Write(ref _isCanceled, true);
        }
    }

    public override void Complete(Exception? exception = null)
    {
        if (!_isCompleted)
        {
            AppendBuffer();
            _isCompleted = true;
            sink.OnOutputCompleted(exception);
        }
    }

    /// <summary>Any thread: the queue has capacity again, or the connection has ended.</summary>
    public void OnCapacity()
    {
        // A queue that closes before the sink knows why does so a moment earlier.
        if (sink.Failure is not null || sink.Outbound.Status == SendStatus.Accepted)
        {
            EndWait(sink.Failure);
        }
    }

    bool IWaiterList.TryRemove(WaiterNode waiter) =>
        Interlocked.CompareExchange(ref _waiting, null, (Waiter<FlushResult>)waiter) == waiter;

    private SendStatus AppendBuffer()
    {
        SendStatus status = _length == 0 ? sink.Outbound.Status : Append(_buffer.AsSpan(0, _length));
        _length = 0;
        ReleaseBuffer();
        return status;
    }

    private SendStatus Append(ReadOnlySpan<byte> bytes)
    {
        var message = new OutgoingMessage(bytes);
        SendStatus status = sink.Outbound.TryAppend(message, out bool schedule);
        if (status == SendStatus.Full)
        {
            SendStatus forced = sink.Outbound.TryAppend(message, out schedule, force: true);
            status = forced == SendStatus.Accepted ? SendStatus.Full : forced;
        }

        if (schedule)
        {
            sink.ScheduleFlush();
        }

        if (status == SendStatus.NoMemory)
        {
            sink.Outbound.Close();
            sink.Link.RequestClose(DisconnectReason.OutOfMemory, CloseMode.Abort);
        }

        return status;
    }

    private ValueTask<FlushResult> WaitAsync(CancellationToken cancellation)
    {
        bool isCanceled = HasBeenCanceled();
        Waiter<FlushResult> waiter = Interlocked.Exchange(ref _spare, null) ?? new Waiter<FlushResult>();
        waiter.Prepare(this, _recycle ??= used => _spare = used, blocking: false);
        if (Interlocked.CompareExchange(ref _waiting, waiter, null) is not null)
        {
            throw new InvalidOperationException("A flush is pending: await it before the next one.");
        }

        waiter.CancelWith(cancellation);
        if (isCanceled)
        {
            CancelPendingFlush();
        }
        else
        {
            OnCapacity(); // It may have come before the wait.
        }

        return new ValueTask<FlushResult>(waiter, waiter.Version);
    }

    private void EndWait(Exception? failure)
    {
        Waiter<FlushResult>? waiter = Interlocked.Exchange(ref _waiting, null);
        if (failure is null)
        {
            waiter?.Complete(default);
        }
        else
        {
            waiter?.Fail(failure);
        }
    }

    private bool HasBeenCanceled() => Interlocked.Exchange(ref _isCanceled, false);

    private void ReleaseBuffer()
    {
        if (_buffer is not null)
        {
            pool.ReturnArray(_buffer);
            _buffer = null;
        }
    }

    private void ThrowIfCompleted()
    {
        if (_isCompleted)
        {
            throw new InvalidOperationException("Output is completed: nothing more can be written.");
        }
    }
}
