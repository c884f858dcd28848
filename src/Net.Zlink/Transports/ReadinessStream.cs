using System.Net.Sockets;
using System.Runtime.CompilerServices;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>A socket's stream for the libraries of TLS and WebSocket: it waits with an <see cref="InputWait"/> when nothing is asked for
/// but to wait, and otherwise tries at once, without waiting.</summary>
/// <remarks>
/// What can be read or written at once takes a system call and nothing else; only what has to wait becomes an operation of the runtime's.
/// Through NetworkStream each read and write goes by an operation's object and two more, which with a hundred sessions are in no cache: an
/// echo over TLS took 1 to 2 % longer (docs/benchmarks/log.md, "Shards of their own").
/// <para>It begins with a handshake, which goes on on the pool whenever it had to wait, or on a thread of its own: certificates are checked
/// there, and the application's callbacks may take their time. With inline completions it would go on on the polling thread that brought
/// the news, and hold up every other socket of that thread.</para>
/// </remarks>
/// <param name="socket">Connected and blocking, which the base class asks for; owned.</param>
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

    /// <summary>A handshake goes on on a thread of its own whenever it had to wait, instead of the pool's: it may call somebody who
    /// sleeps.</summary>
    public bool IsOnOwnThreads { get; set; }

    /// <summary>It is a TLS session that reads it.</summary>
    public bool IsOfTls { get; set; }

    /// <summary>Hears when the handshake has to wait for the peer; null: nobody asks.</summary>
    public PeerWait? PeerWaits { get; set; }

    /// <summary>Hears whenever a read has to wait in here.</summary>
    public TlsShutdownGate Reads { get; } = new();

    /// <summary>The next read of the session over this may end with <see cref="NoDataYetException"/>.</summary>
    public bool MayEndEarly => _keepsBuffer || _earlyEnds > 0;

    private InputWait Wait => _wait ??= new InputWait(Socket, Reads);

    /// <inheritdoc/>
    public override ValueTask<int> ReadAsync(Memory<byte> buffer, CancellationToken cancellationToken = default)
    {
        // Windows reports what is there, and may report it late each time.
        bool isWait = buffer.IsEmpty && !OperatingSystem.IsWindows();
        if (!_isInHandshake)
        {
            if (isWait && !cancellationToken.CanBeCanceled && (!_session.HasBytesWithoutData || _earlyEnds == 0))
            {
                return _keepsBuffer ? FirstWait() : Wait.WaitAsync();
            }

            if (_quota.TryEnd())
            {
                // Counted there. At rest, so that a farewell need not wait for a peer that never ends.
                return DelayAsync(ReadQuota.ReadElsewhereAsync(this, buffer, cancellationToken), default);
            }
        }

        // In an upgrade over TLS, too: its session's own handshake is over.
        if (_isOfSession && _session.IsTooMuch)
        {
            return ValueTask.FromException<int>(new IOException("the peer sent a MiB over TLS that was no data: updates of keys, for one"));
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

    /// <summary>A read of the engine's begins.</summary>
    public void BeginTurn() => _quota.Begin();

    /// <summary>The handshake of the TLS session over this is over. Reads of the session that wait for its first data may end with
    /// <see cref="NoDataYetException"/>: whoever reads knows what that is.</summary>
    /// <param name="isTls13">It speaks TLS 1.3.</param>
    /// <param name="earlyEnds">So many reads that have brought no data, and would wait for some, end like this.</param>
    public void BeginSession(bool isTls13, int earlyEnds = 0)
    {
        _isOfSession = true;
        _keepsBuffer = true;
        _earlyEnds = earlyEnds;
        _session.BeginSession(isTls13);
    }

    /// <summary>A read of the TLS session over this begins, and ends with data: what is read meanwhile beyond some of that is
    /// none.</summary>
    public void BeginSessionRead() => _session.BeginRead();

    /// <summary>A read of the TLS session over this has brought so much data.</summary>
    public void EndSessionRead(int data)
    {
        _session.AddData(data);
        if (data > 0 && MayEndEarly)
        {
            // What comes behind a handshake has come, and the library gives its buffer back with each read that ends.
            _keepsBuffer = false;
            _earlyEnds = 0;
        }
    }

    /// <summary>Reads what is there. Behind the handshake only.</summary>
    /// <param name="into">At least a byte.</param>
    /// <param name="read">How much it was; 0: the peer has ended.</param>
    /// <param name="failure">The socket's error, as a stream throws it.</param>
    /// <returns>False: there is nothing, and nothing has ended.</returns>
    public bool TryRead(Span<byte> into, out int read, out Exception? failure)
    {
        read = Socket.Receive(into, SocketFlags.None, out SocketError error);
        failure = error is SocketError.Success or SocketError.WouldBlock ? null : IoStreamErrors.Of(error);
        return error != SocketError.WouldBlock;
    }

    /// <inheritdoc/>
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

    /// <inheritdoc cref="InputWait.LeadsTo"/>
    public void LeadsTo(object session, object wire, object events) => Wait.LeadsTo(this, session, wire, events);

    /// <summary>The handshake is over: from here on the socket is non-blocking, and reads and writes go on where they end. Before the first
    /// of them, once.</summary>
    /// <returns>The polling thread of the runtime that brings this socket's news, by its managed id; 0 if the pool does, or nothing had to
    /// wait.</returns>
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
            Dispose(); // Closed meanwhile, as a rule: so say the reads and writes to come, none of which must find a socket that blocks.
        }

        return _pollingThread;
    }

    /// <inheritdoc/>
    protected override void Dispose(bool disposing)
    {
        base.Dispose(disposing); // Ends what is pending.
        if (disposing)
        {
            _wait?.Dispose();
        }
    }

    // A message that arrives in pieces, for one: rarer than the waits before it.
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

    /// <summary>The session waits for the first time, with the buffer of its handshake still: 8 KB, which it gives back when a read ends.
    /// So it does not begin to wait unless there is something.</summary>
    private ValueTask<int> FirstWait()
    {
        _keepsBuffer = false;
        return InputWait.HasInput(Socket) ? default : ValueTask.FromException<int>(new NoDataYetException());
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

    /// <summary>While it waits, further writes go behind it: the session says something of its own now and then, in answer to what it
    /// reads.</summary>
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

    /// <summary>In a handshake: notes which polling thread this is, where it is one. To be awaited, which then takes the caller to where
    /// handshakes go on. No async method: one that has yielded may be through before it is awaited, and its caller then stays.</summary>
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

    // Only in handshakes and while a connection ends, so it may cost more.
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
