using System.Net;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

internal readonly record struct UpgradeRequest(int Refusal, string Reason, string Key, string Path, string Query, string? Origin)
{
    /// <summary>The caller checks path and origin.</summary>
    public static UpgradeRequest Parse(ReadOnlySpan<byte> head)
    {
        ReadOnlySpan<byte> line = HttpHead.FirstLine(head);
        int first = line.IndexOf((byte)' ');
        int last = line.LastIndexOf((byte)' ');
        if (first < 0 || last == first || line[(first + 1)..last].Contains((byte)' ') || !HttpHead.IsWellFormed(head))
        {
            return Refuse("The request is not well-formed HTTP");
        }

        ReadOnlySpan<byte> target = WithoutHost(line[(first + 1)..last], out ReadOnlySpan<byte> query);
        if (!line[..first].SequenceEqual("GET"u8))
        {
            return Refuse("The method of a WebSocket request must be GET");
        }

        if (!line[(last + 1)..].SequenceEqual("HTTP/1.1"u8))
        {
            return Refuse("The HTTP version of a WebSocket request must be 1.1");
        }

        if (target.IsEmpty || target[0] != '/')
        {
            return Refuse("The request target must be a path, or an address with http or https");
        }

        if (HttpHead.Find(head, "Host"u8, out _) != 1)
        {
            return Refuse("The request must have exactly one Host field");
        }

        int lengths = HttpHead.Find(head, "Content-Length"u8, out ReadOnlySpan<byte> length);
        if (lengths > 1 || (lengths == 1 && !length.SequenceEqual("0"u8)) || HttpHead.Find(head, "Transfer-Encoding"u8, out _) > 0)
        {
            return Refuse("A WebSocket request must not have a body");
        }

        if (!HttpHead.Lists(head, "Connection", "upgrade") || !HttpHead.Lists(head, "Upgrade", "websocket"))
        {
            return Refuse("This is a WebSocket server: the fields Connection: Upgrade and Upgrade: websocket are missing");
        }

        int keys = HttpHead.Find(head, "Sec-WebSocket-Key"u8, out ReadOnlySpan<byte> key);
        string shown = Encoding.ASCII.GetString(key);
        if (keys != 1 || !WebSocketKey.IsValid(shown))
        {
            return Refuse("The request must have exactly one Sec-WebSocket-Key field, of 16 bytes in base64");
        }

        if (HttpHead.Find(head, "Sec-WebSocket-Version"u8, out ReadOnlySpan<byte> version) != 1)
        {
            return Refuse("The request must have exactly one Sec-WebSocket-Version field");
        }

        if (!version.SequenceEqual("13"u8))
        {
            return Refuse("This server supports WebSocket version 13") with { Refusal = (int)HttpStatusCode.UpgradeRequired };
        }

        int mark = target.IndexOf((byte)'?');
        int origins = HttpHead.Find(head, "Origin"u8, out ReadOnlySpan<byte> origin);
        return origins > 1
            ? Refuse("The request must have at most one Origin field")
            : new UpgradeRequest(
                0,
                "",
                shown,
                Encoding.Latin1.GetString(mark < 0 ? target : target[..mark]),
                Encoding.Latin1.GetString(mark < 0 ? query : target[mark..]),
                origins == 1 ? Encoding.Latin1.GetString(origin) : null);
    }

    public static byte[] Write(string authority, string path, string key, string fields = "") => Encoding.Latin1.GetBytes(
            $"GET {path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
            $"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{fields}\r\n");

    /// <summary>A target may begin with scheme and host (RFC 6455, 4.2.1); neither these nor the Host field are checked.</summary>
    private static ReadOnlySpan<byte> WithoutHost(ReadOnlySpan<byte> target, out ReadOnlySpan<byte> query)
    {
        query = default;
        int scheme = target.IndexOf("://"u8);
        if (scheme < 0 || !(Ascii.EqualsIgnoreCase(target[..scheme], "http"u8) || Ascii.EqualsIgnoreCase(target[..scheme], "https"u8)))
        {
            return target;
        }

        target = target[(scheme + 3)..];
        int host = target.IndexOfAny((byte)'/', (byte)'?');
        if (target.IsEmpty || host == 0)
        {
            return default;
        }

        if (host < 0 || target[host] == '?')
        {
            query = host < 0 ? default : target[host..];
            return "/"u8;
        }

        return target[host..];
    }

    private static UpgradeRequest Refuse(string reason) => new((int)HttpStatusCode.BadRequest, reason, "", "", "", null);
}

/// <summary>
/// A peer's upgrade request: keeps just the bytes, at most 32 KiB, for the connection's life, and parses them on each access.
/// </summary>
internal sealed class UpgradeHead(byte[] head)
{
    public string Path => UpgradeRequest.Parse(head).Path;

    public string Query => UpgradeRequest.Parse(head).Query;

    public string? Origin => UpgradeRequest.Parse(head).Origin;

    public string? Header(string name) => HttpHead.Values(head, name);
}
