using System.Diagnostics.CodeAnalysis;
using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// A wire whose bytes pass through a library: TLS, WebSocket, or both. It waits for input at the socket, and the library reads a
/// <see cref="WireStream"/> on the caller's stack, so it decrypts on the shard. An idle connection holds no buffer.
/// </summary>
internal abstract class IoStreamWire : SocketWire
{
    // Larger reads gained nothing: the libraries return at most what one read of the socket brought.
    private const int ReadSize = 32 * 1024;

    // A consumer may keep the whole array of a read for one message: below a fifth of it a copy (0.2 us for 8 KiB) is cheaper.
    private const int MinReadSize = 8 * 1024;

    private readonly BufferPool _pool;
    private readonly Lock _gate = new(); // Held while the library reads on this wire's stack.
    private readonly Action _onRead;
    private readonly Action _onWritten;
    private ConfiguredValueTaskAwaitable<int>.ConfiguredValueTaskAwaiter _reading;
    private ConfiguredValueTaskAwaitable.ConfiguredValueTaskAwaiter _writing;
    private byte[]? _buffer;
    private int _start;
    private int _end;
    private int _writingBytes;
    private int _writes;
    private WireStatus _verdict;
    private bool _fills; // The library has data, so it reads into a buffer. Until then it reads with none.
    private bool _isReading;
    private bool _isReadObserved;
    private bool _hasReadEnded;
    private bool _hasEnded;
    private bool _isReleased;
    private int _waits;
    private Task<Task>? _restAction;

    protected IoStreamWire(Socket socket, Transport transport, BufferPool pool, WireStream stream)
        : base(socket, transport)
    {
        _pool = pool;
        Stream = stream;
        stream.OnRest = OnRest;
        _onRead = () =>
        {
            Volatile.Write(ref _hasReadEnded, true);
            OnRest();
        };
        _onWritten = OnWritten;
    }

    public override bool HadHandshake => true;

    public override bool HasOwnBuffer => true;

    public override bool ReadsAhead => true;

    public override bool Gathers => false;

    public override int Available => _end - _start;

    public override bool HasUnread => Available > 0 || Stream.HasReadAhead || base.HasUnread;

    protected WireStream Stream { get; }

    /// <summary>The library continues elsewhere, in a wait of its own.</summary>
    private bool IsElsewhere => _isReading && !IsReadCompleted && !Stream.IsResting;

    // Once its completion is awaited it has ended only when that has run: GetResult gives its state to others.
    private bool IsReadCompleted => _isReadObserved ? Volatile.Read(ref _hasReadEnded) : _reading.IsCompleted;

    private bool IsAtRest => _writes == 0 && !IsElsewhere;

    public override bool WaitForInput()
    {
        lock (_gate)
        {
            if (Available > 0 || _verdict != WireStatus.Done)
            {
                return false;
            }

            if (!_isReading && !_hasEnded)
            {
                BeginRead();
            }

            return !(_isReading && IsReadCompleted) && WaitForMore();
        }
    }

    public override WireStatus FinishWait()
    {
        lock (_gate)
        {
            if (!IsWaiting && base.FinishWait() == WireStatus.Failed && _verdict == WireStatus.Done)
            {
                Explain(Error, new SocketException((int)Error).Message);
                _verdict = WireStatus.Failed;
            }

            return !Fill() && WaitForMore() ? WireStatus.WouldWait
                : _verdict == WireStatus.Failed ? WireStatus.Failed
                : WireStatus.Done;
        }
    }

    public override WireStatus Receive(Span<byte> into, out int received)
    {
        lock (_gate)
        {
            received = Fill() ? Math.Min(into.Length, Available) : 0;
            if (received == 0)
            {
                return Verdict();
            }

            _buffer.AsSpan(_start, received).CopyTo(into);
            _start += received;
            if (Available == 0)
            {
                ReturnBuffer();
            }

            return WireStatus.Done;
        }
    }

    public override bool TryDetachBuffer([NotNullWhen(true)] out byte[]? array, out int start, out int length)
    {
        lock (_gate)
        {
            if (!Fill() || Available < MinReadSize)
            {
                return base.TryDetachBuffer(out array, out start, out length);
            }

            (array, start, length) = (_buffer!, _start, Available);
            _buffer = null;
            _start = _end = 0;
            return true;
        }
    }

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = 0;
        return WireStatus.WouldWait;
    }

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _writingBytes = bytes.Length;
        BeginWrite();
        try
        {
            _writing = Awaiters.Of(WriteAsync(bytes, endsMidFrame));
        }
        catch (Exception e) when (IsOfConnection(e))
        {
            _writing = Awaiters.Of(ValueTask.FromException(e));
        }

        if (_writing.IsCompleted)
        {
            EndWrite();
            return false;
        }

        _writing.UnsafeOnCompleted(_onWritten);
        return true;
    }

    public override WireStatus FinishSend()
    {
        SentBytes = 0;
        try
        {
            _writing.GetResult();
            SentBytes = _writingBytes;
            return WireStatus.Done;
        }
        catch (Exception e) when (IsOfConnection(e))
        {
            return WireStatus.Failed;
        }
    }

    public override WireStatus EndSending(WireEnd end)
    {
        Task farewell = SayFarewellAsync(end);
        if (farewell.IsCompletedSuccessfully)
        {
            return TryShutDown() ? WireStatus.Done : WireStatus.Failed;
        }

        _ = EndAsync(farewell);
        return WireStatus.WouldWait;
    }

    public override void Dispose()
    {
        base.Dispose();
        lock (_gate)
        {
            _verdict = WireStatus.Failed;
            Stream.FailReads();
            Release();
        }
    }

    /// <summary>An empty buffer only waits until a read would probably return data.</summary>
    protected abstract ValueTask<int> ReadAsync(Memory<byte> into);

    protected virtual void OnFetched(int read)
    {
    }

    /// <summary>The library has read its last. Null: the peer's end is still to come, or is not known yet.</summary>
    protected virtual WireStatus? EndReading() => WireStatus.Ended;

    protected abstract ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, bool endsMidFrame);

    protected abstract Task SayFarewellAsync(WireEnd end);

    /// <summary>Null for others, which are defects.</summary>
    protected virtual WireStatus? Classify(Exception exception)
    {
        if (!IoStreamErrors.IsOfStream(exception))
        {
            return null;
        }

        Explain(IoStreamErrors.ErrorOf(exception), IoStreamErrors.WordsOf(exception));
        return WireStatus.Failed;
    }

    protected abstract void Free();

    /// <summary>Runs an action between the library's reads and writes (docs/architecture.md, "How a connection ends").</summary>
    protected Task RunAtRestAsync(Func<Task> action)
    {
        lock (_gate)
        {
            if (_restAction is null && IsAtRest)
            {
                return action();
            }

            Task<Task> later = _restAction ??= new Task<Task>(action);
            if (IsElsewhere && !AwaitLibrary())
            {
                RunRestAction();
            }

            return later.Unwrap();
        }
    }

    protected void BeginWrite()
    {
        lock (_gate)
        {
            _writes++;
        }
    }

    protected void EndWrite()
    {
        lock (_gate)
        {
            _writes--;
            RunRestAction();
        }
    }

    protected void Explain(SocketError error, string detail) => (Error, Detail) = (error, detail);

    /// <summary>Ends a wait. Any thread.</summary>
    protected override void OnInput()
    {
        if (Interlocked.Exchange(ref _waits, 0) == 1)
        {
            Events.OnInput();
        }
    }

    private async Task EndAsync(Task farewell)
    {
        // Its exception is observed, not evaluated: off the shard, that would change the explanation.
        await farewell.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        TryShutDown();
        Events.OnEnded();
    }

    private WireStatus Verdict()
    {
        WireStatus verdict = _verdict;
        if (verdict == WireStatus.Refused)
        {
            _verdict = WireStatus.Ended;
        }

        return verdict == WireStatus.Done ? WireStatus.WouldWait : verdict;
    }

    /// <summary>False: it may go on at once.</summary>
    private bool WaitForMore()
    {
        // A full fence: the socket's wait, which ends without the lock, is looked at behind it.
        Interlocked.Exchange(ref _waits, 1);
        if (_isReading && Stream.IsTurnOver)
        {
            // Behind the work of others: a peer whose bytes are no data would hold the thread as long as it likes.
            ThreadPool.UnsafeQueueUserWorkItem(static wire => wire.OnInput(), this, preferLocal: false);
            return true;
        }

        return (IsElsewhere ? AwaitLibrary() : IsWaiting || base.WaitForInput()) || Interlocked.Exchange(ref _waits, 0) == 0;
    }

    /// <summary>False: it is at rest by now. Otherwise <see cref="OnRest"/> follows.</summary>
    private bool AwaitLibrary()
    {
        if (!_isReadObserved)
        {
            _isReadObserved = true;
            _reading.UnsafeOnCompleted(_onRead);
        }

        return Stream.AwaitRest();
    }

    /// <summary>The library has gone on elsewhere, and now is at rest or through.</summary>
    private void OnRest()
    {
        lock (_gate)
        {
            RunRestAction();
        }

        OnInput();
    }

    private void RunRestAction()
    {
        if (_restAction is { } action && IsAtRest)
        {
            _restAction = null;
            action.RunSynchronously(TaskScheduler.Default);
        }

        if (IsDisposed)
        {
            Release();
        }
    }

    /// <summary>True: there is data, or a verdict.</summary>
    private bool Fill()
    {
        Stream.BeginTurn();
        while (Available == 0 && _verdict == WireStatus.Done)
        {
            if (_hasEnded)
            {
                if (EndReading() is not { } verdict)
                {
                    return false;
                }

                _verdict = verdict;
                return true;
            }

            if (!_isReading)
            {
                BeginRead();
            }

            while (!IsReadCompleted)
            {
                if (!Stream.TryContinue())
                {
                    return false;
                }
            }

            CompleteRead();
        }

        return true;
    }

    private void BeginRead()
    {
        Memory<byte> into = _fills ? (_buffer ??= _pool.RentArray(Headroom + ReadSize)).AsMemory(Headroom, ReadSize) : Memory<byte>.Empty;
        (_isReading, _isReadObserved, _hasReadEnded) = (true, false, false);
        try
        {
            _reading = Awaiters.Of(ReadAsync(into));
        }
        catch (Exception e) // It is judged where the read completes.
        {
            _reading = Awaiters.Of(ValueTask.FromException<int>(e));
        }
    }

    private void CompleteRead()
    {
        bool filled = _fills;
        (_isReading, _fills) = (false, false);
        int read = 0;
        try
        {
            read = _reading.GetResult();
            _fills = !filled;
            if (filled)
            {
                OnFetched(read);
                (_start, _end) = (Headroom, Headroom + read);
                _hasEnded = read == 0;
            }
        }
        catch (NoDataYetException)
        {
            // It begins again, without a buffer.
        }
        catch (Exception e) when (Classify(e) is { } status)
        {
            _verdict = status;
        }

        if (filled && read == 0)
        {
            ReturnBuffer();
        }
    }

    private void OnWritten()
    {
        EndWrite();
        Events.OnSent();
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
        if (_writes > 0 || _isReleased || (_isReading && !IsReadCompleted))
        {
            if (IsElsewhere)
            {
                AwaitLibrary();
            }

            return;
        }

        _isReleased = true;
        if (_isReading)
        {
            CompleteRead();
        }

        ReturnBuffer();
        Free();
    }
}
