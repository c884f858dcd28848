using System.Net.Sockets;

namespace Net.Zlink.Transports;

/// <summary>Bytes straight from and to a socket: tcp and ipc.</summary>
/// <remarks>
/// Input is waited for with a zero-byte receive, so that an idle connection holds no buffer. A write is tried at once; only what the kernel
/// has no room for becomes an asynchronous send, so an idle or fast-reading peer costs one system call per burst and holds no send object.
/// </remarks>
internal sealed class SocketWire : Wire
{
    private readonly Signal _input;
    private Signal? _output;
    private bool _isDisposed;

    /// <param name="socket">Connected and non-blocking; owned from here on.</param>
    /// <param name="scheme">tcp or ipc.</param>
    public SocketWire(Socket socket, string scheme)
        : base(socket, scheme) => _input = new Signal(this, isInput: true);

    /// <inheritdoc/>
    public override int Available
    {
        get
        {
            try
            {
                return Socket.Available;
            }
            catch (SocketException)
            {
                return 0; // Broken: the next read says so.
            }
        }
    }

    /// <inheritdoc/>
    public override bool WaitForInput()
    {
        _input.IsPending = true;
        try
        {
            return Socket.ReceiveAsync(_input);
        }
        catch (ObjectDisposedException)
        {
            _input.Failure = SocketError.OperationAborted; // Closed before it began.
            return false;
        }
    }

    /// <inheritdoc/>
    public override WireStatus FinishWait() => Finish(_input);

    /// <inheritdoc/>
    public override WireStatus Receive(Span<byte> into, out int received)
    {
        received = Socket.Receive(into, SocketFlags.None, out SocketError error);
        if (error == SocketError.Success)
        {
            return received == 0 ? WireStatus.Ended : WireStatus.Done;
        }

        received = 0;
        return Classify(error);
    }

    /// <inheritdoc/>
    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = Socket.Send(bytes, SocketFlags.None, out SocketError error);
        return error == SocketError.Success ? WireStatus.Done : Classify(error);
    }

    /// <inheritdoc/>
    public override bool Gathers => true;

    /// <inheritdoc/>
    public override WireStatus Send(IList<ArraySegment<byte>> pieces, out int sent)
    {
        sent = Socket.Send(pieces, SocketFlags.None, out SocketError error);
        return error == SocketError.Success ? WireStatus.Done : Classify(error);
    }

    /// <inheritdoc/>
    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _output ??= new Signal(this, isInput: false);
        _output.SetBuffer(System.Runtime.InteropServices.MemoryMarshal.AsMemory(bytes));
        _output.IsPending = true;
        return Socket.SendAsync(_output);
    }

    /// <inheritdoc/>
    public override WireStatus FinishSend()
    {
        SentBytes = _output!.BytesTransferred;
        // Or it would keep the memory until the next send that has to wait: megabytes a connection, where long messages were sent.
        _output.SetBuffer(default);
        return Finish(_output);
    }

    /// <inheritdoc/>
    public override WireStatus EndSending(WireEnd end)
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
            return WireStatus.Done;
        }
        catch (SocketException)
        {
            return WireStatus.Failed; // Already gone: there is nobody to wait for.
        }
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        _isDisposed = true;
        Socket.Dispose();

        // What is pending ends because of that, and is let go of then.
        DisposeIdle(_input);
        DisposeIdle(_output);
    }

    private static void DisposeIdle(Signal? signal)
    {
        if (signal is { IsPending: false })
        {
            signal.Dispose();
        }
    }

    private WireStatus Finish(Signal signal)
    {
        SocketError error = signal.Failure == SocketError.Success ? signal.SocketError : signal.Failure;
        signal.IsPending = false;
        if (_isDisposed)
        {
            signal.Dispose();
        }

        if (error == SocketError.Success)
        {
            return WireStatus.Done;
        }

        Error = error;
        return WireStatus.Failed;
    }

    private WireStatus Classify(SocketError error)
    {
        if (error == SocketError.WouldBlock)
        {
            return WireStatus.WouldWait;
        }

        Error = error;
        return WireStatus.Failed;
    }

    /// <summary>One kind of operation of the socket, used again and again. Made without execution-context capture: nobody's async locals
    /// belong on a shard, and capturing costs on every operation.</summary>
    private sealed class Signal(SocketWire wire, bool isInput) : SocketAsyncEventArgs(unsafeSuppressExecutionContextFlow: true)
    {
        /// <summary>Begun and not yet finished.</summary>
        public bool IsPending { get; set; }

        /// <summary>Why it could not begin.</summary>
        public SocketError Failure { get; set; }

        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            if (isInput)
            {
                wire.Events.OnInput();
            }
            else
            {
                wire.Events.OnSent();
            }
        }
    }
}
