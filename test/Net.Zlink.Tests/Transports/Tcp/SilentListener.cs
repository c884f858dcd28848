using System.Net;
using System.Net.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tcp;

/// <summary>A loopback address that neither takes nor refuses connections: it listens with a queue of one, which is full.</summary>
internal sealed class SilentListener : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly Socket _first = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);

    private SilentListener(string address)
    {
        _listener.Bind(new IPEndPoint(IPAddress.Parse(address), 0));
        _listener.Listen(0);
        Port = ((IPEndPoint)_listener.LocalEndPoint!).Port;
        Endpoint = $"tcp://{_listener.LocalEndPoint}";
    }

    public int Port { get; }

    public string Endpoint { get; }

    public static async Task<SilentListener> OpenAsync(string address = "127.0.0.1")
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "other systems refuse connections when the queue is full");
        var silent = new SilentListener(address);
        await silent._first.ConnectAsync(silent._listener.LocalEndPoint!, TestContext.Current.CancellationToken)
            .AsTask().WaitAsync(TcpTest.Guard, TestContext.Current.CancellationToken);

        // Connected for the client is not yet queued for the listener: only then is the queue full.
        Assert.True(silent._listener.Poll(TcpTest.Guard, SelectMode.SelectRead));
        return silent;
    }

    public void Dispose()
    {
        _first.Dispose();
        _listener.Dispose();
    }
}
