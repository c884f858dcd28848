using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

/// <summary>Key and reply (RFC 6455, 1.3) only prove that the peer read the request and speaks WebSocket.</summary>
internal static class WebSocketKey
{
    public const int Length = 24;

    private const int KeyBytes = 16;

    private const string FixedByTheRfc = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    public static string Create() => Convert.ToBase64String(RandomNumberGenerator.GetBytes(KeyBytes));

    public static bool IsValid(string key) => key.Length == Length
        && Convert.TryFromBase64String(key, stackalloc byte[KeyBytes + 2], out int decoded) && decoded == KeyBytes;

    [SuppressMessage("Security", "CA5350", Justification = "RFC 6455 prescribes SHA-1; no secret depends on it.")]
    public static string AcceptFor(string key) =>
        Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes($"{key}{FixedByTheRfc}")));
}
