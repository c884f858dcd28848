using System.Globalization;
using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;

namespace Net.Zlink.Transports;

/// <summary>
/// Input is awaited with a zero-byte receive, so an idle connection holds no buffer. A write is tried synchronously; only what the kernel
/// does not accept becomes an asynchronous send.
/// </summary>
internal class SocketWire : Wire
{
    private Signal? _input; // None for a wire that a handshake replaces.
    private Signal? _output;

    public SocketWire(Socket socket, Transport transport)
        : base(transport)
    {
        Socket = socket;
        RemoteEndPoint = AddressOf(socket, remote: true);
        LocalEndPoint = AddressOf(socket, remote: false);
    }

    public override long Handle => Socket.Handle;

    public override string PeerAddress => RemoteEndPoint is IPEndPoint ? base.PeerAddress : IpcPeerOf(Socket);

    public override bool HasUnread => Examine(Socket, SelectMode.SelectRead);

    public override bool IsWritable => Examine(Socket, SelectMode.SelectWrite);

    public override int UnreadBytes
    {
        get
        {
            try
            {
                return Socket.Available;
            }
            catch (SocketException)
            {
                return 0;
            }
        }
    }

    /// <summary>For a handshake, which makes another wire of it.</summary>
    public Socket Socket { get; }

    /// <summary>The next operation would not wait; it says whether it fails.</summary>
    public static bool Examine(Socket socket, SelectMode what)
    {
        try
        {
            return socket.Poll(TimeSpan.Zero, what);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return true;
        }
    }

    public override int Available => UnreadBytes;

    protected bool IsWaiting => _input is { IsPending: true };

    protected bool IsDisposed { get; private set; }

    public override bool WaitForInput()
    {
        _input ??= new Signal(this, isInput: true);
        _input.IsPending = true;
        bool isPending = false;
        try
        {
            isPending = Socket.ReceiveAsync(_input);
        }
        catch (ObjectDisposedException)
        {
            _input.Failure = SocketError.OperationAborted;
        }

        if (!isPending)
        {
            _input.IsPending = false;
        }

        return isPending;
    }

    public override WireStatus FinishWait() => _input is null ? WireStatus.Done : Finish(_input);

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

    public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
    {
        sent = Socket.Send(bytes, SocketFlags.None, out SocketError error);
        return error == SocketError.Success ? WireStatus.Done : Classify(error);
    }

    public override bool Gathers => true;

    public override WireStatus Send(IList<ArraySegment<byte>> pieces, out int sent)
    {
        sent = Socket.Send(pieces, SocketFlags.None, out SocketError error);
        return error == SocketError.Success ? WireStatus.Done : Classify(error);
    }

    public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
    {
        _output ??= new Signal(this, isInput: false);
        _output.SetBuffer(MemoryMarshal.AsMemory(bytes));
        _output.IsPending = true;
        return Socket.SendAsync(_output);
    }

    public override WireStatus FinishSend()
    {
        SentBytes = _output!.BytesTransferred;
        // Otherwise the operation would keep the memory until the next pending send: megabytes a connection after long messages.
        _output.SetBuffer(default);
        return Finish(_output);
    }

    public override WireStatus EndSending(WireEnd end) => TryShutDown() ? WireStatus.Done : WireStatus.Failed;

    public override void Dispose()
    {
        IsDisposed = true;
        Socket.Dispose();

        DisposeIdle(_input);
        DisposeIdle(_output);
    }

    public override void AvoidReset() => TryShutDown();

    protected virtual void OnInput() => Events.OnInput();

    protected bool TryShutDown()
    {
        try
        {
            Socket.Shutdown(SocketShutdown.Send);
            return true;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return false; // Closed already.
        }
    }

    private static EndPoint? AddressOf(Socket socket, bool remote)
    {
        try
        {
            return remote ? socket.RemoteEndPoint : socket.LocalEndPoint;
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return null;
        }
    }

    /// <summary>"localhost:uid:gid:pid" of the process that connected or listened: the native core's Peer-Address.</summary>
    private static string IpcPeerOf(Socket socket)
    {
        const int SocketLevel = 1;
        const int PeerCredentials = 17;
        if (!OperatingSystem.IsLinux() || socket.AddressFamily != AddressFamily.Unix)
        {
            return "";
        }

        try
        {
            Span<int> credentials = stackalloc int[3]; // struct ucred: pid, uid, gid.
            int length = socket.GetRawSocketOption(SocketLevel, PeerCredentials, MemoryMarshal.AsBytes(credentials));
            return length != sizeof(int) * credentials.Length
                ? ""
                : string.Create(CultureInfo.InvariantCulture, $"localhost:{(uint)credentials[1]}:{(uint)credentials[2]}:{credentials[0]}");
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            return ""; // Disconnected already.
        }
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
        if (IsDisposed)
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

    /// <summary>
    /// A reused operation without capture of the execution context, which costs on every operation and would bring AsyncLocals to a shard.
    /// </summary>
    private sealed class Signal(SocketWire wire, bool isInput) : SocketAsyncEventArgs(unsafeSuppressExecutionContextFlow: true)
    {
        private volatile bool _isPending;

        public bool IsPending { get => _isPending; set => _isPending = value; }

        public SocketError Failure { get; set; }

        protected override void OnCompleted(SocketAsyncEventArgs e)
        {
            if (isInput)
            {
                IsPending = false;
                wire.OnInput();
            }
            else
            {
                wire.Events.OnSent();
            }
        }
    }
}
