namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What a raw peer over WebSocket says beside data, made up from a number: its half of the upgrade, and frames that only concern
/// WebSocket.</summary>
/// <param name="random">Decides.</param>
/// <param name="isClient">It connects.</param>
internal sealed class WebSocketSpeech(Random random, bool isClient)
{
    private const string Nonce = "dGhlIHNhbXBsZSBub25jZQ==";

    private static readonly int[] s_codes = [1000, 1001, 1003, 1008, 1011, 3000, 4999];

    /// <summary>Its half of the upgrade, as it should be or as it may be.</summary>
    public string Head()
    {
        List<string> fields = [.. isClient
            ? (string[])["Host: {host}", "Upgrade: websocket", "Connection: Upgrade", $"Sec-WebSocket-Key: {Nonce}",
                "Sec-WebSocket-Version: 13"]
            : ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: {accept}"]];
        if (random.Next(3) == 0)
        {
            Vary(fields);
        }

        return HeadOf(isClient ? $"GET {(random.Next(2) == 0 ? "/" : "/a/b?c=d")} HTTP/1.1" : "HTTP/1.1 101 Switching Protocols", fields);
    }

    /// <summary>A half of the upgrade that must not do.</summary>
    public string BadHead()
    {
        if (isClient)
        {
            return random.Next(6) switch
            {
                0 => HeadOf("GET / HTTP/1.1", ["Host: {host}", "Upgrade: websocket", "Connection: Upgrade", $"Sec-WebSocket-Key: {Nonce}",
                    "Sec-WebSocket-Version: 12"]),
                1 => HeadOf("GET / HTTP/1.1", ["Host: {host}", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]),
                2 => HeadOf("GET / HTTP/1.1", ["Host: {host}", "Connection: Upgrade", $"Sec-WebSocket-Key: {Nonce}",
                    "Sec-WebSocket-Version: 13"]),
                3 => HeadOf("GET / HTTP/1.1", ["Host: {host}", "Upgrade: websocket", $"Sec-WebSocket-Key: {Nonce}",
                    "Sec-WebSocket-Version: 13"]),
                4 => HeadOf("POST / HTTP/1.1", ["Host: {host}", "Upgrade: websocket", "Connection: Upgrade", $"Sec-WebSocket-Key: {Nonce}",
                    "Sec-WebSocket-Version: 13"]),
                _ => "\x16\x03\x01 no HTTP\r\n\r\n",
            };
        }

        return random.Next(6) switch
        {
            0 => HeadOf("HTTP/1.1 404 Not Found", ["Content-Length: 0"]),
            1 => HeadOf("HTTP/1.1 200 OK", ["Content-Length: 0", "Upgrade: websocket", "Connection: Upgrade",
                "Sec-WebSocket-Accept: {accept}"]),
            2 => HeadOf("HTTP/1.1 101 Switching Protocols",
                ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA="]),
            3 => HeadOf("HTTP/1.1 101 Switching Protocols", ["Connection: Upgrade", "Sec-WebSocket-Accept: {accept}"]),
            4 => HeadOf("HTTP/1.1 101 Switching Protocols", ["Upgrade: websocket", "Connection: Upgrade"]),
            _ => "\x16\x03\x01 no HTTP\r\n\r\n",
        };
    }

    /// <summary>A frame that changes nothing.</summary>
    public (string What, byte[] Frame) Harmless()
    {
        byte[] payload = Payload(random.Next(4) == 0 ? 125 : random.Next(8));
        return random.Next(3) == 0 ? ("says pong", Frame(WebSocketTalk.Pong, payload)) : ("pings", Frame(WebSocketTalk.Ping, payload));
    }

    /// <summary>A CLOSE in order.</summary>
    public (string What, byte[] Frame) Close()
    {
        if (random.Next(4) == 0)
        {
            return ("says CLOSE", Frame(WebSocketTalk.Close, []));
        }

        int code = s_codes[random.Next(s_codes.Length)];
        byte[] reason = random.Next(2) == 0 ? [] : "bye"u8.ToArray();
        return ($"says CLOSE {code}", Frame(WebSocketTalk.Close, [(byte)(code >> 8), (byte)code, .. reason]));
    }

    /// <summary>A frame that RFC 6455 forbids.</summary>
    public (string What, byte[] Frame) Forbidden() => random.Next(8) switch
    {
        // As many bytes as a mask has: before these are in, ours looks at nothing.
        0 => (isClient ? "forgets the mask" : "masks",
            WebSocketTalk.Frame(WebSocketTalk.Binary, "four"u8, WebSocketTalk.MaskOf(!isClient, random))),
        1 => ("sets a reserved bit", Frame(WebSocketTalk.Binary | (0x10 << random.Next(3)), "x"u8)),
        2 => ("uses an unknown opcode", Frame(3 + random.Next(5), "x"u8)),
        3 => ("uses an unknown control opcode", Frame(11 + random.Next(5), "x"u8)),
        4 => ("sends a fragment of a ping", WebSocketTalk.Frame(
            WebSocketTalk.Ping, "x"u8, WebSocketTalk.MaskOf(isClient, random), isWhole: false)),
        5 => ("sends too long a ping", Frame(WebSocketTalk.Ping, Payload(126))),
        6 => ("goes on with nothing", Frame(WebSocketTalk.Continuation, "x"u8)),
        _ => ("begins a message within a message",
            [.. WebSocketTalk.Frame(WebSocketTalk.Binary, "x"u8, WebSocketTalk.MaskOf(isClient, random), isWhole: false),
                .. Frame(WebSocketTalk.Binary, "y"u8)]),
    };

    private static string HeadOf(string first, IEnumerable<string> fields) => string.Join("\r\n", [first, .. fields, "", ""]);

    private byte[] Frame(int first, ReadOnlySpan<byte> payload) =>
        WebSocketTalk.Frame(first, payload, WebSocketTalk.MaskOf(isClient, random));

    private byte[] Payload(int length)
    {
        byte[] payload = new byte[length];
        random.NextBytes(payload);
        return payload;
    }

    private void Vary(List<string> fields)
    {
        for (int i = 0; i < fields.Count; i++)
        {
            string[] parts = fields[i].Split(": ");
            fields[i] = random.Next(6) switch
            {
                0 => $"{parts[0].ToLowerInvariant()}: {parts[1]}",
                1 => $"{parts[0].ToUpperInvariant()}:{parts[1]}",
                2 => $"{parts[0]}:  {parts[1]} ",
                3 => fields[i] switch
                {
                    "Connection: Upgrade" => "Connection: keep-alive, upgrade",
                    "Upgrade: websocket" => "Upgrade: WebSocket",
                    _ => fields[i],
                },
                _ => fields[i],
            };
        }

        string[] more = isClient
            ? ["Origin: http://example.invalid", "Sec-WebSocket-Protocol: a, b",
                "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits", "User-Agent: none", "Cookie: a=b"]
            : ["Server: none", "Date: Mon, 23 Nov 2026 00:00:00 GMT"];
        if (random.Next(2) == 0)
        {
            fields.Add(more[random.Next(more.Length)]);
        }

        random.Shuffle(System.Runtime.InteropServices.CollectionsMarshal.AsSpan(fields));
    }
}
