using System.Net;
using System.Net.Sockets;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>Over tcp of this machine.</summary>
internal sealed class TcpConnection : PlayedConnection
{
    private readonly Socket _socket;
    private readonly byte[] _chunk = new byte[64 * 1024];

    public TcpConnection(int number, Socket socket, Signal changed, Func<long> clock)
        : base(number, changed, clock)
    {
        _socket = socket;
        socket.Blocking = false; // Receive must say "nothing there", never wait.
        socket.NoDelay = true;   // Every write is a segment of its own.
        LocalPort = ((IPEndPoint)socket.LocalEndPoint!).Port;
        RemotePort = ((IPEndPoint)socket.RemoteEndPoint!).Port;
        _ = ReadAsync();
    }

    public override int LocalPort { get; }

    public override int RemotePort { get; }

    public override void Drain()
    {
        lock (Gate)
        {
            while (End is null && !IsDropped)
            {
                int count = _socket.Receive(_chunk, SocketFlags.None, out SocketError error);
                if (error is SocketError.WouldBlock)
                {
                    return;
                }

                if (error is not SocketError.Success || count == 0)
                {
                    End = error is SocketError.Success ? CloseKind.Fin : CloseKind.Rst;
                    return;
                }

                Add(_chunk.AsSpan(0, count));
            }
        }
    }

    protected override async Task WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellation)
    {
        try
        {
            while (!bytes.IsEmpty && !IsDropped)
            {
                bytes = bytes[await _socket.SendAsync(bytes, cancellation)..];
            }
        }
        catch (SocketException)
        {
            // The other side has closed; its close is seen where it is read.
        }
    }

    protected override void EndSending()
    {
        try
        {
            _socket.Shutdown(SocketShutdown.Send);
        }
        catch (SocketException)
        {
            // Reset by the other side before.
        }
    }

    protected override void Leave(CloseKind how)
    {
        _socket.LingerState = new LingerOption(enable: how is CloseKind.Rst, seconds: 0);
        _socket.Dispose();
    }

    private async Task ReadAsync()
    {
        try
        {
            while (End is null)
            {
                await _socket.ReceiveAsync(Memory<byte>.Empty); // Readable, or ended.
                Drain();
                Changed.Set();
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            Drain();
            if (!IsDropped)
            {
                End ??= CloseKind.Rst;
            }

            Changed.Set();
        }
    }
}
