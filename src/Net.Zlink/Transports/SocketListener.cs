using System.Net;
using System.Net.Sockets;
using Net.Zlink.Flow;

namespace Net.Zlink.Transports;

/// <summary>
/// One accept is pending at a time, so its state needs no lock; the gate orders calls of the sink with <see cref="Dispose"/>.
/// <paramref name="release"/> is called once before the socket is closed, while it still listens: another bind must not find the address
/// dead before it is free.
/// </summary>
internal sealed class SocketListener(
    Socket listener,
    Transport transport,
    string endpoint,
    Action<Socket>? prepare,
    DescriptorHeadroom? headroom = null,
    Func<Socket, ValueTask<Socket>>? accept = null,
    Action? release = null) : ITransportListener
{
    // Synchronous accepts take 5 to 8 us each: 256 of them hold a pool thread for 2 ms, and the hop to the next turn takes 1 us.
    private const int AcceptsPerTurn = 256;

    private static readonly TimeSpan FirstBackOff = TimeSpan.FromMilliseconds(10);
    private static readonly TimeSpan LongestBackOff = TimeSpan.FromSeconds(1);
    private readonly Func<Socket, ValueTask<Socket>> _accept = accept ?? (static socket => socket.AcceptAsync(CancellationToken.None));
    private readonly DescriptorHeadroom _headroom = headroom ?? DescriptorHeadroom.OfThisProcess;
    private readonly CancellationTokenSource _closing = new();
    private readonly Lock _gate = new();
    private IAcceptSink? _sink;
    private TimeSpan _backOff;
    private int _failuresInARow;
    private bool _isInHeadroom;
    private volatile bool _isClosed;

    public Transport Transport => transport;

    public string Endpoint => endpoint;

    public long Handle { get; } = listener.Handle;

    public WireUpgrade? Upgrade { get; init; }

    /// <summary>Null where the transport has no addresses.</summary>
    public IPEndPoint? LocalEndPoint { get; init; }

    public void Start(IAcceptSink sink, TimeProvider time)
    {
        if (Interlocked.CompareExchange(ref _sink, sink, null) is not null)
        {
            throw new InvalidOperationException("A listener starts once.");
        }

        _ = DefaultContext.Run(() => RunAsync(time));
    }

    /// <summary>A call of the sink in progress is awaited, unless this is called from within it.</summary>
    public void Dispose() => TryClose();

    private bool TryClose()
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                return false;
            }

            _isClosed = true;
            release?.Invoke();
            StopListening();
            listener.Dispose();
        }

        _closing.Cancel();
        return true;
    }

    /// <summary>Frees the address although a child process that is being started may still hold a copy of the descriptor.</summary>
    private void StopListening()
    {
        try
        {
            listener.Shutdown(SocketShutdown.Both);
        }
        catch (Exception exception) when (exception is SocketException or ObjectDisposedException)
        {
            // Only Linux supports the shutdown of a listener; other systems have the close only.
        }
    }

    private async Task RunAsync(TimeProvider time)
    {
        await ThreadHop.ToBackOfPool;

        // A process's first timer makes the runtime start a thread, which needs two descriptors. At the descriptor limit, where a pause
        // needs a timer, that ends the process (measured).
        await time.CreateTimer(static _ => { }, state: null, LongestBackOff, Timeout.InfiniteTimeSpan).DisposeAsync().ConfigureAwait(false);
        for (int accepts = 1; await TryAcceptAsync(time).ConfigureAwait(false); accepts++)
        {
            if (accepts % AcceptsPerTurn == 0)
            {
                await ThreadHop.ToBackOfPool;
            }
        }
    }

    /// <summary>False: it is closed.</summary>
    private async ValueTask<bool> TryAcceptAsync(TimeProvider time)
    {
        if (_isInHeadroom && !_headroom.IsFree())
        {
            return await FailAsync(SocketError.TooManyOpenSockets, AcceptErrorTier.Exhausted, time).ConfigureAwait(false);
        }

        Socket? socket = null;
        try
        {
            socket = await _accept(listener).ConfigureAwait(false);
            socket.Blocking = false;
            prepare?.Invoke(socket);
        }
        catch (Exception e) // On a pool thread it would end the process. So it ends at most this listener.
        {
            socket?.Dispose();
            SocketError error = e switch
            {
                SocketException failure => failure.SocketErrorCode,
                OutOfMemoryException => SocketError.NoBufferSpaceAvailable,
                _ => SocketError.OperationAborted,
            };
            AcceptErrorTier tier = socket is null ? AcceptErrors.Classify(error) : AcceptErrorTier.Peer;
            return await FailAsync(error, tier, time).ConfigureAwait(false);
        }

        _failuresInARow = 0;
        _backOff = TimeSpan.Zero;
        _isInHeadroom = _headroom.IsTouchedBy(socket);
        return Deliver(socket) && (!_isInHeadroom
            || await FailAsync(SocketError.TooManyOpenSockets, AcceptErrorTier.Exhausted, time).ConfigureAwait(false));
    }

    private bool Deliver(Socket socket)
    {
        lock (_gate)
        {
            if (_isClosed)
            {
                socket.Dispose();
                return false;
            }

            try
            {
                _sink!.OnAccepted(new SocketWire(socket, transport));
            }
            catch (Exception)
            {
                socket.Dispose();
                _sink!.OnAcceptFailed(SocketError.SocketError, TimeSpan.Zero);
            }

            return !_isClosed;
        }
    }

    private async ValueTask<bool> FailAsync(SocketError error, AcceptErrorTier tier, TimeProvider time)
    {
        if (tier == AcceptErrorTier.Fatal)
        {
            if (TryClose())
            {
                _sink!.OnListenerClosed(error);
            }

            return false;
        }

        TimeSpan backOff = TimeSpan.Zero;
        Task pause = Task.CompletedTask;

        // An endless error is none of a peer, whatever its code: without this the loop would spin on it.
        if (++_failuresInARow >= AcceptsPerTurn || tier == AcceptErrorTier.Exhausted)
        {
            backOff = _backOff = new TimeSpan(Math.Clamp(2 * _backOff.Ticks, FirstBackOff.Ticks, LongestBackOff.Ticks));
            pause = Task.Delay(backOff, time, _closing.Token); // Before the report: a test that then moves the clock finds the timer.
        }

        lock (_gate)
        {
            if (!_isClosed)
            {
                _sink!.OnAcceptFailed(error, backOff);
            }
        }

        await pause.ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
        return !_isClosed;
    }
}

internal enum AcceptErrorTier
{
    Peer,

    /// <summary>No descriptors or memory are left: pause, because the loop would spin on a connection that it cannot accept.</summary>
    Exhausted,

    Fatal,
}

internal static class AcceptErrors
{
    public static AcceptErrorTier Classify(SocketError error) => error switch
    {
        SocketError.TooManyOpenSockets or SocketError.NoBufferSpaceAvailable or SocketError.ProcessLimit or SocketError.SystemNotReady
            or SocketError.SocketError => AcceptErrorTier.Exhausted,

        // The listening socket is closed, or is none.
        SocketError.OperationAborted or SocketError.NotSocket or SocketError.InvalidArgument or SocketError.Fault => AcceptErrorTier.Fatal,

        // Linux passes errors that were pending on the new connection to accept(), to be treated like "try again".
        _ => AcceptErrorTier.Peer,
    };
}
