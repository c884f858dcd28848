using System.Net;
using System.Net.Sockets;
using System.Threading.Channels;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Conformance.Tests.Replay.Played;

/// <summary>The played side's listener: takes every connection at once, and hands them out in the order in which they came.</summary>
internal sealed class PlayedListener : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Channel<Socket> _accepted = Channel.CreateUnbounded<Socket>();
    private readonly Signal _changed;
    private int _seen;

    public PlayedListener(Signal changed)
    {
        _changed = changed;
        Port = FreePort.Next();
        _socket.Bind(new IPEndPoint(IPAddress.Loopback, Port));
        _socket.Listen();
        _ = AcceptAsync();
    }

    public int Port { get; }

    /// <summary>How many connections have come so far.</summary>
    public int Seen => Volatile.Read(ref _seen);

    public bool TryTake(out Socket? socket) => _accepted.Reader.TryRead(out socket);

    public void Dispose()
    {
        _socket.Dispose();
        while (_accepted.Reader.TryRead(out Socket? left))
        {
            left.Dispose();
        }
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                Socket socket = await _socket.AcceptAsync();
                Interlocked.Increment(ref _seen);
                _accepted.Writer.TryWrite(socket);
                _changed.Set();
            }
        }
        catch (Exception fault) when (fault is SocketException or ObjectDisposedException)
        {
            // The listener was closed.
        }
    }
}
