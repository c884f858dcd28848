using System.Net;
using System.Net.Sockets;

namespace ServiceMesh;

/// <summary>The network between two registries: passes bytes on until it is cut, and again when it is mended.</summary>
internal sealed class Relay : IDisposable
{
    private readonly TcpListener _listener = new(IPAddress.Loopback, 0);
    private readonly int _target;
    private readonly Lock _gate = new();
    private readonly List<TcpClient> _connections = [];
    private bool _isCut;

    /// <param name="target">The port of this machine that connections are passed on to.</param>
    public Relay(int target)
    {
        _target = target;
        _listener.Start();
        _ = AcceptAsync();
    }

    public string Endpoint => $"tcp://127.0.0.1:{((IPEndPoint)_listener.LocalEndpoint).Port}";

    /// <summary>Ends the connections; new ones end at once.</summary>
    public void Cut()
    {
        lock (_gate)
        {
            _isCut = true;
            _connections.ForEach(static connection => connection.Dispose());
            _connections.Clear();
        }
    }

    public void Mend()
    {
        lock (_gate)
        {
            _isCut = false;
        }
    }

    public void Dispose()
    {
        Cut();
        _listener.Dispose();
    }

    private async Task AcceptAsync()
    {
        while (true)
        {
            TcpClient near;
            try
            {
                near = await _listener.AcceptTcpClientAsync();
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                return;
            }

            _ = PassAsync(near);
        }
    }

    private async Task PassAsync(TcpClient near)
    {
        using TcpClient far = new();
        using (near)
        {
            lock (_gate)
            {
                if (_isCut)
                {
                    return;
                }

                _connections.AddRange([near, far]);
            }

            try
            {
                await far.ConnectAsync(IPAddress.Loopback, _target);
                await Task.WhenAny(near.GetStream().CopyToAsync(far.GetStream()), far.GetStream().CopyToAsync(near.GetStream()));
            }
            catch (Exception e) when (e is SocketException or IOException or ObjectDisposedException)
            {
                // One side has ended, or nobody listens there now: the other side ends too.
            }
        }

        lock (_gate)
        {
            _connections.Remove(near);
            _connections.Remove(far);
        }
    }
}
