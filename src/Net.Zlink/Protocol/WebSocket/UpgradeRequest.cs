using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

/// <summary>The HTTP request that asks for a WebSocket: written by the side that connects, judged by the side that listens (docs/protocol.md, ws). Pure.</summary>
/// <param name="Refusal">The status to refuse it with; 0 when it is fine.</param>
/// <param name="Reason">One sentence for the peer: what is wrong with it; empty when it is fine.</param>
/// <param name="Key">The peer's key; empty when it is refused.</param>
/// <param name="Path">What it asks for, without the query.</param>
/// <param name="Query">What stands behind the path, from the question mark on; empty: nothing.</param>
/// <param name="Origin">The page that a browser sends it for; null from those who are none.</param>
internal readonly record struct UpgradeRequest(int Refusal, string Reason, string Key, string Path, string Query, string? Origin)
{
    /// <summary>What it cannot make sense of.</summary>
    public const int BadRequest = 400;

    /// <summary>It asks for another version of the protocol.</summary>
    public const int UpgradeRequired = 426;

    /// <summary>Judges a whole head. Extensions and sub-protocols that it offers are not taken up; path and origin are for the caller to judge.</summary>
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
            return Refuse("The method of a WebSocket request is GET");
        }

        if (!line[(last + 1)..].SequenceEqual("HTTP/1.1"u8))
        {
            return Refuse("The HTTP version of a WebSocket request is 1.1");
        }

        if (target.IsEmpty || target[0] != '/')
        {
            return Refuse("The request target is a path, or an address with http or https");
        }

        if (HttpHead.Find(head, "Host"u8, out _) != 1)
        {
            return Refuse("There is exactly one Host field");
        }

        int lengths = HttpHead.Find(head, "Content-Length"u8, out ReadOnlySpan<byte> length);
        if (lengths > 1 || (lengths == 1 && !length.SequenceEqual("0"u8)))
        {
            return Refuse("A WebSocket request has no body");
        }

        if (HttpHead.Find(head, "Transfer-Encoding"u8, out _) > 0)
        {
            return Refuse("A WebSocket request has no body");
        }

        if (!HttpHead.Lists(head, "Connection"u8, "upgrade"u8) || !HttpHead.Lists(head, "Upgrade"u8, "websocket"u8))
        {
            return Refuse("This is a WebSocket server: the fields Connection: Upgrade and Upgrade: websocket are missing");
        }

        if (HttpHead.Find(head, "Sec-WebSocket-Key"u8, out ReadOnlySpan<byte> key) != 1 || !WebSocketKey.IsValid(key))
        {
            return Refuse("There is exactly one Sec-WebSocket-Key field, of 16 bytes in base64");
        }

        int versions = HttpHead.Find(head, "Sec-WebSocket-Version"u8, out ReadOnlySpan<byte> version);
        if (versions != 1)
        {
            return Refuse("There is exactly one Sec-WebSocket-Version field");
        }

        if (!version.SequenceEqual("13"u8))
        {
            return new UpgradeRequest(UpgradeRequired, "The WebSocket version spoken here is 13", "", "", "", null);
        }

        int mark = target.IndexOf((byte)'?');
        int origins = HttpHead.Find(head, "Origin"u8, out ReadOnlySpan<byte> origin);
        return origins > 1
            ? Refuse("There is at most one Origin field")
            : new UpgradeRequest(
                0,
                "",
                Encoding.ASCII.GetString(key),
                Encoding.Latin1.GetString(mark < 0 ? target : target[..mark]), // Any byte from 80 on stays what it is: two that differ are two.
                Encoding.Latin1.GetString(mark < 0 ? query : target[mark..]),
                origins == 1 ? Encoding.Latin1.GetString(origin) : null);
    }

    /// <summary>The request as the native core sends it: no origin, no extension, no sub-protocol.</summary>
    /// <param name="authority">Host and port as in the endpoint, an IPv6 address in brackets.</param>
    /// <param name="path">What to ask for, from "/" on.</param>
    /// <param name="key">What <see cref="WebSocketKey.Create"/> gave.</param>
    public static byte[] Write(string authority, string path, string key) => Encoding.ASCII.GetBytes(
        $"GET {path} HTTP/1.1\r\nHost: {authority}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n");

    /// <summary>Path and query of a target, which may name scheme and host in front of them (RFC 6455, 4.2.1). They say no more than the Host field does, which is not compared with anything either.</summary>
    /// <param name="target">As it came.</param>
    /// <param name="query">What stands behind a host alone; it is in no path then.</param>
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

    private static UpgradeRequest Refuse(string reason) => new(BadRequest, reason, "", "", "", null);
}
