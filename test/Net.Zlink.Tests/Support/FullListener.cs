using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>A listener whose queue is full: a further connect to it hangs, as to a host behind a firewall that drops.</summary>
internal sealed class FullListener : IDisposable
{
    private readonly Socket _socket = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _fillers = [];

    public FullListener()
    {
        _socket.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _socket.Listen(0);
        Endpoint = $"tcp://{_socket.LocalEndPoint}";
        EndPoint address = _socket.LocalEndPoint!;

        // A queue of length 0 still holds a connection or two; from then on the system ignores further ones.
        for (int i = 0; i < 4; i++)
        {
            var filler = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
            _fillers.Add(filler);
            _ = filler.ConnectAsync(address).ContinueWith(static task => _ = task.Exception, TaskScheduler.Default);
        }
    }

    public string Endpoint { get; }

    public void Dispose()
    {
        _fillers.ForEach(static filler => filler.Dispose());
        _socket.Dispose();
    }
}
