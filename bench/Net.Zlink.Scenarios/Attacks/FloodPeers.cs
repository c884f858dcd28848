using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using System.Security.Cryptography;
using System.Text;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Attacks;

/// <summary>Peers that finish every handshake and then send as fast as they can what is no message. One thread each.</summary>
internal static class FloodPeers
{
    private const int BlockSize = 32 * 1024;
    private const int IdSize = 8;

    private static readonly TimeSpan Pause = TimeSpan.FromMilliseconds(20);

    /// <returns>The bytes that all have sent.</returns>
    public static async Task<long> RunAsync(
        string transport, string kind, int port, int count, Action started, CancellationToken stop)
    {
        FloodBytes bytes = FloodBytes.All.First(one => string.Equals(one.Name, kind, StringComparison.Ordinal));
        long sent = 0;
        using var ready = new CountdownEvent(count);
        Task[] peers = [.. Enumerable.Range(0, count).Select(_ => Task.Factory.StartNew(
            () => Flood(transport, bytes, port, ready, ref sent, stop), CancellationToken.None, TaskCreationOptions.LongRunning,
            TaskScheduler.Default))];
        await Task.Run(() => ready.Wait(stop), stop);
        started();
        await Task.WhenAll(peers);
        return sent;
    }

    private static void Flood(string transport, FloodBytes bytes, int port, CountdownEvent ready, ref long sent, CancellationToken stop)
    {
        bool isReady = false;
        while (!stop.IsCancellationRequested)
        {
            using var client = new TcpClient { NoDelay = true };
            using CancellationTokenRegistration ending = stop.Register(client.Close);
            try
            {
                client.Connect("127.0.0.1", port);
                using Stream stream = Open(transport, client);
                Task discarding = DiscardAsync(stream);
                if (!isReady)
                {
                    isReady = true;
                    ready.Signal();
                }

                byte[] unit = !bytes.IsWebSocket && transport is "ws" or "wss" ? FloodBytes.Message(bytes.Unit) : bytes.Unit;
                stream.Write(bytes.Before);
                byte[] block = bytes.ByteByByte ? unit
                    : [.. Enumerable.Repeat(unit, BlockSize / unit.Length).SelectMany(static one => one)];
                while (!stop.IsCancellationRequested && !discarding.IsCompleted)
                {
                    Write(stream, block, bytes.ByteByByte);
                    Interlocked.Add(ref sent, block.Length);
                }
            }
            catch (Exception e) when (e is IOException or SocketException or ObjectDisposedException or AuthenticationException
                or InvalidOperationException)
            {
                stop.WaitHandle.WaitOne(Pause); // Closed: it comes again.
            }
        }
    }

    private static void Write(Stream stream, byte[] block, bool byteByByte)
    {
        if (!byteByByte)
        {
            stream.Write(block);
            return;
        }

        for (int i = 0; i < block.Length; i++)
        {
            stream.Write(block, i, 1);
        }
    }

    /// <summary>Connects as a DEALER with a routing id of its own.</summary>
    private static Stream Open(string transport, TcpClient client)
    {
        Stream stream = client.GetStream();
        if (transport is "tls" or "wss")
        {
            var tls = new SslStream(stream, leaveInnerStreamOpen: false);
            tls.AuthenticateAsClient(new SslClientAuthenticationOptions
            {
                TargetHost = Certificates.Host,
#pragma warning disable CA5359 // An attacker trusts everybody.
                RemoteCertificateValidationCallback = static (_, _, _, _) => true,
#pragma warning restore CA5359
            });
            stream = tls;
        }

        byte[] hello = [0x5A, 1, 2, 0, 0, 0, 0, 3 + IdSize, 1, 5, IdSize, .. RandomNumberGenerator.GetBytes(IdSize),
            0x5A, 1, 2, 0, 0, 0, 0, 1, 4];
        if (transport is "ws" or "wss")
        {
            stream.Write(Encoding.ASCII.GetBytes("GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                + $"Sec-WebSocket-Key: {Convert.ToBase64String(RandomNumberGenerator.GetBytes(16))}\r\nSec-WebSocket-Version: 13\r\n\r\n"));
            hello = FloodBytes.Message(hello);
        }

        stream.Write(hello);
        return stream;
    }

    private static async Task DiscardAsync(Stream stream)
    {
        byte[] buffer = new byte[BlockSize];
        try
        {
            while (await stream.ReadAsync(buffer) > 0)
            {
                // An answer to nothing.
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException or InvalidOperationException)
        {
            // Closed.
        }
    }
}
