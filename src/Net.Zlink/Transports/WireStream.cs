using System.Net.Sockets;
using System.Runtime.CompilerServices;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// What the libraries of TLS and WebSocket read from and write to. In a handshake it is a socket's stream, whose operations continue on the
/// pool or on threads of their own: with inline completions they would otherwise delay all sockets of the polling thread. After
/// <see cref="EndHandshake"/> a read takes what the socket has, or is at rest until the wire calls <see cref="TryContinue"/>. The library
/// then continues on that stack: so it decrypts on the shard.
/// </summary>
internal sealed class WireStream(Socket socket, BufferPool pool) : NetworkStream(socket, ownsSocket: true), IValueTaskSource<int>
{
    // A frame header has up to 14 bytes, a small frame 100: this holds hundreds of them.
    private const int BufferSize = 32 * 1024;

    // The library's internal frames end none of its reads: PINGs, PONGs and empty frames of a WebSocket, key updates of TLS. A peer that
    // sends nothing else would hold the shard as long as it likes.
    private const int MaxBytesPerTurn = 128 * 1024;

    private const int Running = 0;
    private const int Resting = 1;
    private const int Awaited = 2;

    private ManualResetValueTaskSourceCore<int> _source;
    private Memory<byte> _into;
    private int _rest; // Running, Resting, or Awaited: the wire wants to know when the library is at rest.
    private bool _isTurnAwaited;
    private bool _isInHandshake = true;
    private SessionBytes _session;
    private byte[]? _buffer;
    private int _start;
    private int _end;
    private Exception? _failure; // Of a read ahead: a socket reports it once.
    private int _usedOfTurn;
    private int _pollingThread;
    private int _waitingWrites;
    private int _earlyEnds;
    private bool _keepsBuffer;
    private volatile bool _isClosed;

    public bool IsOnOwnThreads { get; set; }

    public bool IsOfTls { get; set; }

    public PeerWait? PeerWaits { get; set; }

    /// <summary>Called by a library that was elsewhere, when it is at rest.</summary>
    public Action? OnRest { get; set; }

    public bool MayEndEarly => _keepsBuffer || _earlyEnds > 0;

    /// <summary>The library waits for bytes, or for another turn.</summary>
    public bool IsResting => Volatile.Read(ref _rest) == Resting;

    public bool IsTurnOver => _usedOfTurn > MaxBytesPerTurn;

    /// <summary>It has taken bytes from the socket that the library has not read. Any thread.</summary>
    public bool HasReadAhead => Volatile.Read(ref _end) > Volatile.Read(ref _start);

    public void BeginTurn() => _usedOfTurn = 0;

    public void ChargeTurn(int bytes) => _usedOfTurn += bytes;

    /// <summary>False: it is at rest already. True: <see cref="OnRest"/> follows.</summary>
    public bool AwaitRest() => Interlocked.CompareExchange(ref _rest, Awaited, Running) != Resting;

    /// <summary>Continues the library on this stack. False: it does not rest, or there is nothing for it in this turn.</summary>
    public bool TryContinue()
    {
        if (!IsResting)
        {
            return false;
        }

        int read = 0;
        Exception? failure = null;
        if (_isClosed)
        {
            failure = IoStreamErrors.Of(SocketError.OperationAborted);
        }
        else if (IsTurnOver || !(_isTurnAwaited || (_into.IsEmpty ? TryReadAhead() : TryTake(_into.Span, out read, out failure))))
        {
            return false;
        }

        _into = default;
        Volatile.Write(ref _rest, Running);
        if (failure is null)
        {
            _source.SetResult(read);
        }
        else
        {
            _source.SetException(failure);
        }

        return true;
    }

    /// <summary>After <see cref="EndHandshake"/>: lets the library's reads fail, from here on.</summary>
    public void FailReads()
    {
        _isClosed = true;
        TryContinue();
    }

    /// <summary>A read of the library that continues in another turn.</summary>
    public ValueTask<int> WaitForTurn()
    {
        _isTurnAwaited = true;
        return Rest(default);
    }

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        if (_session.IsTooMuch)
        {
            return ValueTask.FromException<int>(new IOException("the peer sent a MiB over TLS without any data, such as key updates"));
        }

        if (_isInHandshake)
        {
            ValueTask<int> read = buffer.IsEmpty && !OperatingSystem.IsWindows() ? WaitAsync(cancellationToken)
                : base.ReadAsync(buffer, cancellationToken);
            return read.IsCompletedSuccessfully ? new ValueTask<int>(Count(buffer.Span[..read.GetAwaiter().GetResult()]))
                : read.IsCompleted ? read
                : DelayAsync(read, buffer);
        }

        if (_isClosed)
        {
            return ValueTask.FromException<int>(IoStreamErrors.Of(SocketError.OperationAborted));
        }

        if (!IsTurnOver)
        {
            int got = 0;
            Exception? failure = null;
            bool isFirstWait = buffer.IsEmpty && _keepsBuffer;
            _keepsBuffer &= !isFirstWait;
            if (buffer.IsEmpty ? _end > _start || (isFirstWait && TryReadAhead()) : TryTake(buffer.Span, out got, out failure))
            {
                return failure is null ? new ValueTask<int>(got) : ValueTask.FromException<int>(failure);
            }

            if (isFirstWait)
            {
                // The session still has its handshake's buffer of 8 KB, and returns it when a read ends.
                return ValueTask.FromException<int>(new NoDataYetException());
            }

            if (_session.HasBytesWithoutData && _earlyEnds > 0)
            {
                _earlyEnds--;
                return ValueTask.FromException<int>(new NoDataYetException());
            }
        }

        _isTurnAwaited = false;
        return Rest(buffer);
    }

    /// <summary>
    /// Session reads that wait for their first data may end with <see cref="NoDataYetException"/>, which their reader knows.
    /// </summary>
    public void BeginSession(bool isTls13, int earlyEnds = 0)
    {
        _keepsBuffer = true;
        _earlyEnds = earlyEnds;
        _session.BeginSession(isTls13);
    }

    public void BeginSessionRead() => _session.BeginRead();

    public void EndSessionRead(int data)
    {
        _session.AddData(data);
        if (data > 0 && MayEndEarly)
        {
            // What follows a handshake has come, and the library returns its buffer with each read that ends.
            _keepsBuffer = false;
            _earlyEnds = 0;
        }
    }

    public override ValueTask WriteAsync(ReadOnlyMemory<byte> buffer, CancellationToken cancellationToken = default)
    {
        _session.Write();
        if (_isInHandshake || cancellationToken.IsCancellationRequested)
        {
            ValueTask write = base.WriteAsync(buffer, cancellationToken);
            return write.IsCompleted ? write : WriteOnPoolAsync(write);
        }

        if (Volatile.Read(ref _waitingWrites) > 0)
        {
            return WaitUntilWritableAsync(buffer, cancellationToken);
        }

        int sent = Socket.Send(buffer.Span, SocketFlags.None, out SocketError error);
        return error is not (SocketError.Success or SocketError.WouldBlock) ? ValueTask.FromException(IoStreamErrors.Of(error))
            : sent == buffer.Length ? default
            : WaitUntilWritableAsync(buffer[sent..], cancellationToken);
    }

    /// <summary>Ends the handshake: from here on the socket is non-blocking, and the library's reads run on the wire's stack.</summary>
    public int EndHandshake()
    {
        _isInHandshake = false;
        PeerWaits = null;
        try
        {
            Socket.Blocking = false;
        }
        catch (Exception e) when (e is ObjectDisposedException or SocketException)
        {
            Dispose();
        }

        return _pollingThread;
    }

    /// <summary>Instead of a session, on the pool: reads until the peer has ended, or has sent too much.</summary>
    public async Task DiscardAsync(CancellationToken cancellation)
    {
        EndHandshake();
        long discarded = 0;
        do
        {
            await ThreadHop.ToBackOfPool;
            await WaitAsync(cancellation).ConfigureAwait(false);
        }
        while (TryDiscard(ref discarded));
    }

    /// <summary>Reads once, past the library. False: the peer has ended or is lost, or has sent too much.</summary>
    public bool TryDiscard(ref long discarded)
    {
        ReturnBuffer();
        byte[] scratch = pool.RentArray(BufferSize);
        bool mayContinue = !TryReceive(scratch, out int read, out Exception? failure) || (failure is null && read > 0);
        pool.ReturnArray(scratch);
        discarded += read;
        return mayContinue && discarded <= Wire.MaxDiscarded;
    }

    int IValueTaskSource<int>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(
        Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags) =>
        _source.OnCompleted(continuation, state, token, flags);

    protected override void Dispose(bool disposing)
    {
        base.Dispose(disposing);
        if (disposing)
        {
            ReturnBuffer();
        }
    }

    private ValueTask<int> Rest(Memory<byte> into)
    {
        _into = into;
        _source.Reset();
        var waiting = new ValueTask<int>(this, _source.Version);
        if (Interlocked.Exchange(ref _rest, Resting) == Awaited)
        {
            OnRest!();
        }

        return waiting;
    }

    /// <summary>False: there is nothing, and no end.</summary>
    private bool TryTake(Span<byte> into, out int read, out Exception? failure)
    {
        bool isOver = true;
        into = into[.._session.MaxBytesPerRead(into.Length)];
        if (_start == _end && _failure is null && into.Length >= BufferSize / 2)
        {
            isOver = TryReceive(into, out read, out failure);
        }
        else
        {
            isOver = TryReadAhead();
            failure = _failure;
            read = Math.Min(into.Length, _end - _start);
            _buffer.AsSpan(_start, read).CopyTo(into);
            _start += read;
            if (_start == _end)
            {
                ReturnBuffer();
            }
        }

        _usedOfTurn += _session.CostOf(read);
        Count(into[..read]);
        return isOver;
    }

    /// <summary>As <see cref="TryTake"/>, into the buffer of this stream.</summary>
    private bool TryReadAhead()
    {
        if (_start < _end || _failure is not null)
        {
            return true;
        }

        bool isOver = TryReceive(_buffer ??= pool.RentArray(BufferSize), out _end, out _failure);
        if (_end == 0)
        {
            ReturnBuffer();
        }

        return isOver;
    }

    private bool TryReceive(Span<byte> into, out int read, out Exception? failure)
    {
        read = 0;
        SocketError error = SocketError.OperationAborted;
        try
        {
            read = Math.Max(0, Socket.Receive(into, SocketFlags.None, out error));
        }
        catch (ObjectDisposedException)
        {
            // Cut off on another thread.
        }

        failure = error is SocketError.Success or SocketError.WouldBlock ? null : IoStreamErrors.Of(error);
        return error != SocketError.WouldBlock;
    }

    private void ReturnBuffer()
    {
        (_start, _end) = (0, 0);
        if (_buffer is not null)
        {
            pool.ReturnArray(_buffer);
            _buffer = null;
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> DelayAsync(ValueTask<int> read, Memory<byte> into)
    {
        PeerWaits?.Begin();
        try
        {
            int got = await read.ConfigureAwait(false);
            return Count(into.Span[..got]);
        }
        finally
        {
            PeerWaits?.End();
            await LeavePollingThread();
        }
    }

    private int Count(ReadOnlySpan<byte> bytes)
    {
        if (IsOfTls)
        {
            _session.AddRecordBytes(bytes);
        }

        return bytes.Length;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder))]
    private async ValueTask WaitUntilWritableAsync(ReadOnlyMemory<byte> rest, CancellationToken cancellation)
    {
        Interlocked.Increment(ref _waitingWrites);
        try
        {
            await base.WriteAsync(rest, cancellation).ConfigureAwait(false);
        }
        finally
        {
            Interlocked.Decrement(ref _waitingWrites);
        }
    }

    private async ValueTask WriteOnPoolAsync(ValueTask write)
    {
        PeerWaits?.Begin();
        try
        {
            await write.ConfigureAwait(false);
        }
        finally
        {
            PeerWaits?.End();
            await LeavePollingThread();
        }
    }

    /// <summary>
    /// Moves a handshake off the polling thread. Not an async method: that may complete before it is awaited, and its caller would then
    /// stay.
    /// </summary>
    private ThreadHop LeavePollingThread()
    {
        if (!_isInHandshake || OwnThread.IsCurrent)
        {
            return ThreadHop.None;
        }

        bool isOfPool = Thread.CurrentThread.IsThreadPoolThread;
        if (!isOfPool)
        {
            _pollingThread = Environment.CurrentManagedThreadId;
        }

        return IsOnOwnThreads ? ThreadHop.ToOwnThread
            : isOfPool ? ThreadHop.None
            : ThreadHop.ToPool;
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> WaitAsync(CancellationToken cancellation)
    {
        ValueTask<int> wait = base.ReadAsync(Memory<byte>.Empty, cancellation);
        while (!wait.IsCompleted)
        {
            await wait.ConfigureAwait(false);
            wait = base.ReadAsync(Memory<byte>.Empty, cancellation);
        }

        return await wait.ConfigureAwait(false);
    }
}
