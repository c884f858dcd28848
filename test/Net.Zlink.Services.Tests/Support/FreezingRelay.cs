using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Services.Tests;

/// <summary>Stands in front of a bound tcp endpoint. Told to freeze, it goes on reading what comes by the connections of that moment and
/// passes nothing on, as a machine that is gone; later connections are passed on to another endpoint.</summary>
internal sealed class FreezingRelay : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly List<Socket> _sockets = [];
    private EndPoint _target;
    private int _generation;

    public FreezingRelay(string boundEndpoint)
    {
        _target = RawPeer.EndPointOf(boundEndpoint);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
        _ = AcceptAsync();
    }

    public string Endpoint => $"tcp://{_listener.LocalEndPoint}";

    public void Freeze(string nextBoundEndpoint)
    {
        _target = RawPeer.EndPointOf(nextBoundEndpoint);
        Interlocked.Increment(ref _generation);
    }

    public void Dispose()
    {
        _listener.Dispose();
        lock (_sockets)
        {
            _sockets.ForEach(static socket => socket.Dispose());
        }
    }

    private async Task AcceptAsync()
    {
        try
        {
            while (true)
            {
                Socket near = await _listener.AcceptAsync();
                var far = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
                near.NoDelay = true;
                lock (_sockets)
                {
                    _sockets.AddRange([near, far]);
                }

                await far.ConnectAsync(_target);
                int generation = Volatile.Read(ref _generation);
                _ = PumpAsync(near, far, generation);
                _ = PumpAsync(far, near, generation);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The test is over.
        }
    }

    private async Task PumpAsync(Socket from, Socket to, int generation)
    {
        byte[] buffer = new byte[32 * 1024];
        try
        {
            for (int count = 1; count > 0;)
            {
                count = await from.ReceiveAsync(buffer);
                for (int sent = 0; sent < count && Volatile.Read(ref _generation) == generation;)
                {
                    sent += await to.SendAsync(buffer.AsMemory(sent, count - sent));
                }
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Either end has gone.
        }
    }
}
