using System.Buffers.Binary;

namespace Net.Zlink.Protocol;

internal static class ProtocolSniffer
{
    private static readonly string[] s_http = ["GET ", "POST", "PUT ", "HEAD", "OPTI", "CONN", "PRI ", "HTTP"];

    public static string? Of(ReadOnlySpan<byte> firstBytes)
    {
        if (firstBytes.Length < sizeof(uint))
        {
            return null;
        }

        uint word = BinaryPrimitives.ReadUInt32BigEndian(firstBytes);
        return word switch
        {
            >= 0x16030000 and <= 0x160304FF or >= 0x15030000 and <= 0x150304FF =>
                "it looks like TLS: one side's endpoint is tls or wss, and the other's is not",
            0x5A010200 => "it looks like ZMP, the protocol of all socket types but STREAM",
            0xFF000000 => "it looks like ZMTP, the protocol of ZeroMQ, which is not compatible with ZMP",
            0x5353482D => "it looks like SSH",
            _ => IsHttp(firstBytes) ? "it looks like HTTP" : null,
        };
    }

    private static bool IsHttp(ReadOnlySpan<byte> firstBytes)
    {
        string text = System.Text.Encoding.Latin1.GetString(firstBytes[..sizeof(uint)]);
        return Array.Exists(s_http, begin => string.Equals(begin, text, StringComparison.Ordinal));
    }
}
