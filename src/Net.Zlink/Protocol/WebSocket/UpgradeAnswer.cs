using System.Globalization;
using System.Net;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

internal static class UpgradeAnswer
{
    public const string SubProtocolField = "Sec-WebSocket-Protocol";

    private const int LongestPhrase = 250;

    public static byte[] Accept(string key, string? subProtocol = null) => Encoding.ASCII.GetBytes(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
        $"Sec-WebSocket-Accept: {WebSocketKey.AcceptFor(key)}\r\n" +
        $"{(subProtocol is null ? "" : $"{SubProtocolField}: {subProtocol}\r\n")}\r\n");

    /// <summary>The reason stands in the status line, too: programs show that.</summary>
    public static byte[] Refuse(int status, string reason)
    {
        string version = status == (int)HttpStatusCode.UpgradeRequired ? "Sec-WebSocket-Version: 13\r\n" : "";
        return Encoding.ASCII.GetBytes(string.Create(
            CultureInfo.InvariantCulture,
                $"HTTP/1.1 {status} {reason}\r\n{version}Connection: close\r\nContent-Type: text/plain\r\n" +
                $"Content-Length: {reason.Length}\r\n\r\n{reason}"));
    }

    public static string? Classify(
        ReadOnlySpan<byte> head, string key, IEnumerable<string> offered, out string? subProtocol)
    {
        subProtocol = null;
        ReadOnlySpan<byte> line = HttpHead.FirstLine(head);
        if (!HttpHead.IsWellFormed(head) || !line.StartsWith("HTTP/1.1 "u8))
        {
            return "the answer to the upgrade is not well-formed HTTP/1.1";
        }

        ReadOnlySpan<byte> status = line["HTTP/1.1 ".Length..];
        if (!status.StartsWith("101"u8) || (status.Length > 3 && status[3] != ' '))
        {
            return $"the server refused the upgrade: {Encoding.ASCII.GetString(status[..Math.Min(status.Length, LongestPhrase)])}";
        }

        // A request may offer several protocols, a response names the chosen ones: none but websocket was offered (RFC 6455, 4.1).
        if (HttpHead.Find(head, "Upgrade"u8, out ReadOnlySpan<byte> upgrade) != 1
            || !Ascii.EqualsIgnoreCase(upgrade, "websocket"u8)
            || !HttpHead.Lists(head, "Connection", "upgrade"))
        {
            return "the server switched to a protocol other than WebSocket";
        }

        if (HttpHead.Find(head, "Sec-WebSocket-Accept"u8, out ReadOnlySpan<byte> accept) != 1
            || !accept.SequenceEqual(Encoding.ASCII.GetBytes(WebSocketKey.AcceptFor(key))))
        {
            return "the server's Sec-WebSocket-Accept does not match this side's key";
        }

        bool hasExtras = HttpHead.Find(head, "Sec-WebSocket-Extensions"u8, out _) > 0;
        if (HttpHead.Find(head, "Sec-WebSocket-Protocol"u8, out ReadOnlySpan<byte> chosen) is var protocols and > 0)
        {
            subProtocol = Encoding.Latin1.GetString(chosen);
            hasExtras |= protocols > 1 || !offered.Contains(subProtocol, StringComparer.Ordinal);
        }

        return hasExtras
            ? "the server chose an extension or a sub-protocol that was not offered"
            : null;
    }
}
