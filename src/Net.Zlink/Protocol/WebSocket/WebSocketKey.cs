using System.Buffers.Text;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

/// <summary>Key and reply (RFC 6455, 1.3) only prove that the peer read the request and speaks WebSocket.</summary>
internal static class WebSocketKey
{
    public const int Length = 24;

    private const int KeyBytes = 16;

    public static string Create()
    {
        Span<byte> random = stackalloc byte[KeyBytes];
        RandomNumberGenerator.Fill(random);
        return Convert.ToBase64String(random);
    }

    public static bool IsValid(ReadOnlySpan<byte> key)
    {
        Span<byte> bytes = stackalloc byte[KeyBytes + 2];
        return key.Length == Length
            && Base64.DecodeFromUtf8(key, bytes, out _, out int decoded) == System.Buffers.OperationStatus.Done
            && decoded == KeyBytes;
    }

    [SuppressMessage(
        "Security", "CA5350:Do Not Use Weak Cryptographic Algorithms",
        Justification = "RFC 6455 prescribes SHA-1; no secret depends on it.")]
    public static string AcceptFor(ReadOnlySpan<byte> key)
    {
        // Fixed by RFC 6455.
        ReadOnlySpan<byte> guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"u8;
        Span<byte> text = stackalloc byte[Length + guid.Length];
        key.CopyTo(text);
        guid.CopyTo(text[key.Length..]);
        Span<byte> hash = stackalloc byte[SHA1.HashSizeInBytes];
        SHA1.HashData(text[..(key.Length + guid.Length)], hash);
        return Convert.ToBase64String(hash);
    }

    public static byte[] BytesOf(string key) => Encoding.ASCII.GetBytes(key);
}
