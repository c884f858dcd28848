using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Tests.Support;

/// <summary>Two connected sockets of the test's own, to send a byte the way that all socket events of the process take.</summary>
internal sealed class Pacer : IDisposable
{
    private readonly Socket _sender;
    private readonly Socket _receiver;
    private readonly byte[] _byte = new byte[1];

    private Pacer(Socket sender, Socket receiver)
    {
        _sender = sender;
        _receiver = receiver;
    }

    public static async Task<Pacer> CreateAsync()
    {
        using var listener = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        listener.Listen();
        var sender = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await sender.ConnectAsync(listener.LocalEndPoint!, Guard.Token).Guarded();
        return new Pacer(sender, await listener.AcceptAsync(Guard.Token).Guarded());
    }

    public async Task RoundTripAsync()
    {
        // The receive waits first, so that it ends through the runtime's watcher and not at once.
        Task<int> receiving = _receiver.ReceiveAsync(_byte, SocketFlags.None, Guard.Token).Guarded();
        await _sender.SendAsync(new byte[1], SocketFlags.None, Guard.Token).Guarded();
        await receiving;
    }

    public void Dispose()
    {
        _sender.Dispose();
        _receiver.Dispose();
    }
}
