using System.Net.Sockets;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>Waits until a connected socket has something to read, its end included; one wait at a time, used again for the next.</summary>
/// <remarks>
/// A receive of no bytes, which ends at the system's report. On Unix that may be about bytes that were read before the wait began (of 3,000
/// connections that had just been busy, 34 reported so): whoever then reads finds nothing, and waits again.
/// To ask the socket first how much it holds cost 0.8 us of the 45 that 30 KB over TLS take, each time. But of connections that come out of
/// a handshake two in three report so, and a TLS session that finds nothing then waits with 32 KB in its hands, an idle one for good: so
/// the first reports are looked at.
/// <para>With a hundred TLS sessions that carry 30 KB at a time nothing of one is in a cache any more when its turn comes, and what the end
/// of a wait sets going looks at one object after the other, each time 0.1 us. So their memory is asked for here, all at once: 4.3 us of
/// managed code for such a burst became 3.1, and a plain SslStream takes 3.0 (docs/benchmarks/log.md, "One wait for memory").</para>
/// </remarks>
internal sealed class InputWait : SocketAsyncEventArgs, IValueTaskSource<int>
{
    // The first behind the handshake, whose input was read before, and one for each thing that may follow it: session tickets come in two
    // records as a rule.
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

    /// <param name="socket">Connected.</param>
    /// <param name="reads">Hears that a reader waits.</param>
    public InputWait(Socket socket, TlsShutdownGate reads)
        : base(unsafeSuppressExecutionContextFlow: true)
    {
        _socket = socket;
        _reads = reads;
        SetBuffer(Memory<byte>.Empty);
    }

    /// <summary>Says what is looked at when a wait ends, from the socket's stream up to who hears of it. Where nobody says so, nothing is
    /// fetched ahead: plain WebSocket connections stay in the caches, and gain nothing.</summary>
    /// <param name="stream">Which waits.</param>
    /// <param name="session">The library's session over it.</param>
    /// <param name="wire">Who reads that.</param>
    /// <param name="events">Whom that tells.</param>
    public void LeadsTo(object stream, object session, object wire, object events) =>
        (_stream, _session, _wire, _events) = (stream, session, wire, events);

    /// <summary>There is something to read, or the peer has ended, or the socket has failed: what it is the next read says, and that alone
    /// takes it.</summary>
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

    /// <summary>Completes, with 0, when there is something to read. The socket's errors are its exceptions, as those of a stream's
    /// read.</summary>
    public ValueTask<int> WaitAsync()
    {
        _source.Reset();
        _reads.MarkIdle(); // Before it can end.
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

    /// <inheritdoc/>
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
            SocketError = SocketError.OperationAborted; // As for a wait that is under way then.
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

    /// <summary>The wait has ended for nothing, and goes on.</summary>
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
