using System.Net.WebSockets;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Scenarios.Wire;

/// <summary>The HTTP exchange before a WebSocket (RFC 6455 section 4), over any stream: what follows it is
/// <see cref="WebSocket"/>'s.</summary>
internal static class WebSocketUpgrade
{
    // The number that RFC 6455 section 1.3 has every server add to the key.
    private const string Magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    // Beyond this it is no upgrade of anybody who speaks to a measuring program.
    private const int LongestHead = 8192;

    private static readonly byte[] HeadEnd = "\r\n\r\n"u8.ToArray();

    public static async Task<WebSocket> AsClientAsync(Stream stream, Address address, CancellationToken cancellation)
    {
        string key = Convert.ToBase64String(RandomNumberGenerator.GetBytes(16));
        string request = $"GET {address.Path} HTTP/1.1\r\nHost: {address.Host}:{address.Port}\r\nUpgrade: websocket\r\nConnection: "
            + $"Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n";
        await stream.WriteAsync(Encoding.ASCII.GetBytes(request), cancellation);
        string head = await ReadHeadAsync(stream, cancellation);
        if (!head.StartsWith("HTTP/1.1 101", StringComparison.Ordinal)
            || !string.Equals(Header(head, "Sec-WebSocket-Accept"), AcceptOf(key), StringComparison.Ordinal))
        {
            throw new IOException($"The server refused the upgrade: {head.Split('\r')[0]}");
        }

        return WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = false, KeepAliveInterval = TimeSpan.Zero });
    }

    public static async Task<WebSocket> AsServerAsync(Stream stream, CancellationToken cancellation)
    {
        string head = await ReadHeadAsync(stream, cancellation);
        string key = Header(head, "Sec-WebSocket-Key") ?? throw new IOException("No upgrade.");
        string response = $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            + $"{AcceptOf(key)}\r\n\r\n";
        await stream.WriteAsync(Encoding.ASCII.GetBytes(response), cancellation);
        return WebSocket.CreateFromStream(stream, new WebSocketCreationOptions { IsServer = true, KeepAliveInterval = TimeSpan.Zero });
    }

    /// <summary>Byte by byte, once per connection: what is behind the head is the WebSocket's.</summary>
    private static async Task<string> ReadHeadAsync(Stream stream, CancellationToken cancellation)
    {
        byte[] head = new byte[LongestHead];
        for (int length = 0; length < head.Length; length++)
        {
            if (await stream.ReadAsync(head.AsMemory(length, 1), cancellation) == 0)
            {
                throw new IOException("The connection ended during the upgrade.");
            }

            if (head.AsSpan(0, length + 1).EndsWith(HeadEnd))
            {
                return Encoding.ASCII.GetString(head, 0, length + 1);
            }
        }

        throw new IOException("The head of the upgrade has no end.");
    }

    private static string? Header(string head, string name) =>
        head.Split("\r\n").FirstOrDefault(line => line.StartsWith(name + ":", StringComparison.OrdinalIgnoreCase))?[(name.Length + 1)..]
            .Trim();

#pragma warning disable CA5350 // RFC 6455 asks for SHA-1, and not for security.
    private static string AcceptOf(string key) => Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + Magic)));
#pragma warning restore CA5350
}
