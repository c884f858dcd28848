using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>
/// A wait for input is a zero-byte read, so an idle connection holds no buffer. When input comes, a buffer is rented, filled, passed on and
/// returned once it is empty. Small reads are copied into the shard's slab; the buffer of a large read is passed on as it is.
/// </summary>
internal abstract class IoStreamWire : KernelWire
{
    // Larger reads gained nothing: the libraries return at most what one read of the socket brought.
    private const int ReadSize = 32 * 1024;

    // A consumer may keep the whole array of a read for one message: below a fifth of it a copy (0.2 us for 8 KiB) is cheaper.
    private const int MinReadSize = 8 * 1024;

    // Reads fetched ahead of busy shards, in the whole process: 3 MB of buffers.
    private const int MaxAhead = 64;

    private static int s_ahead;

    private readonly BufferPool _pool;
    private readonly TlsShutdownGate? _reads;
    private readonly TlsShutdownGate? _writes;
    // The first wait begins outside of the shard, where the connection may be closed at the same moment.
    private readonly Lock _gate = new();
    private readonly Action _onRead;
    private readonly Action _onWritten;
    private ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter _reading;
    private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _writing;
    private ReadStep _step;
    private byte[]? _buffer;
    private int _start;
    private int _end;
    private int _writingBytes;
    private WireStatus _verdict;
    private bool _isRaw;
    private bool _isReading;
    private bool _isAhead;
    private bool _isWriting;
    private bool _isDisposed;

    protected IoStreamWire(Socket socket, Transport transport, BufferPool pool, TlsShutdownGate? reads, TlsShutdownGate? writes)
        : base(socket, transport)
    {
        _pool = pool;
        _reads = reads;
        _writes = writes;
        _onRead = OnRead;
        _onWritten = OnWritten;
    }

    private enum ReadStep
    {
        Probe,

        Fill,
    }

    public override bool HadHandshake => true;

    public override bool HasOwnBuffer => true;

    public override int Available => _end - _start;

    public override bool WaitForInput()
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                _verdict = WireStatus.Failed;
                return false;
            }

            return Available == 0 && _verdict == WireStatus.Done && Advance();
        }
    }

    public override WireStatus FinishWait()
    {
        if (_isReading)
        {
            _isReading = false;
            ReleaseConnection();
            if (_isDisposed)
            {
                CompleteRead();
                Release();
                return WireStatus.Failed;
            }

            if (!CompleteRead() && Advance())
            {
                return WireStatus.WouldWait;
            }
        }

        return _verdict == WireStatus.Failed ? WireStatus.Failed : WireStatus.Done;
    }

    public override WireStatus Receive(Span<byte> into, out int received)
    {
        // During a wait the buffer belongs to the completing thread.
        received = _isReading ? 0 : Math.Min(into.Length, Available);
        if (received == 0)
        {
            return Verdict();
        }

        _buffer.AsSpan(_start, received).CopyTo(into);
        _start += received;
        return WireStatus.Done;
    }

    public override bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
    {
        if (_isReading || Available < MinReadSize)
        {
            return base.TryDetachBuffer(out array, out start, out length);
        }

        (array, start, length) = (_buffer!, _start, Available);
        _buffer = null;
        _start = _end = 0;
        return true;
    }

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = 0;
        return WireStatus.WouldWait;
    }

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _writingBytes = bytes.Length;
        _isWriting = true;
        _writes?.Enter();
        try
        {
            _writing = AwaiterOf(WriteAsync(bytes, endsMidFrame));
        }
        catch (Exception e) when (IsOfConnection(e))
        {
            _writing = AwaiterOf(ValueTask.FromException(e));
        }

        if (_writing.IsCompleted)
        {
            _writes?.Leave();
            return false;
        }

        _writing.UnsafeOnCompleted(_onWritten);
        return true;
    }

    public override WireStatus FinishSend()
    {
        _isWriting = false;
        WireStatus status = CompleteWrite();
        SentBytes = status == WireStatus.Done ? _writingBytes : 0;
        if (_isDisposed)
        {
            Release();
        }

        return status;
    }

    public override void Dispose()
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                return;
            }

            _isDisposed = true;
        }

        Socket.Dispose();
        Release();
    }

    /// <summary>An empty buffer only waits until a read would probably return data.</summary>
    protected abstract ValueTask<int> ReadAsync(Memory<byte> into);

    protected virtual void OnFetched(int read)
    {
    }

    protected abstract ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    protected virtual WireStatus ClassifyEnd() => WireStatus.Ended;

    protected abstract WireStatus? Classify(Exception exception);

    protected abstract void Free();

    protected abstract ValueTask<int> ReadRawAsync(Memory<byte> into);

    protected WireStatus End(Func<Task>? errorResponse)
    {
        Task telling;
        try
        {
            telling = errorResponse is null ? Task.CompletedTask : errorResponse();
        }
        catch (Exception e) when (Classify(e) is not null)
        {
            telling = Task.CompletedTask;
        }

        if (telling.IsCompletedSuccessfully)
        {
            return TryShutDown() ? WireStatus.Done : WireStatus.Failed;
        }

        _ = EndAsync(telling);
        return WireStatus.WouldWait;
    }

    protected void Explain(SocketError error, string detail) => (Error, Detail) = (error, detail);

    private static ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter AwaiterOf(ValueTask<int> task) =>
        task.ConfigureAwait(false).GetAwaiter();

    private static ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter AwaiterOf(ValueTask task) =>
        task.ConfigureAwait(false).GetAwaiter();

    private async Task EndAsync(Task telling)
    {
        // Its exception is observed, not evaluated: off the shard, that would change the explanation.
        await telling.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        TryShutDown();
        Events.OnEnded();
    }

    /// <summary>A refused peer's further bytes are read raw, so that a reset does not destroy our last bytes.</summary>
    private WireStatus Verdict()
    {
        if (_verdict == WireStatus.Refused)
        {
            _verdict = WireStatus.Done;
            _isRaw = true;
            return WireStatus.Refused;
        }

        return _verdict == WireStatus.Done ? WireStatus.WouldWait : _verdict;
    }

    private bool Advance()
    {
        while (true)
        {
            bool isOver;
            try
            {
                isOver = BeginRead();
            }
            catch (Exception e) when (Classify(e) is { } status)
            {
                _verdict = status;
                return false;
            }

            if (!isOver)
            {
                if (_step == ReadStep.Probe)
                {
                    ReturnBuffer();
                }

                _isReading = true;
                _reading.UnsafeOnCompleted(_onRead);
                return true;
            }

            if (CompleteRead())
            {
                return false;
            }
        }
    }

    private bool BeginRead()
    {
        Memory<byte> into = _step == ReadStep.Fill ? (_buffer ??= _pool.RentArray(Headroom + ReadSize)).AsMemory(Headroom, ReadSize)
            : Memory<byte>.Empty;
        bool isOver = true;
        _reads?.Enter();
        try
        {
            _reading = AwaiterOf(_isRaw ? ReadRawAsync(into) : ReadAsync(into));
            isOver = _reading.IsCompleted;
        }
        finally
        {
            if (isOver)
            {
                _reads?.Leave();
            }
        }

        return isOver;
    }

    /// <summary>A wait has ended.</summary>
    private void OnRead()
    {
        _reads?.Leave();
        if (_step == ReadStep.Probe && Events.IsBusy && !Volatile.Read(ref _isDisposed) && MayFetch())
        {
            try
            {
                _reading.GetResult();
                _step = ReadStep.Fill;
                if (!BeginRead())
                {
                    ReleaseConnection();
                    _reading.UnsafeOnCompleted(_onRead);
                    return;
                }
            }
            catch (Exception e)
            {
                _reading = AwaiterOf(ValueTask.FromException<int>(e));
            }
        }

        Events.OnInput();
    }

    private void OnWritten()
    {
        _writes?.Leave();
        Events.OnSent();
    }

    private bool MayFetch()
    {
        _isAhead = Interlocked.Increment(ref s_ahead) <= MaxAhead;
        if (!_isAhead)
        {
            Interlocked.Decrement(ref s_ahead);
        }

        return _isAhead;
    }

    private void ReleaseConnection()
    {
        if (_isAhead)
        {
            _isAhead = false;
            Interlocked.Decrement(ref s_ahead);
        }
    }

    private bool CompleteRead()
    {
        int read;
        try
        {
            read = _reading.GetResult();
        }
        catch (NoDataYetException)
        {
            _step = ReadStep.Probe;
            return false;
        }
        catch (Exception e) when (Classify(e) is { } status)
        {
            _verdict = status;
            return true;
        }

        if (_step == ReadStep.Probe)
        {
            _step = ReadStep.Fill;
            return false;
        }

        _step = ReadStep.Probe;
        OnFetched(read);
        (_start, _end) = (Headroom, Headroom + read);
        if (read == 0)
        {
            _verdict = _isRaw ? WireStatus.Ended : ClassifyEnd();
        }

        return read > 0 || _verdict != WireStatus.Done;
    }

    private WireStatus CompleteWrite()
    {
        try
        {
            _writing.GetResult();
            return WireStatus.Done;
        }
        catch (Exception e) when (IsOfConnection(e))
        {
            return WireStatus.Failed;
        }
    }

    /// <summary>A read's error takes precedence, because it has the peer's reason (a TLS alert).</summary>
    private bool IsOfConnection(Exception exception)
    {
        (SocketError error, string? detail) = (Error, Detail);
        if (Classify(exception) is null)
        {
            return false;
        }

        if (_verdict == WireStatus.Failed)
        {
            (Error, Detail) = (error, detail);
        }

        return true;
    }

    private void ReturnBuffer()
    {
        if (_buffer is not null)
        {
            _pool.ReturnArray(_buffer);
            _buffer = null;
            _start = _end = 0;
        }
    }

    private void Release()
    {
        if (_isReading || _isWriting)
        {
            return;
        }

        ReturnBuffer();
        Free();
    }
}
