using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// Accepts connections on one listening socket with one <see cref="SocketAsyncEventArgs"/> and hands them to a sink.
/// One accept is outstanding at any time, so the loop's own state needs no lock; the gate orders deliveries with <see cref="Close"/>.
/// Any thread may call <see cref="Start"/> once and <see cref="Close"/> any number of times.
/// </summary>
internal sealed class AcceptLoop : IThreadPoolWorkItem, IDisposable
{
    // Accepts that finish at once are taken in a loop, measured at 5 to 8 us each: 256 of them hold a pool thread for about 2 ms, and the
    // hop between two turns (about 1 us) is nothing beside them.
    private const int AcceptsPerTurn = 256;

    // Short enough that a momentary shortage goes unnoticed, long enough not to load a machine that is already short of something.
    private static readonly TimeSpan FirstBackOff = TimeSpan.FromMilliseconds(10);

    // Recovery is noticed within a second; 1 failed accept a second costs nothing.
    private static readonly TimeSpan LongestBackOff = TimeSpan.FromSeconds(1);

    private readonly Socket _listener;
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
    private int _waits; // 1 while a back-off is on: whoever takes it runs the next turn
    private long _sinkFaults;
    private volatile bool _closed;

    /// <summary>Makes a loop that owns <paramref name="listener"/>, a socket that listens already.</summary>
    /// <param name="listener">The listening socket.</param>
    /// <param name="prepare">
    /// What to do to each accepted socket before it is handed on, beside making it non-blocking; null for nothing.
    /// </param>
    /// <param name="headroom">The descriptors to leave alone; null for none.</param>
    /// <param name="accept">Stands in for <see cref="Socket.AcceptAsync(SocketAsyncEventArgs)"/> in tests, to inject errors.</param>
    /// <param name="release">
    /// What to do once, while the socket still listens, before it is closed: whoever claims the address must not find it dead earlier than
    /// gone. Must not throw.
    /// </param>
    public AcceptLoop(
        Socket listener,
        Action<Socket>? prepare,
        DescriptorHeadroom? headroom,
        Func<Socket, SocketAsyncEventArgs, bool>? accept = null,
        Action? release = null)
    {
        _release = release;
        _headroom = headroom;
        _listener = listener;
        _prepare = prepare;
        _accept = accept ?? (static (socket, args) => socket.AcceptAsync(args));
        _args = new SocketAsyncEventArgs(unsafeSuppressExecutionContextFlow: true);
        _args.Completed += (_, _) => RunTurn(completed: true);
    }

    /// <summary>How often the sink threw.</summary>
    public long SinkFaults => Interlocked.Read(ref _sinkFaults);

    /// <summary>Begins accepting, on a pool thread; the sink is never called inside this method.</summary>
    /// <exception cref="InvalidOperationException">Started before.</exception>
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

    /// <summary>
    /// Closes the listening socket; the address is free when this returns. Calls of the sink that had begun have ended by then (unless this
    /// is called from within one) and none begins after.
    /// </summary>
    public void Close() => TryClose();

    /// <inheritdoc/>
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
            _listener.Dispose(); // a pending accept completes with an error and finds the loop closed
            _args.Dispose();     // takes effect when that accept has completed
            return true;
        }
    }

    /// <summary>Gives the address back even while a child process that is just being started, and has not come to its own program yet,
    /// holds a copy of the descriptor.</summary>
    private void StopListening()
    {
        try
        {
            _listener.Shutdown(SocketShutdown.Both);
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // Only Linux knows the shutdown of a listener; closing it has to do elsewhere.
        }
    }

    private void RunTurn(bool completed)
    {
        for (var i = 0; i < AcceptsPerTurn; i++)
        {
            // A pending accept may complete on another thread before TryBegin returns: nothing of the loop may be touched after it.
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

    /// <summary>Starts one accept. True when it has finished already; false when its completion goes on, or nothing does.</summary>
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
#pragma warning disable CA1031 // On a pool thread an escaping exception ends the process; as an error value it ends this listener at most.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _args.SocketError = ErrorOf(e);
            return true;
        }
    }

    /// <summary>False when the descriptors are still too few: then the timer tries again.</summary>
    private bool LeaveHeadroom()
    {
        if (_isInHeadroom && !_headroom!.IsFree())
        {
            return Fail(SocketError.TooManyOpenSockets, AcceptErrorTier.Exhausted);
        }

        _isInHeadroom = false;
        return true;
    }

    /// <summary>Deals with a finished accept. True when the loop goes on at once.</summary>
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
#pragma warning disable CA1031 // Some systems refuse options on a connection that its peer has reset; it costs that connection only.
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
        _ => SocketError.OperationAborted, // most likely closed under our hands
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
                _sink!.OnAccepted(socket);
            }
#pragma warning disable CA1031 // Whatever a sink throws costs this one connection, not the listener; it is counted and reported.
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

        // An error that claims to be a peer's and never ends is none: without this the loop would spin on it.
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

            // Set before the report, so that whoever hears of the back-off (a test that moves the clock, say) can rely on the timer; if it
            // fires at once, the gate holds it up.
            Volatile.Write(ref _waits, 1);
            _timer!.Change(_backOff, Timeout.InfiniteTimeSpan);
            Report(error, _backOff);
            return false; // the timer goes on
        }
    }

    private void Report(SocketError error, TimeSpan backOff)
    {
        try
        {
            _sink!.OnAcceptFailed(error, backOff);
        }
#pragma warning disable CA1031 // as above; there is nobody left to tell, so it is only counted
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
#pragma warning disable CA1031 // as above
        catch (Exception)
#pragma warning restore CA1031
        {
            Interlocked.Increment(ref _sinkFaults);
        }
    }

    // It also fires where nobody waits: set and stopped again by CreateTimer, it is late by then if the process stood still in between.
    // A turn begun by that would be a second one beside the first, and its accept an error that ends the listener.
    private void OnTimer()
    {
        if (Interlocked.Exchange(ref _waits, 0) == 1)
        {
            RunTurn(completed: false);
        }
    }

    private ITimer CreateTimer(TimeProvider time)
    {
        // The timer lives as long as the listener and must not keep the execution context of the user who bound it.
        var timer = DefaultContext.Run(() => time.CreateTimer(
            static state => ((AcceptLoop)state!).OnTimer(),
            this,
            LongestBackOff,
            Timeout.InfiniteTimeSpan));

        // Set and stopped again: the first timer that a process sets makes the runtime start a thread, which takes two descriptors. At the
        // descriptor limit, where this timer is needed, that fails and ends the process (measured).
        timer.Change(Timeout.InfiniteTimeSpan, Timeout.InfiniteTimeSpan);
        return timer;
    }
}
