using System.Globalization;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

/// <summary>The HTTP answer to an upgrade request: written by the side that listens, judged by the side that connects (docs/protocol.md, ws). Pure.</summary>
internal static class UpgradeAnswer
{
    // A refusal's reason phrase goes into an error text: so much of it.
    private const int LongestPhrase = 100;

    /// <summary>The answer that takes a request.</summary>
    public static byte[] Accept(ReadOnlySpan<byte> key) => Encoding.ASCII.GetBytes(
        $"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {WebSocketKey.AcceptFor(key)}\r\n\r\n");

    /// <summary>The answer that refuses one, with a sentence for whoever reads it.</summary>
    public static byte[] Refuse(int status, string reason)
    {
        string phrase = status switch
        {
            UpgradeRequest.UpgradeRequired => "Upgrade Required",
            400 => "Bad Request",
            401 => "Unauthorized",
            403 => "Forbidden",
            404 => "Not Found",
            429 => "Too Many Requests",
            500 => "Internal Server Error",
            503 => "Service Unavailable",
            _ => "Refused", // What the application chose: the phrase is for people.
        };
        string version = status == UpgradeRequest.UpgradeRequired ? "Sec-WebSocket-Version: 13\r\n" : "";
        return Encoding.ASCII.GetBytes(string.Create(
            CultureInfo.InvariantCulture,
            $"HTTP/1.1 {status} {phrase}\r\n{version}Connection: close\r\nContent-Type: text/plain\r\nContent-Length: {reason.Length}\r\n\r\n{reason}"));
    }

    /// <summary>Judges a whole head. Null: it takes the request; otherwise one sentence that says why not.</summary>
    public static string? Classify(ReadOnlySpan<byte> head, ReadOnlySpan<byte> key)
    {
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

        // A request may offer several protocols; an answer names what is spoken from here on, and in front of or beside websocket that would be something nobody asked for (RFC 6455, 4.1).
        if (HttpHead.Find(head, "Upgrade"u8, out ReadOnlySpan<byte> upgrade) != 1 || !Ascii.EqualsIgnoreCase(upgrade, "websocket"u8) || !HttpHead.Lists(head, "Connection"u8, "upgrade"u8))
        {
            return "the server switched to something that is no WebSocket";
        }

        if (HttpHead.Find(head, "Sec-WebSocket-Accept"u8, out ReadOnlySpan<byte> accept) != 1 || !accept.SequenceEqual(Encoding.ASCII.GetBytes(WebSocketKey.AcceptFor(key))))
        {
            return "the server's Sec-WebSocket-Accept does not answer our key";
        }

        return HttpHead.Find(head, "Sec-WebSocket-Extensions"u8, out _) > 0 || HttpHead.Find(head, "Sec-WebSocket-Protocol"u8, out _) > 0
            ? "the server chose an extension or a sub-protocol that was not offered"
            : null;
    }
}
