using System.Net.Sockets;

namespace Net.Zlink.Scenarios.Wire;

/// <summary>
/// One socket, read and written without waiting: the base of the load client over tcp and of the raw .NET server. An idle connection holds
/// no buffer: it waits by a receive of
/// no bytes, and is read into a buffer that all connections of the thread share, so that the bytes are still in the cache when they are
/// looked at.
/// </summary>
/// <remarks>A lock per connection, taken once per completion: without inline completions a send and a receive may complete on two
/// threads.</remarks>
internal abstract class RawConnection
{
    // The most that a read takes: what fits the processor's second cache beside the rest, and the library's own figure.
    private const int ReadSize = 64 * 1024;

    [ThreadStatic]
    private static byte[]? _shared;

    private readonly Lock _gate = new();
    private readonly Socket _socket;
    private readonly Signal _readable;
    private Signal? _writable;
    private byte[] _rest = [];
    private int _restLength;
    private byte[] _unsent = [];
    private int _unsentStart;
    private int _unsentEnd;
    private bool _isClosed;

    protected RawConnection(Socket socket)
    {
        socket.NoDelay = true;
        socket.Blocking = false;
        _socket = socket;
        _readable = new Signal(this, static connection => connection.Run());
    }

    /// <summary>Whether something waits for room in the kernel.</summary>
    protected bool IsSendPending { get; private set; }

    protected bool IsClosed => Volatile.Read(ref _isClosed);

    /// <summary>Whether to go on reading while something waits to be sent: a server does not, so that TCP pushes back.</summary>
    protected abstract bool ReadsWhileSending { get; }

    public void Start()
    {
        lock (_gate)
        {
            OnStarted();
            Run();
        }
    }

    /// <summary>Ends the connection from our side.</summary>
    public void Close()
    {
        lock (_gate)
        {
            Close(SocketError.Success);
        }
    }

    protected virtual void OnStarted()
    {
    }

    /// <summary>Bytes have arrived.</summary>
    /// <param name="bytes">What was left before, and what came; valid until this returns.</param>
    /// <returns>How many are done with; the others come again with more behind them.</returns>
    protected abstract int OnBytes(ReadOnlySpan<byte> bytes);

    /// <summary>What had to wait is sent.</summary>
    protected abstract void OnWritable();

    /// <summary>The connection is over; Success if the peer ended it.</summary>
    protected abstract void OnClosed(SocketError error);

    /// <summary>Does something with a connection that is not closed, under its lock.</summary>
    protected void Locked(Action<RawConnection> action)
    {
        lock (_gate)
        {
            if (!_isClosed)
            {
                action(this);
            }
        }
    }

    /// <summary>Ends the connection, with its cause. Under the lock.</summary>
    protected void Close(SocketError error)
    {
        if (!_isClosed)
        {
            _isClosed = true;
            _socket.Dispose();
            OnClosed(error);
        }
    }

    /// <summary>Sends now what the kernel takes, and the rest when it has room. Not while <see cref="IsSendPending"/>.</summary>
    protected void Send(ReadOnlySpan<byte> bytes)
    {
        while (bytes.Length > 0 && !_isClosed)
        {
            int sent = _socket.Send(bytes, SocketFlags.None, out SocketError error);
            if (error == SocketError.Success)
            {
                bytes = bytes[sent..];
            }
            else if (error == SocketError.WouldBlock)
            {
                Keep(bytes);
                SendKept();
                return;
            }
            else
            {
                Close(error);
            }
        }
    }

    private static byte[] Shared(int least)
    {
        byte[]? shared = _shared;
        if (shared is null || shared.Length < least)
        {
            _shared = shared = GC.AllocateUninitializedArray<byte>(least);
        }

        return shared;
    }

    private void Keep(ReadOnlySpan<byte> bytes)
    {
        if (_unsent.Length < bytes.Length)
        {
            _unsent = GC.AllocateUninitializedArray<byte>(bytes.Length);
        }

        bytes.CopyTo(_unsent);
        _unsentStart = 0;
        _unsentEnd = bytes.Length;
    }

    private void SendKept()
    {
        _writable ??= new Signal(this, static connection => connection.OnSent());
        while (_unsentStart < _unsentEnd && !_isClosed)
        {
            _writable.SetBuffer(_unsent, _unsentStart, _unsentEnd - _unsentStart);
            IsSendPending = true;
            if (_socket.SendAsync(_writable))
            {
                return;
            }

            TakeSent();
        }
    }

    private void TakeSent()
    {
        IsSendPending = false;
        if (_writable!.SocketError != SocketError.Success)
        {
            Close(_writable.SocketError);
            return;
        }

        _unsentStart += _writable.BytesTransferred;
    }

    private void OnSent()
    {
        TakeSent();
        SendKept();
        if (!IsSendPending && !_isClosed)
        {
            OnWritable();
            if (!ReadsWhileSending)
            {
                Run();
            }
        }
    }

    /// <summary>Reads until nothing is there.</summary>
    private void Run()
    {
        while (!_isClosed && (ReadsWhileSending || !IsSendPending))
        {
            byte[] buffer = Shared(_restLength + ReadSize);
            _rest.AsSpan(0, _restLength).CopyTo(buffer);
            int read = _socket.Receive(buffer.AsSpan(_restLength, ReadSize), SocketFlags.None, out SocketError error);
            if (error == SocketError.Success)
            {
                if (read == 0)
                {
                    Close(SocketError.Success);
                    return;
                }

                int length = _restLength + read;
                int used = OnBytes(buffer.AsSpan(0, length));
                if (_isClosed)
                {
                    return;
                }

                KeepRest(buffer.AsSpan(used, length - used));
                if (read == ReadSize)
                {
                    continue;
                }
            }
            else if (error != SocketError.WouldBlock)
            {
                Close(error);
                return;
            }

            if (_isClosed || (!ReadsWhileSending && IsSendPending) || _socket.ReceiveAsync(_readable))
            {
                return;
            }
        }
    }

    private void KeepRest(ReadOnlySpan<byte> rest)
    {
        if (rest.Length > _rest.Length)
        {
            // As much as the frame will need at the least, so that a long frame does not grow its buffer read by read.
            _rest = GC.AllocateUninitializedArray<byte>(Math.Max(rest.Length, Math.Min(Frames.FrameLength(rest), 2 * rest.Length)));
        }

        rest.CopyTo(_rest);
        _restLength = rest.Length;
    }

    private sealed class Signal(RawConnection connection, Action<RawConnection> action) : SocketAsyncEventArgs(true)
    {
        protected override void OnCompleted(SocketAsyncEventArgs e) => connection.Locked(action);
    }
}
