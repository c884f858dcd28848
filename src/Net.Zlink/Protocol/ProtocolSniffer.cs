using System.Buffers.Binary;

namespace Net.Zlink.Protocol;

/// <summary>Recognises, by its first bytes, what a peer speaks that does not speak what it should: for people who look for a wrong port.</summary>
internal static class ProtocolSniffer
{
    private static readonly string[] s_http = ["GET ", "POST", "PUT ", "HEAD", "OPTI", "CONN", "PRI ", "HTTP"];

    /// <summary>What it looks like, as the end of a sentence; null: nothing that is known.</summary>
    /// <param name="first">The peer's first bytes, four or more.</param>
    public static string? Of(ReadOnlySpan<byte> first)
    {
        if (first.Length < sizeof(uint))
        {
            return null;
        }

        uint word = BinaryPrimitives.ReadUInt32BigEndian(first);
        return word switch
        {
            >= 0x16030000 and <= 0x160304FF or >= 0x15030000 and <= 0x150304FF => "it looks like TLS: one side's endpoint is tls or wss, and the other's is not",
            0x5A010200 => "it looks like ZMP, which PAIR, PUB, DEALER and their kind speak: STREAM does not talk to them",
            0xFF000000 => "it looks like ZMTP, the protocol of ZeroMQ, which is another one than ZMP",
            0x5353482D => "it looks like SSH",
            _ => IsHttp(first) ? "it looks like HTTP" : null,
        };
    }

    private static bool IsHttp(ReadOnlySpan<byte> first)
    {
        string text = System.Text.Encoding.Latin1.GetString(first[..sizeof(uint)]);
        return Array.Exists(s_http, begin => string.Equals(begin, text, StringComparison.Ordinal));
    }
}
