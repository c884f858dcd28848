using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Conformance.Tests.Replay.WebSocket;

/// <summary>The two values of an upgrade that belong together: the request's key and what the answer makes of it (RFC 6455, section
/// 4.2.2).</summary>
internal static class WsUpgrade
{
    public const string KeyHeader = "sec-websocket-key";
    public const string AcceptHeader = "sec-websocket-accept";

    private const int KeySize = 16;
    private const string Guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    /// <summary>True for the base64 of 16 bytes.</summary>
    public static bool IsKey(string key)
    {
        Span<byte> bytes = stackalloc byte[KeySize];
        return key.Length == 24 && Convert.TryFromBase64String(key, bytes, out int count) && count == KeySize;
    }

#pragma warning disable CA5350 // SHA-1 is what RFC 6455 says; it protects nothing.
    public static string Accept(string key) => Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(key + Guid)));
#pragma warning restore CA5350
}
