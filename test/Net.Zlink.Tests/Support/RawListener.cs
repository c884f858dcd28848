using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>A plain listening socket, for tests of the connecting side.</summary>
internal sealed class RawListener : IDisposable
{
    private static int s_addresses;
    private readonly Socket _socket;

    public RawListener()
        : this(IPAddress.Loopback)
    {
    }

    /// <summary>Listens at a port of the system's choice.</summary>
    public RawListener(IPAddress address)
    {
        _socket = new Socket(address.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        _socket.Bind(new IPEndPoint(address, 0));
        _socket.Listen();
        Endpoint = $"tcp://{_socket.LocalEndPoint}";
    }

    public string Endpoint { get; }

    /// <summary>True if a connection waits to be accepted.</summary>
    public bool HasPending => _socket.Poll(0, SelectMode.SelectRead);

    public async Task<RawPeer> AcceptAsync() => new(await _socket.AcceptAsync(Guard.Token).Guarded());

    public void Dispose() => _socket.Dispose();

    /// <summary>
    /// An endpoint at which nobody listens, for a test that binds it later. Its address is nobody else's: at 127.0.0.1 the tests beside
    /// this one would be given its port, for a listener, which then
    /// answers the dialling client, or for an outgoing connection, which keeps the port from being bound.
    /// </summary>
    public static string NobodyListens() => FreeAt(OwnAddress());

    /// <summary>An endpoint whose port was free at 127.0.0.1 a moment ago, for a test that needs this very address.</summary>
    public static string FreeAtLoopback() => FreeAt(IPAddress.Loopback);

    private static string FreeAt(IPAddress address)
    {
        using var listener = new RawListener(address);
        return listener.Endpoint;
    }

    /// <summary>An address of this machine for one test of one process. macOS has none but 127.0.0.1.</summary>
    private static IPAddress OwnAddress()
    {
        int number = Interlocked.Increment(ref s_addresses);
        return OperatingSystem.IsMacOS()
            ? IPAddress.Loopback
            : new IPAddress([127, (byte)(1 + (Environment.ProcessId % 254)), (byte)(number / 250), (byte)(1 + (number % 250))]);
    }
}
