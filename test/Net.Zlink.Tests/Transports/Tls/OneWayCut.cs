using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Carries one connection to a server, and ends it on both sides when so many bytes have gone one way.</summary>
internal sealed class OneWayCut : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
    private readonly IPEndPoint _server;
    private readonly bool _cutsClient;
    private readonly long _after;

    /// <param name="server">Where the server listens.</param>
    /// <param name="cutsClient">Counts what the client sends; otherwise what the server sends.</param>
    /// <param name="after">Bytes to let through.</param>
    public OneWayCut(IPEndPoint server, bool cutsClient, long after)
    {
        (_server, _cutsClient, _after) = (server, cutsClient, after);
        _listener.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        _listener.Listen();
    }

    public int Port => ((IPEndPoint)_listener.LocalEndPoint!).Port;

    /// <summary>Bytes that the counted side has sent.</summary>
    public long Counted { get; private set; }

    /// <summary>Carries one connection to its end.</summary>
    public async Task RunAsync()
    {
        using Socket client = await _listener.AcceptAsync(Guard.Token).Guarded();
        using var server = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp) { NoDelay = true };
        await server.ConnectAsync(_server, Guard.Token).Guarded();
        Task one = CarryAsync(client, server, _cutsClient);
        Task other = CarryAsync(server, client, !_cutsClient);
        await Task.WhenAll(one, other).Guarded();
    }

    public void Dispose() => _listener.Dispose();

    private async Task CarryAsync(Socket from, Socket to, bool counts)
    {
        byte[] buffer = new byte[16 * 1024];
        try
        {
            int read;
            while ((read = await from.ReceiveAsync(buffer, SocketFlags.None, Guard.Token)) > 0)
            {
                long left = counts ? _after - Counted : long.MaxValue;
                int length = (int)Math.Min(read, left);
                if (length > 0)
                {
                    await to.SendAsync(buffer.AsMemory(0, length), SocketFlags.None, Guard.Token);
                }

                Counted += counts ? length : 0;
                if (counts && Counted >= _after)
                {
                    from.Dispose();
                    to.Dispose();
                    return;
                }
            }

            to.Shutdown(SocketShutdown.Send);
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The other way was cut, or one side broke its connection.
            from.Dispose();
            to.Dispose();
        }
    }
}
