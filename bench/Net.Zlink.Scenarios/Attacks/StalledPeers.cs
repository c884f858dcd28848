using System.Net;
using System.Net.Sockets;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Peers that begin a handshake, never finish it, and come again when they are closed.</summary>
internal static class StalledPeers
{
    public const string Kind = "stall";

    // All peers together, once each has connected.
    private const int ConnectsPerSecond = 200;

    private static readonly TimeSpan Tick = TimeSpan.FromMilliseconds(5);

    // The first bytes of a ClientHello that announces 512, and a request without its end.
    private static readonly byte[] s_hello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3];
    private static readonly byte[] s_request = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: web"u8.ToArray();

    /// <returns>The connects after the first ones.</returns>
    public static async Task<long> RunAsync(string transport, int port, int count, Action started, CancellationToken stop)
    {
        byte[] bytes = transport is "ws" ? s_request : s_hello;
        using var closed = new SemaphoreSlim(0);
        for (int i = 0; i < count; i++)
        {
            _ = StallAsync(bytes, port, closed);
        }

        started();
        long connects = 0;
        double allowed = 0;
        using var timer = new PeriodicTimer(Tick);
        try
        {
            while (await timer.WaitForNextTickAsync(stop))
            {
                for (allowed += ConnectsPerSecond * Tick.TotalSeconds; allowed >= 1 && closed.Wait(0, CancellationToken.None); allowed--)
                {
                    _ = StallAsync(bytes, port, closed);
                    connects++;
                }

                allowed = Math.Min(allowed, ConnectsPerSecond);
            }
        }
        catch (OperationCanceledException)
        {
            // Told to end.
        }

        return connects;
    }

    private static async Task StallAsync(byte[] bytes, int port, SemaphoreSlim closed)
    {
        using (var socket = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp))
        {
            try
            {
                await socket.ConnectAsync(IPAddress.Loopback, port);
                await socket.SendAsync(bytes);
                await socket.ReceiveAsync(new byte[1]); // Nothing comes but the end.
            }
            catch (SocketException)
            {
                // Reset or refused: it comes again as well.
            }
        }

        closed.Release();
    }
}
