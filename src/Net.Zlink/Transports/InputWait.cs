using System.Net.Sockets;
using System.Threading.Tasks.Sources;
using Net.Zlink.Buffers;

namespace Net.Zlink.Transports;

/// <summary>
/// Waits for input with a receive of zero bytes, one wait at a time. On Unix that may report bytes that were read before the wait began.
/// After a handshake two of three connections report falsely, and a TLS session that finds nothing then waits with 32 KB, an idle one
/// forever: so the first reports are checked. With a hundred TLS sessions nothing of a session is cached when its turn comes. Prefetching
/// its objects here cut 4.3 us of managed code a burst to 3.1 (docs/benchmarks/log.md, "One wait for memory").
/// </summary>
internal sealed class InputWait : SocketAsyncEventArgs, IValueTaskSource<int>
{
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

    public InputWait(Socket socket, TlsShutdownGate reads)
        : base(unsafeSuppressExecutionContextFlow: true)
    {
        _socket = socket;
        _reads = reads;
        SetBuffer(Memory<byte>.Empty);
    }

    public void SetPrefetched(object stream, object session, object wire, object events) =>
        (_stream, _session, _wire, _events) = (stream, session, wire, events);

    public ValueTask<int> WaitAsync()
    {
        _source.Reset();
        _reads.MarkIdle();
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
            SocketError = SocketError.OperationAborted;
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

    private bool WaitsOn()
    {
        while (_polls < MaxPolls && SocketError == SocketError.Success)
        {
            _polls++;
            if (KernelWire.Examine(_socket, SelectMode.SelectRead))
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
