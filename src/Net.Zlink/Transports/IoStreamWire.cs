using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>Bytes through a library's asynchronous reads and writes: TLS and WebSocket.</summary>
/// <remarks>Waiting for input is a zero-byte read, as on a socket: an idle connection holds no buffer of ours. Only when something has come
/// a buffer is rented, read into, handed on from there, and given back once it is empty. Small reads are copied from there into the shard's
/// slab, which packs them; the buffer of a large one is handed on as it is. No read is ever left pending in the slab. Nothing is awaited: a
/// read or write that does not end at once reports to the shard, which takes its result.</remarks>
internal abstract class IoStreamWire : Wire
{
    // Two TLS records of 16 KiB. Larger reads gained nothing: both libraries hand out at most what one read of the socket brought.
    private const int ReadSize = 32 * 1024;

    // With the headroom a read has an array of 40 KiB, and a consumer may keep all of it for one message: below a fifth of it a copy (0.2
    // us for 8 KiB) is the better bargain.
    private const int MinReadSize = 8 * 1024;

    // Reads fetched ahead of their busy shards, in the whole process: 3 MB of buffers. Past that the shards are behind, and each fetches
    // when it is there, into a buffer that is free again at once.
    private const int MaxAhead = 64;

    private static int s_ahead;

    private readonly BufferPool _pool;
    private readonly TlsShutdownGate? _reads;
    private readonly TlsShutdownGate? _writes;
    private readonly Lock _gate = new(); // The first wait begins beside the shard, where the connection may be closed at the same moment.
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

    protected IoStreamWire(Socket socket, string scheme, BufferPool pool, TlsShutdownGate? reads, TlsShutdownGate? writes)
        : base(socket, scheme)
    {
        _pool = pool;
        _reads = reads;
        _writes = writes;
        _onRead = OnRead;
        _onWritten = OnWritten;
    }

    private enum ReadStep
    {
        /// <summary>Nothing is known: ask whether there is input.</summary>
        Probe,

        /// <summary>There is input: fetch it.</summary>
        Fill,
    }

    /// <inheritdoc/>
    public override bool HadHandshake => true;

    /// <inheritdoc/>
    public override bool HasOwnBuffer => true;

    /// <inheritdoc/>
    public override int Available => _end - _start;

    /// <inheritdoc/>
    public override bool WaitForInput()
    {
        lock (_gate)
        {
            if (_isDisposed)
            {
                _verdict = WireStatus.Failed; // Closed before it began.
                return false;
            }

            return Available == 0 && _verdict == WireStatus.Done && Advance();
        }
    }

    /// <inheritdoc/>
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

        // An end in order, and a peer's fault, are met by the next read.
        return _verdict == WireStatus.Failed ? WireStatus.Failed : WireStatus.Done;
    }

    /// <inheritdoc/>
    public override WireStatus Receive(Span<byte> into, out int received)
    {
        // While it waits, the buffer belongs to whoever completes the wait.
        received = _isReading ? 0 : Math.Min(into.Length, Available);
        if (received == 0)
        {
            return Verdict();
        }

        _buffer.AsSpan(_start, received).CopyTo(into);
        _start += received;
        return WireStatus.Done;
    }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = 0;
        return WireStatus.WouldWait;
    }

    /// <inheritdoc/>
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
            _writing = AwaiterOf(ValueTask.FromException(e)); // Taken like one that came later.
        }

        if (_writing.IsCompleted)
        {
            _writes?.Leave();
            return false;
        }

        _writing.UnsafeOnCompleted(_onWritten);
        return true;
    }

    /// <inheritdoc/>
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

    /// <inheritdoc/>
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

        Socket.Dispose(); // What is pending ends because of that, and the rest is let go of then.
        Release();
    }

    /// <summary>Reads; an empty buffer only waits until a read is likely to bring something. 0 into a buffer that is not empty: see
    /// <see cref="ClassifyEnd"/>.</summary>
    protected abstract ValueTask<int> ReadAsync(Memory<byte> into);

    /// <summary>A read into a buffer has brought so much.</summary>
    protected virtual void OnFetched(int read)
    {
    }

    /// <summary>Writes all of it.</summary>
    protected abstract ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    /// <summary>What a read of no bytes means. <see cref="WireStatus.Done"/>: nothing, read on.</summary>
    protected virtual WireStatus ClassifyEnd() => WireStatus.Ended;

    /// <summary>What an exception of the library means; anything but Failed comes with the words for it. Null: none of its
    /// business.</summary>
    protected abstract WireStatus? Classify(Exception exception);

    /// <summary>Gives back what the transport holds, when no operation uses it any more. Called once.</summary>
    protected abstract void Free();

    /// <summary>Reads beneath the transport's own protocol, after the peer broke it: what comes is thrown away by the caller.</summary>
    protected abstract ValueTask<int> ReadRawAsync(Memory<byte> into);

    /// <summary>Ends our side: tells the peer in the transport's own way first, where there is one.</summary>
    protected WireStatus End(Func<Task>? errorResponse)
    {
        Task telling;
        try
        {
            telling = errorResponse is null ? Task.CompletedTask : errorResponse();
        }
        catch (Exception e) when (Classify(e) is not null)
        {
            telling = Task.CompletedTask; // Gone already, or it will not listen: our end is all that is left to show.
        }

        if (telling.IsCompletedSuccessfully)
        {
            return ShutDown() ? WireStatus.Done : WireStatus.Failed;
        }

        _ = EndAsync(telling);
        return WireStatus.WouldWait;
    }

    /// <summary>Notes what went wrong.</summary>
    protected void Explain(SocketError error, string detail) => (Error, Detail) = (error, detail);

    private static ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter AwaiterOf(ValueTask<int> task) =>
        task.ConfigureAwait(false).GetAwaiter();

    private static ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter AwaiterOf(ValueTask task) =>
        task.ConfigureAwait(false).GetAwaiter();

    private async Task EndAsync(Task telling)
    {
        // However it ended. Its exception is observed, not judged: that would change, beside the shard, what went wrong.
        await telling.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);

        ShutDown();
        Events.OnEnded();
    }

    private bool ShutDown()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
            return true;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return false; // Gone already.
        }
    }

    /// <summary>What to say when there is nothing to read. A fault of the peer is told once; what it still sends is read raw, so that our
    /// last words to it are not lost in a reset.</summary>
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

    /// <summary>Asks for input as far as it goes without waiting. True: it waits now.</summary>
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
                    ReturnBuffer(); // Idle from here on, for all we know.
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

    /// <summary>True: the read is over already.</summary>
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

    /// <summary>A wait is over. If another thread runs the shard, this one need not wait for it to fetch what has come, decryption and all:
    /// only the connection's own reads are touched by that. If none does, it runs the shard itself, and fetches there.</summary>
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
                    ReleaseConnection(); // It waits for the rest of a frame, which may take as long as the peer likes.
                    _reading.UnsafeOnCompleted(_onRead);
                    return;
                }
            }
            catch (Exception e)
            {
                _reading = AwaiterOf(ValueTask.FromException<int>(e)); // Judged on the shard.
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

    /// <summary>Takes what a read brought. True: there is something to tell.</summary>
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

    /// <summary>A write's exception is about the connection. What a read has met goes before it: there the peer says why (an alert of TLS),
    /// and a write only finds that it is gone.</summary>
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
            return; // The last of them to end comes here again.
        }

        ReturnBuffer();
        Free();
    }
}
