namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>One case of RFC 6455: what a raw peer says after the upgrade.</summary>
/// <param name="Id">The section of the RFC, and a number.</param>
/// <param name="Title">What is said.</param>
/// <param name="Bytes">The bytes.</param>
internal sealed record ConformanceCase(string Id, string Title, byte[] Bytes);

/// <summary>The cases, by section of RFC 6455: framing of all lengths, reserved bits and opcodes, fragments, control frames in between,
/// close codes, UTF-8.</summary>
/// <param name="masked">A client says them; otherwise a server.</param>
internal sealed class ConformanceCases(bool masked)
{
    private const int Fin = RawWebSocket.Fin;
    private const int Text = RawWebSocket.Text;
    private const int Binary = RawWebSocket.Binary;
    private const int Close = RawWebSocket.Close;
    private const int Ping = RawWebSocket.Ping;
    private const int Pong = RawWebSocket.Pong;

    /// <summary>What a client says to a listener.</summary>
    public static IReadOnlyList<ConformanceCase> OfClient { get; } = new ConformanceCases(masked: true).All();

    /// <summary>What a server says to whoever has connected to it: the same, without a mask. What is about the mask itself has numbers of
    /// its own.</summary>
    public static IReadOnlyList<ConformanceCase> OfServer { get; } = new ConformanceCases(masked: false).All();

    private static byte[] Z(int length) => Support.Wire.Frame(Support.Wire.Pattern(length));

    private static ConformanceCase Case(string id, string title, params byte[][] frames) =>
        new(id, title, [.. frames.SelectMany(static f => f)]);

    // STREAM's framing is within.
    private ConformanceCase[] All() => [.. Masking(), .. Framing(), .. Reserved(), .. Fragmentation(), .. Control(), .. Closing(),
        .. Utf8()];

    private byte[] Message(byte[] payload, int opcode = Binary, int lengthBytes = 0) => Frame(Fin | opcode, payload, lengthBytes);

    private byte[] Frame(int first, byte[] payload, int lengthBytes = 0) => RawWebSocket.Frame(first, payload, masked, lengthBytes);

    private byte[] CloseFrame(int code, string reason = "") => RawWebSocket.CloseFrame(code, reason, masked);

    private ConformanceCase[] Masking() => masked
        ?
        [
            Case("5.1.1", "a frame without a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Binary, Z(2), masked: false)),
            Case("5.1.2", "a ping without a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Ping, Z(2), masked: false)),
            Case("5.1.3", "a close without a mask", Message(Z(1)), RawWebSocket.CloseFrame(1000, masked: false)),
            Case("5.3.1", "a mask of zeros", [0x82, 0x85, 0, 0, 0, 0, 0, 0, 0, 1, 7]),
        ]
        :
        [
            Case("5.1.4", "a frame with a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Binary, Z(2))),
            Case("5.1.5", "a frame with a mask of zeros", Message(Z(1)), [0x82, 0x85, 0, 0, 0, 0, 0, 0, 0, 1, 7]),
            Case("5.1.6", "an empty frame with a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Binary, [])),
            Case("5.1.7", "a last fragment with a mask", Frame(Binary, Z(20)[..9]), RawWebSocket.Frame(Fin, Z(20).AsSpan(9))),
            Case("5.1.8", "a ping with a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Ping, Z(2))),
            Case("5.1.9", "a pong with a mask", Message(Z(1)), RawWebSocket.Frame(Fin | Pong, Z(2))),
            Case("5.1.10", "a close with a mask", Message(Z(1)), RawWebSocket.CloseFrame(1000)),
        ];

    private IEnumerable<ConformanceCase> Framing()
    {
        int number = 1;

        // 5.2: each form of the length at its borders; the payload is a STREAM frame of 4 bytes less.
        foreach (int length in new[] { 4, 5, 124, 125, 126, 127, 128, 65_535, 65_536, 65_537, 1_000_000 })
        {
            yield return Case($"5.2.{number++}", $"a message of {length} bytes", Message(Z(length - 4)));
        }

        yield return Case($"5.2.{number++}", "no bytes at all", Message([]), Message(Z(1)));
        yield return Case($"5.2.{number++}", "100 empty messages", [.. Enumerable.Repeat(Message([]), 100), Message(Z(1))]);
        yield return Case($"5.2.{number++}", "5 bytes with a length of 16 bits", Message(Z(1), lengthBytes: 3));
        yield return Case($"5.2.{number++}", "5 bytes with a length of 64 bits", Message(Z(1), lengthBytes: 9));
        yield return Case($"5.2.{number++}", "a length of 2^63 and more", masked ? [0x82, 0xFF, 0x80, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 0]
            : [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 1, 0]);
        yield return Case($"5.2.{number++}", "two STREAM frames in one message", Message([.. Z(3), .. Z(5)]));
        yield return Case($"5.2.{number++}", "one STREAM frame in three messages", Message(Z(10)[..2]), Message(Z(10)[2..7]),
            Message(Z(10)[7..]));
    }

    private IEnumerable<ConformanceCase> Reserved()
    {
        foreach (int bits in new[] { 0x40, 0x20, 0x10, 0x30, 0x50, 0x60, 0x70 })
        {
            yield return Case($"5.2.rsv{bits:X2}", $"reserved bits {bits:X2} on data", Message(Z(1)), Frame(Fin | bits | Binary, Z(2)));
        }

        yield return Case("5.2.rsv-ping", "a reserved bit on a ping", Message(Z(1)), Frame(Fin | 0x40 | Ping, []));
        yield return Case("5.2.rsv-close", "a reserved bit on a close", Message(Z(1)), Frame(Fin | 0x10 | Close, []));
        yield return Case("5.2.rsv-continuation", "a reserved bit on a continuation", Frame(Binary, Z(4)[..4]),
            Frame(Fin | 0x40, Z(4)[4..]));
        foreach (int opcode in new[] { 3, 4, 5, 6, 7, 11, 12, 13, 14, 15 })
        {
            yield return Case($"5.2.op{opcode:X1}", $"reserved opcode {opcode:X1}", Message(Z(1)), Frame(Fin | opcode, Z(2)));
        }
    }

    private IEnumerable<ConformanceCase> Fragmentation()
    {
        byte[] z = Z(20);
        yield return Case("5.4.1", "two fragments", Frame(Binary, z[..9]), Frame(Fin, z[9..]));
        yield return Case("5.4.2", "a fragment per byte",
            [.. z.Select((b, i) => Frame((i == 0 ? Binary : 0) | (i == z.Length - 1 ? Fin : 0), [b]))]);
        yield return Case("5.4.3", "empty fragments first, between and last", Frame(Binary, []), Frame(0, z[..9]), Frame(0, []),
            Frame(0, z[9..]), Frame(Fin, []));
        yield return Case("5.4.4", "only empty fragments", Frame(Binary, []), Frame(0, []), Frame(Fin, []), Message(Z(1)));
        yield return Case("5.4.5", "a ping between fragments", Frame(Binary, z[..9]), Frame(Fin | Ping, [1, 2]), Frame(Fin, z[9..]));
        yield return Case("5.4.6", "ping, pong and ping between fragments", Frame(Binary, z[..9]), Frame(Fin | Ping, [1]),
            Frame(0, z[9..12]), Frame(Fin | Pong, [9]), Frame(Fin | Ping, []), Frame(Fin, z[12..]));
        yield return Case("5.4.7", "a close between fragments", Frame(Binary, z[..9]), CloseFrame(1000));
        yield return Case("5.4.8", "a continuation of nothing", Message(Z(1)), Frame(Fin, Z(2)));
        yield return Case("5.4.9", "an open continuation of nothing", Message(Z(1)), Frame(0, Z(2)));
        yield return Case("5.4.10", "a new message before the last one's end", Frame(Binary, Z(1)), Message(Z(2)));
        yield return Case("5.4.11", "a new text before the last message's end", Frame(Binary, Z(1)), Frame(Text, Z(2)));
        yield return Case("5.4.12", "a continuation after the last one's end", Frame(Binary, z[..9]), Frame(Fin, z[9..]), Frame(Fin, Z(1)));
        yield return Case("5.4.13", "a message that never ends", Frame(Binary, Z(1)), Frame(0, Z(2)), Frame(0, Z(3)));
        yield return Case("5.4.14", "fragments of 64 KiB", Frame(Binary, Z(200_000)[..65_536]), Frame(0, Z(200_000)[65_536..131_072]),
            Frame(Fin, Z(200_000)[131_072..]));
        yield return Case("5.4.15", "a close between fragments, and the rest behind it", Frame(Binary, z[..9]), CloseFrame(1000),
            Frame(Fin, z[9..]));
    }

    private IEnumerable<ConformanceCase> Control()
    {
        int number = 1;
        foreach (int length in new[] { 0, 1, 124, 125 })
        {
            yield return Case($"5.5.{number++}", $"a ping of {length} bytes", Frame(Fin | Ping, Support.Wire.Pattern(length)),
                Message(Z(1)));
        }

        yield return Case($"5.5.{number++}", "a ping of 126 bytes", Message(Z(1)), Frame(Fin | Ping, new byte[126]));
        yield return Case($"5.5.{number++}", "a pong of 126 bytes", Message(Z(1)), Frame(Fin | Pong, new byte[126]));
        yield return Case($"5.5.{number++}", "a close of 126 bytes", Message(Z(1)), Frame(Fin | Close, [0x03, 0xE8, .. new byte[124]]));
        yield return Case($"5.5.{number++}", "a ping of 2 bytes with a length of 16 bits", Message(Z(1)),
            Frame(Fin | Ping, [1, 2], lengthBytes: 3));
        yield return Case($"5.5.{number++}", "a ping in fragments", Message(Z(1)), Frame(Ping, [1]), Frame(Fin, [2]));
        yield return Case($"5.5.{number++}", "a pong in fragments", Message(Z(1)), Frame(Pong, [1]), Frame(Fin, [2]));
        yield return Case($"5.5.{number++}", "a close in fragments", Message(Z(1)), Frame(Close, [0x03]), Frame(Fin, [0xE8]));
        yield return Case($"5.5.{number++}", "ten pings in a row",
            [.. Enumerable.Range(0, 10).Select(i => Frame(Fin | Ping, [(byte)i])), Message(Z(1))]);
        yield return Case($"5.5.{number++}", "an unasked pong", Frame(Fin | Pong, [1, 2, 3]), Message(Z(1)));
        yield return Case($"5.5.{number++}", "an empty unasked pong", Frame(Fin | Pong, []), Message(Z(1)));
        yield return Case($"5.5.{number++}", "pong, ping, pong", Frame(Fin | Pong, [1]), Frame(Fin | Ping, [2]), Frame(Fin | Pong, [3]),
            Message(Z(1)));
    }

    private IEnumerable<ConformanceCase> Closing()
    {
        yield return Case("5.5.1.1", "a close without a code", Message(Z(1)), Frame(Fin | Close, []));
        yield return Case("5.5.1.2", "a close of one byte", Message(Z(1)), Frame(Fin | Close, [0x03]));
        yield return Case("5.5.1.3", "a close with a reason", Message(Z(1)), CloseFrame(1000, "bye"));
        yield return Case("5.5.1.4", "a close with the longest reason", Message(Z(1)), CloseFrame(1000, new string('x', 123)));
        yield return Case("5.5.1.5", "a reason that is no UTF-8", Message(Z(1)),
            Frame(Fin | Close, [0x03, 0xE8, 0xCE, 0xBA, 0xE1, 0xBD, 0xB9, 0xCF, 0x83, 0xED, 0xA0, 0x80]));
        yield return Case("5.5.1.6", "data behind a close", CloseFrame(1000), Message(Z(1)));
        yield return Case("5.5.1.7", "a ping behind a close", CloseFrame(1000), Frame(Fin | Ping, [1]));
        yield return Case("5.5.1.8", "two closes", CloseFrame(1000), CloseFrame(1001));
        yield return Case("5.5.1.9", "200,000 bytes, a close and a ping", Message(Z(200_000)), CloseFrame(1000), Frame(Fin | Ping, [1]));
        yield return Case("5.5.1.10", "what is no frame behind a close", CloseFrame(1000), [0xFF, 0xFF, 0xFF, 0xFF]);
        foreach (int code in new[] { 1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999 })
        {
            yield return Case($"7.4.{code}", $"close {code}", Message(Z(1)), CloseFrame(code));
        }

        foreach (int code in new[] { 0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535 })
        {
            yield return Case($"7.4.{code}", $"close {code}, which no endpoint may send", Message(Z(1)), CloseFrame(code));
        }
    }

    private IEnumerable<ConformanceCase> Utf8()
    {
        // Text is carried as bytes like everything else; what is no UTF-8 may be refused (8.1).
        yield return Case("5.6.1", "text", Message([0, 0, 0, 3, 0x61, 0x62, 0x63], Text));
        yield return Case("5.6.2", "text and binary in turn", Message(Z(1), Text), Message(Z(2)), Message(Z(3), Text));
        yield return Case("5.6.3", "text in fragments that cut a character", Frame(Text, [0, 0, 0, 3, 0x61, 0xC3]), Frame(Fin, [0xA9]));
        yield return Case("5.6.4", "empty text", Message([], Text), Frame(Text, []), Frame(0, []), Frame(Fin, []), Message(Z(1)));
        yield return Case("5.6.5", "text in fragments, a ping between two bytes of a character", Frame(Text, [0, 0]), Frame(0, [0, 2]),
            Frame(0, [0xC3]), Frame(Fin | Ping, [1]), Frame(Fin, [0xA9]));
        yield return Case("8.1.1", "text that is no UTF-8", Message(Z(1)), TextOf(0xC3, 0x28));
        yield return Case("8.1.2", "text that ends within a character", Message(Z(1)), TextOf(0xC3));
        yield return Case("8.1.3", "text with half a surrogate pair", Message(Z(1)), TextOf(0xED, 0xA0, 0x80));
        yield return Case("8.1.4", "text above U+10FFFF", Message(Z(1)), TextOf(0xF4, 0x90, 0x80, 0x80));
        yield return Case("8.1.5", "text with the first and the last character of each length",
            TextOf([0x00, 0x7F, 0xC2, 0x80, 0xDF, 0xBF, 0xE0, 0xA0, 0x80, 0xEF, 0xBF, 0xBF, 0xF0, 0x90, 0x80, 0x80, 0xF4, 0x8F, 0xBF,
            0xBF]));
        yield return Case("8.1.6", "text with what is no character: U+FFFE, U+10FFFF", TextOf(0xEF, 0xBF, 0xBE, 0xF4, 0x8F, 0xBF, 0xBF));
        yield return Case("8.1.7", "text with a lone continuation byte", Message(Z(1)), TextOf(0x80));
        yield return Case("8.1.8", "text with the bytes FE and FF", Message(Z(1)), TextOf(0xFE, 0xFF));
        yield return Case("8.1.9", "text with a slash in two bytes", Message(Z(1)), TextOf(0xC0, 0xAF));
        yield return Case("8.1.10", "text with a slash in three bytes", Message(Z(1)), TextOf(0xE0, 0x80, 0xAF));
        yield return Case("8.1.11", "text with a slash in four bytes", Message(Z(1)), TextOf(0xF0, 0x80, 0x80, 0xAF));
        yield return Case("8.1.12", "text with a character of five bytes", Message(Z(1)), TextOf(0xF8, 0x88, 0x80, 0x80, 0x80));
        yield return Case("8.1.13", "text with a surrogate pair", Message(Z(1)), TextOf(0xED, 0xA0, 0x80, 0xED, 0xB0, 0x80));
        yield return Case("8.1.14", "a first fragment of text that is no UTF-8, and no other", Message(Z(1)),
            Frame(Text, [0, 0, 0, 9, 0x61, 0xFF]));
        yield return Case("8.1.15", "a last fragment of text that does not go on with a character", Message(Z(1)),
            Frame(Text, [0, 0, 0, 2, 0xC3]), Frame(Fin, [0x28]));
    }

    private byte[] TextOf(params byte[] text) => Message(Support.Wire.Frame(text), Text);
}
