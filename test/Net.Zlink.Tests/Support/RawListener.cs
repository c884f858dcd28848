using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>A plain listening socket, for tests of the connecting side.</summary>
internal sealed class RawListener : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    public RawListener()
    {
        _socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _socket.Listen();
        Endpoint = $"tcp://{_socket.LocalEndPoint}";
    }

    public string Endpoint { get; }

    /// <summary>True if a connection waits to be accepted.</summary>
    public bool HasPending => _socket.Poll(0, SelectMode.SelectRead);

    public async Task<RawPeer> AcceptAsync() => new(await _socket.AcceptAsync(Guard.Token).Guarded());

    public void Dispose() => _socket.Dispose();

    /// <summary>An endpoint at which nobody listens: its port was free a moment ago.</summary>
    public static string NobodyListens()
    {
        using var listener = new RawListener();
        return listener.Endpoint;
    }
}
