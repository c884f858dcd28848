using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// A socket's stream for TLS and WebSocket. A synchronous read or write takes one system call, where NetworkStream uses objects that are
/// not cached with a hundred sessions. A handshake that had to wait continues on the pool or on its own thread: with inline completions it
/// would otherwise delay all sockets of the polling thread.
/// </summary>
internal sealed class ReadinessStream(Socket socket) : NetworkStream(socket, ownsSocket: true)
{
    private InputWait? _wait;
    private bool _isInHandshake = true;
    private bool _isOfSession;
    private SessionBytes _session;
    private int _pollingThread;
    private int _waitingWrites;
    private int _earlyEnds;
    private bool _keepsBuffer;
    private ReadQuota _quota;

    public bool IsOnOwnThreads { get; set; }

    public bool IsOfTls { get; set; }

    public PeerWait? PeerWaits { get; set; }

    public TlsShutdownGate Reads { get; } = new();

    public bool MayEndEarly => _keepsBuffer || _earlyEnds > 0;

    private InputWait Wait => _wait ??= new InputWait(Socket, Reads);

    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // Windows reports present input, and may report it late each time.
        bool isWait = buffer.IsEmpty && !OperatingSystem.IsWindows();
        if (!_isInHandshake)
        {
            if (isWait && !cancellationToken.CanBeCanceled && (!_session.HasBytesWithoutData || _earlyEnds == 0))
            {
                return _keepsBuffer ? FirstWait() : Wait.WaitAsync();
            }

            if (_quota.TryEnd())
            {
                // Marked idle, so that a farewell need not wait for an endless peer.
                return DelayAsync(ReadQuota.ReadElsewhereAsync(this, buffer, cancellationToken), default);
            }
        }

        if (_isOfSession && _session.IsTooMuch)
        {
            return ValueTask.FromException<int>(new IOException("the peer sent a MiB over TLS without any data, such as key updates"));
        }

        if (!_isInHandshake)
        {
            if (!buffer.IsEmpty && !cancellationToken.IsCancellationRequested
                && TryRead(buffer.Span[.._session.MaxBytesPerRead(buffer.Length)], out int got, out Exception? failure))
            {
                _quota.Consume(_session.CostOf(got));
                Consume(buffer.Span[..got]);
                return failure is null ? new ValueTask<int>(got) : ValueTask.FromException<int>(failure);
            }

            if (_session.HasBytesWithoutData && _earlyEnds > 0)
            {
                _earlyEnds--;
                return ValueTask.FromException<int>(new NoDataYetException());
            }
        }

        ValueTask<int> read = isWait ? WaitAsync(cancellationToken) : base.ReadAsync(buffer, cancellationToken);
        return read.IsCompletedSuccessfully ? new ValueTask<int>(Consume(buffer, read.GetAwaiter().GetResult())) : read.IsCompleted ? read
            : DelayAsync(read, buffer);
    }

    public void BeginTurn() => _quota.Begin();

    /// <summary>
    /// Session reads that wait for their first data may end with <see cref="NoDataYetException"/>, which their reader knows.
    /// </summary>
    public void BeginSession(bool isTls13, int earlyEnds = 0)
    {
        _isOfSession = true;
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

    /// <summary>False: there is nothing, and no end.</summary>
    public bool TryRead(Span<byte> into, out int read, out Exception? failure)
    {
        read = Socket.Receive(into, SocketFlags.None, out SocketError error);
        failure = error is SocketError.Success or SocketError.WouldBlock ? null : IoStreamErrors.Of(error);
        return error != SocketError.WouldBlock;
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

    /// <inheritdoc cref="InputWait.SetPrefetched"/>
    public void SetPrefetched(object session, object wire, object events) => Wait.SetPrefetched(this, session, wire, events);

    /// <summary>Ends the handshake: from here on the socket is non-blocking, and operations continue where they complete.</summary>
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

    protected override void Dispose(bool disposing)
    {
        base.Dispose(disposing);
        if (disposing)
        {
            _wait?.Dispose();
        }
    }

    [AsyncMethodBuilder(typeof(PoolingAsyncValueTaskMethodBuilder<>))]
    private async ValueTask<int> DelayAsync(ValueTask<int> read, Memory<byte> into)
    {
        Reads.MarkIdle();
        PeerWaits?.Begin();
        try
        {
            return Consume(into, await read.ConfigureAwait(false));
        }
        finally
        {
            PeerWaits?.End();
            Reads.Resume();
            await LeavePollingThread();
        }
    }

    /// <summary>
    /// The session waits for the first time, still with its handshake's buffer of 8 KB, which it returns when a read ends: so it does not
    /// begin to wait unless there is input.
    /// </summary>
    private ValueTask<int> FirstWait()
    {
        _keepsBuffer = false;
        return KernelWire.Examine(Socket, SelectMode.SelectRead) ? default : ValueTask.FromException<int>(new NoDataYetException());
    }

    private int Consume(Memory<byte> into, int got)
    {
        if (!into.IsEmpty)
        {
            Consume(into.Span[..got]);
        }

        return got;
    }

    private void Consume(ReadOnlySpan<byte> bytes)
    {
        if (IsOfTls)
        {
            _session.AddRecordBytes(bytes);
        }
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
