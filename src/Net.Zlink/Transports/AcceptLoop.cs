using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// One accept is pending at a time, so its state needs no lock; the gate orders calls of the sink with <see cref="Close"/>.
/// </summary>
internal sealed class AcceptLoop : IThreadPoolWorkItem, IDisposable
{
    // Synchronous accepts take 5 to 8 us each: 256 of them hold a pool thread for 2 ms, and the hop to the next turn takes 1 us.
    private const int AcceptsPerTurn = 256;

    private static readonly TimeSpan FirstBackOff = TimeSpan.FromMilliseconds(10);

    private static readonly TimeSpan LongestBackOff = TimeSpan.FromSeconds(1);

    private readonly Socket _listener;
    private readonly Transport _transport;
    private readonly Action<Socket>? _prepare;
    private readonly Action? _release;
    private readonly DescriptorHeadroom? _headroom;
    private readonly Func<Socket, SocketAsyncEventArgs, bool> _accept;
    private readonly SocketAsyncEventArgs _args;
    private readonly Lock _gate = new();
    private IAcceptSink? _sink;
    private ITimer? _timer;
    private TimeSpan _backOff;
    private int _failuresInARow;
    private bool _isInHeadroom;
    private int _waits;
    private long _sinkFaults;
    private volatile bool _closed;

    /// <summary>
    /// <paramref name="release"/>: called once before the socket is closed, while it still listens: another bind must not find the address
    /// dead before it is free.
    /// </summary>
    public AcceptLoop(
        Socket listener,
        Transport transport,
        Action<Socket>? prepare,
        DescriptorHeadroom? headroom,
        Func<Socket, SocketAsyncEventArgs, bool>? accept = null,
        Action? release = null)
    {
        _release = release;
        _headroom = headroom;
        _listener = listener;
        _transport = transport;
        _prepare = prepare;
        _accept = accept ?? (static (socket, args) => socket.AcceptAsync(args));
        _args = new SocketAsyncEventArgs(unsafeSuppressExecutionContextFlow: true);
        _args.Completed += (_, _) => RunTurn(completed: true);
    }

    public long SinkFaults => Interlocked.Read(ref _sinkFaults);

    public void Start(IAcceptSink sink, TimeProvider time)
    {
        lock (_gate)
        {
            if (_sink is not null)
            {
                throw new InvalidOperationException("A listener starts once.");
            }

            _sink = sink;
            if (!_closed)
            {
                _timer = CreateTimer(time);
            }
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    /// <summary>A call of the sink in progress is awaited, unless this is called from within it.</summary>
    public void Close() => TryClose();

    public void Dispose() => TryClose();

    void IThreadPoolWorkItem.Execute() => RunTurn(completed: false);

    private bool TryClose()
    {
        lock (_gate)
        {
            if (_closed)
            {
                return false;
            }

            _closed = true;
            _timer?.Dispose();
            _release?.Invoke();
            StopListening();
            _listener.Dispose();
            _args.Dispose();
            return true;
        }
    }

    /// <summary>Frees the address although a child process that is being started may still hold a copy of the descriptor.</summary>
    private void StopListening()
    {
        try
        {
            _listener.Shutdown(SocketShutdown.Both);
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // Only Linux supports the shutdown of a listener; other systems have the close only.
        }
    }

    private void RunTurn(bool completed)
    {
        for (var i = 0; i < AcceptsPerTurn; i++)
        {
            // A pending accept may complete on another thread before TryBegin returns: the loop must not be touched after it.
            if (!completed && !TryBegin())
            {
                return;
            }

            completed = false;
            if (!Settle())
            {
                return;
            }
        }

        ThreadPool.UnsafeQueueUserWorkItem(this, preferLocal: false);
    }

    private bool TryBegin()
    {
        if (_closed || !LeaveHeadroom())
        {
            return false;
        }

        try
        {
            return !_accept(_listener, _args);
        }
#pragma warning disable CA1031 // On a pool thread an escaping exception ends the process; as an error value it ends at most this listener.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _args.SocketError = ErrorOf(e);
            return true;
        }
    }

    private bool LeaveHeadroom()
    {
        if (_isInHeadroom && !_headroom!.IsFree())
        {
            return Fail(SocketError.TooManyOpenSockets, AcceptErrorTier.Exhausted);
        }

        _isInHeadroom = false;
        return true;
    }

    private bool Settle()
    {
        var socket = _args.AcceptSocket;
        _args.AcceptSocket = null;
        if (_args.SocketError == SocketError.Success && socket is not null)
        {
            var error = Prepare(socket);
            if (error == SocketError.Success)
            {
                _failuresInARow = 0;
                _backOff = TimeSpan.Zero;
                _isInHeadroom = _headroom is not null && _headroom.IsTouchedBy(socket);
                return Deliver(socket) && (!_isInHeadroom || Fail(SocketError.TooManyOpenSockets, AcceptErrorTier.Exhausted));
            }

            socket.Dispose();
            return Fail(error, AcceptErrorTier.Peer);
        }

        socket?.Dispose();
        return Fail(_args.SocketError, AcceptErrors.Classify(_args.SocketError));
    }

    private SocketError Prepare(Socket socket)
    {
        try
        {
            socket.Blocking = false;
            _prepare?.Invoke(socket);
            return SocketError.Success;
        }
#pragma warning disable CA1031
        catch (Exception e)
#pragma warning restore CA1031
        {
            return ErrorOf(e);
        }
    }

    private static SocketError ErrorOf(Exception exception) => exception switch
    {
        SocketException e => e.SocketErrorCode,
        OutOfMemoryException => SocketError.NoBufferSpaceAvailable,
        _ => SocketError.OperationAborted,
    };

    private bool Deliver(Socket socket)
    {
        lock (_gate)
        {
            if (_closed)
            {
                socket.Dispose();
                return false;
            }

            try
            {
                _sink!.OnAccepted(new SocketWire(socket, _transport));
            }
#pragma warning disable CA1031
            catch (Exception)
#pragma warning restore CA1031
            {
                Interlocked.Increment(ref _sinkFaults);
                socket.Dispose();
                Report(SocketError.SocketError, TimeSpan.Zero);
            }

            return !_closed;
        }
    }

    private bool Fail(SocketError error, AcceptErrorTier tier)
    {
        if (tier == AcceptErrorTier.Fatal)
        {
            CloseFatally(error);
            return false;
        }

        // An endless error is none of a peer, whatever its code: without this the loop would spin on it.
        if (++_failuresInARow >= AcceptsPerTurn)
        {
            tier = AcceptErrorTier.Exhausted;
        }

        lock (_gate)
        {
            if (_closed)
            {
                return false;
            }

            if (tier == AcceptErrorTier.Peer)
            {
                Report(error, TimeSpan.Zero);
                return !_closed;
            }

            var doubled = _backOff + _backOff;
            _backOff = doubled == TimeSpan.Zero ? FirstBackOff : doubled < LongestBackOff ? doubled : LongestBackOff;

            // Set before the report, so that a test that then moves the clock finds the timer.
            Volatile.Write(ref _waits, 1);
            _timer!.Change(_backOff, Timeout.InfiniteTimeSpan);
            Report(error, _backOff);
            return false;
        }
    }

    private void Report(SocketError error, TimeSpan backOff)
    {
        try
        {
            _sink!.OnAcceptFailed(error, backOff);
        }
#pragma warning disable CA1031
        catch (Exception)
#pragma warning restore CA1031
        {
            Interlocked.Increment(ref _sinkFaults);
        }
    }

    private void CloseFatally(SocketError error)
    {
        if (!TryClose())
        {
            return;
        }

        try
        {
            _sink!.OnListenerClosed(error);
        }
#pragma warning disable CA1031
        catch (Exception)
#pragma warning restore CA1031
        {
            Interlocked.Increment(ref _sinkFaults);
        }
    }

    // The timer may fire without a back-off: CreateTimer sets and stops it, and a stalled process is late with that. A second turn's accept
    // would be an error that ends the listener.
    private void OnTimer()
    {
        if (Interlocked.Exchange(ref _waits, 0) == 1)
        {
            RunTurn(completed: false);
        }
    }

    private ITimer CreateTimer(TimeProvider time)
    {
        // The timer lives as long as the listener and must not keep its caller's execution context.
        var timer = DefaultContext.Run(() => time.CreateTimer(
            static state => ((AcceptLoop)state!).OnTimer(),
            this,
            LongestBackOff,
            Timeout.InfiniteTimeSpan));

        // Set and stopped again: a process's first timer makes the runtime start a thread, which needs two descriptors. At the descriptor
        // limit, where this timer is needed, that ends the process (measured).
        timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        return timer;
    }
}
