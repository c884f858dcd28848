using System.IO.Pipelines;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;

namespace Net.Zlink.Sockets;

/// <summary>
/// A flush appends to the connection's queue, so one write takes what several flushes left. The flush that finds the queue full is taken
/// too, and waits.
/// </summary>
internal sealed class PipeOutput(PipeSink sink, BufferPool pool) : PipeWriter, IValueTaskSource<FlushResult>
{
    private const int SmallestBuffer = 4096;

    private readonly Lock _gate = new();
    private ManualResetValueTaskSourceCore<FlushResult> _flush = new() { RunContinuationsAsynchronously = true };
    private CancellationTokenRegistration _cancellation;
    private bool _isWaiting;
    private bool _isCanceled;
    private byte[]? _buffer;
    private int _length;
    private bool _isCompleted;

    /// <inheritdoc/>
    public override bool CanGetUnflushedBytes => true;

    /// <inheritdoc/>
    public override long UnflushedBytes => _length;

    /// <inheritdoc/>
    public override Span<byte> GetSpan(int sizeHint = 0) => GetMemory(sizeHint).Span;

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override void Advance(int bytes)
    {
        ArgumentOutOfRangeException.ThrowIfGreaterThan((uint)bytes, (uint)((_buffer?.Length ?? 0) - _length), nameof(bytes));
        _length += bytes;
    }

    /// <inheritdoc/>
    public override ValueTask<FlushResult> FlushAsync(CancellationToken cancellationToken = default) =>
        WriteAsync(ReadOnlyMemory<byte>.Empty, cancellationToken);

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override void CancelPendingFlush()
    {
        lock (_gate)
        {
            if (!_isWaiting)
            {
                _isCanceled = true;
                return;
            }

            _isWaiting = false;
        }

        _flush.SetResult(new FlushResult(isCanceled: true, isCompleted: false));
    }

    /// <inheritdoc/>
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

    FlushResult IValueTaskSource<FlushResult>.GetResult(short token)
    {
        _cancellation.Dispose();
        return _flush.GetResult(token);
    }

    ValueTaskSourceStatus IValueTaskSource<FlushResult>.GetStatus(short token) => _flush.GetStatus(token);

    void IValueTaskSource<FlushResult>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _flush.OnCompleted(continuation, state, token, flags);

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
            sink.RequestClose(DisconnectReason.OutOfMemory, CloseMode.Abort);
        }

        return status;
    }

    private ValueTask<FlushResult> WaitAsync(CancellationToken cancellation)
    {
        bool isCanceled = HasBeenCanceled();
        lock (_gate)
        {
            if (_isWaiting)
            {
                throw new InvalidOperationException("A flush is pending: await it before the next one.");
            }

            _flush.Reset();
            _isWaiting = true;
        }

        _cancellation = cancellation.UnsafeRegister(
            static (output, token) => ((PipeOutput)output!).EndWait(new OperationCanceledException(token)), this);
        if (isCanceled)
        {
            CancelPendingFlush();
        }
        else
        {
            OnCapacity(); // It may have come before the wait.
        }

        return new ValueTask<FlushResult>(this, _flush.Version);
    }

    private void EndWait(Exception? failure)
    {
        lock (_gate)
        {
            if (!_isWaiting)
            {
                return;
            }

            _isWaiting = false;
        }

        if (failure is null)
        {
            _flush.SetResult(default);
        }
        else
        {
            _flush.SetException(failure);
        }
    }

    private bool HasBeenCanceled()
    {
        lock (_gate)
        {
            bool was = _isCanceled;
            _isCanceled = false;
            return was;
        }
    }

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
