using System.Net.Sockets;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>Waits until a connected socket has input or its end. One wait at a time; reusable.</summary>
/// <remarks>
/// <para>
/// A receive of zero bytes. On Unix it may report bytes that were read before the wait began (34 of 3,000 connections that had just been
/// busy); the reader then waits again. Asking the socket first cost 0.8 us of the 45 that 30 KB over TLS take. But after a handshake two of
/// three connections report falsely, and a TLS session that finds nothing then waits with 32 KB, an idle one forever. So the first reports
/// are checked.
/// </para>
/// <para>
/// With a hundred TLS sessions of 30 KB at a time, nothing of a session is cached when its turn comes, and each object on the way costs 0.1
/// us. Prefetching all of them here cut 4.3 us of managed code a burst to 3.1; a plain SslStream takes 3.0 (docs/benchmarks/log.md, "One
/// wait for memory").
/// </para>
/// </remarks>
internal sealed class InputWait : SocketAsyncEventArgs, IValueTaskSource<int>
{
    // The first wait after the handshake, whose input was read before, and one for each later record; session tickets usually come in two.
    private const int MaxPolls = 4;

    private readonly Socket _socket;
    private readonly TlsShutdownGate _reads;
    private ManualResetValueTaskSourceCore<int> _source;
    private object? _continuing;
    private object? _stream;
    private object? _session;
    private object? _wire;
    private object? _events;
    private int _polls;

    /// <param name="socket">The connected socket.</param>
    /// <param name="reads">Notified when a reader waits.</param>
    public InputWait(Socket socket, TlsShutdownGate reads)
        : base(unsafeSuppressExecutionContextFlow: true)
    {
        _socket = socket;
        _reads = reads;
        SetBuffer(Memory<byte>.Empty);
    }

    /// <summary>
    /// Sets what is prefetched when a wait ends, from the stream to the wire's events. Not set for plain WebSocket connections, which stay
    /// cached.
    /// </summary>
    /// <param name="stream">The waiting stream.</param>
    /// <param name="session">The TLS session over it.</param>
    /// <param name="wire">The session's reader.</param>
    /// <param name="events">The wire's receiver.</param>
    public void LeadsTo(object stream, object session, object wire, object events) =>
        (_stream, _session, _wire, _events) = (stream, session, wire, events);

    /// <summary>There is input, or the peer has ended, or the socket has failed; the next read says which.</summary>
    /// <exception cref="ObjectDisposedException">The socket is disposed.</exception>
    public static bool HasInput(Socket socket)
    {
        try
        {
            return socket.Poll(microSeconds: 0, SelectMode.SelectRead);
        }
        catch (SocketException)
        {
            return true;
        }
    }

    /// <summary>Completes with 0 when there is input. Socket errors are thrown as a stream's read does.</summary>
    public ValueTask<int> WaitAsync()
    {
        _source.Reset();
        _reads.MarkIdle(); // Before the wait can end.
        bool waits = false;
        try
        {
            waits = _socket.ReceiveAsync(this) || WaitsOn();
        }
        catch (ObjectDisposedException e)
        {
            return ValueTask.FromException<int>(e);
        }
        finally
        {
            if (!waits)
            {
                _reads.Resume();
            }
        }

        return waits ? new ValueTask<int>(this, _source.Version)
            : SocketError == SocketError.Success ? default
            : ValueTask.FromException<int>(IoStreamErrors.Of(SocketError));
    }

    int IValueTaskSource<int>.GetResult(short token) => _source.GetResult(token);

    ValueTaskSourceStatus IValueTaskSource<int>.GetStatus(short token) => _source.GetStatus(token);

    void IValueTaskSource<int>.OnCompleted(Action<object?> continuation, object? state, short token, ValueTaskSourceOnCompletedFlags flags)
    {
        _continuing = state;
        _source.OnCompleted(continuation, state, token, flags);
    }

    protected override void OnCompleted(SocketAsyncEventArgs e)
    {
        try
        {
            if (WaitsOn())
            {
                return;
            }
        }
        catch (ObjectDisposedException)
        {
            SocketError = SocketError.OperationAborted; // As for a wait that is in progress then.
        }

        if (_events is not null)
        {
            FetchAhead();
        }

        _reads.Resume();
        if (SocketError == SocketError.Success)
        {
            _source.SetResult(0);
        }
        else
        {
            _source.SetException(IoStreamErrors.Of(SocketError));
        }
    }

    /// <summary>A false report: waits again.</summary>
    private bool WaitsOn()
    {
        while (_polls < MaxPolls && SocketError == SocketError.Success)
        {
            _polls++;
            if (HasInput(_socket))
            {
                return false;
            }

            if (_socket.ReceiveAsync(this))
            {
                return true;
            }
        }

        return false;
    }

    private void FetchAhead()
    {
        CacheLines.FetchLarge(_continuing);
        CacheLines.Fetch(_reads);
        CacheLines.Fetch(_stream);
        CacheLines.FetchLarge(_socket);
        CacheLines.FetchLarge(_session);
        CacheLines.FetchLarge(_wire);
        CacheLines.FetchLarge(_events);
    }
}
