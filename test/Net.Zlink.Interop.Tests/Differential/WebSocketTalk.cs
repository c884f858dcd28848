using System.Buffers.Binary;
using System.Diagnostics.CodeAnalysis;
using System.Globalization;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;

namespace Net.Zlink.Interop.Tests.Differential;

/// <summary>What a raw peer over WebSocket makes of bytes, both ways: the upgrade, then frames by RFC 6455, written by hand so that they
/// can also be wrong.</summary>
/// <param name="isClient">It connected, so it asks, and masks.</param>
internal sealed class WebSocketTalk(bool isClient)
{
    public const byte Continuation = 0;
    public const byte Text = 1;
    public const byte Binary = 2;
    public const byte Close = 8;
    public const byte Ping = 9;
    public const byte Pong = 10;

    /// <summary>A number that <see cref="Wrap"/> makes one message of, in one frame.</summary>
    public const int WrapInOne = -1;

    private const string Guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    private const int Fin = 0x80;
    private const int Masked = 0x80;

    private readonly List<byte> _raw = [];
    private string _key = "";
    private bool _isUpgraded;

    /// <summary>What the other side said beside data.</summary>
    public List<string> Notes { get; } = [];

    /// <summary>The other side's half of the upgrade is here, or nothing of the kind will come.</summary>
    public bool HasHead { get; private set; }

    private ReadOnlySpan<byte> Raw => CollectionsMarshal.AsSpan(_raw);

    /// <summary>A frame.</summary>
    /// <param name="first">The opcode, with reserved bits.</param>
    /// <param name="payload">What is in it.</param>
    /// <param name="mask">Null: it has none.</param>
    /// <param name="isWhole">FIN.</param>
    public static byte[] Frame(int first, ReadOnlySpan<byte> payload, byte[]? mask, bool isWhole = true)
    {
        var frame = new List<byte> { (byte)(isWhole ? first | Fin : first) };
        int masked = mask is null ? 0 : Masked;
        switch (payload.Length)
        {
            case < 126:
                frame.Add((byte)(masked | payload.Length));
                break;
            default:
                frame.AddRange([(byte)(masked | 126), (byte)(payload.Length >> 8), (byte)payload.Length]); // None is longer than 64 KiB.
                break;
        }

        frame.AddRange(mask ?? []);
        for (int i = 0; i < payload.Length; i++)
        {
            frame.Add((byte)(payload[i] ^ (mask?[i % 4] ?? 0)));
        }

        return [.. frame];
    }

    /// <summary>A mask where there has to be one.</summary>
    public static byte[]? MaskOf(bool isClient, Random random)
    {
        if (!isClient)
        {
            return null;
        }

        byte[] mask = new byte[4];
        random.NextBytes(mask);
        return mask;
    }

    /// <summary>The bytes in one message, in fragments with a ping between, or in several messages, of one kind or the other, as the number
    /// will have it.</summary>
    public byte[] Wrap(ReadOnlySpan<byte> bytes, int number)
    {
        var random = new Random(number);
        if (number == WrapInOne)
        {
            return Frame(Binary, bytes, MaskOf(isClient, random));
        }

        var wrapped = new List<byte>();
        int fragments = random.Next(3) == 0 ? 1 + random.Next(3) : 1;
        bool areMessages = random.Next(2) == 0;
        byte kind = random.Next(3) == 0 && !bytes.ContainsAnyExceptInRange((byte)0, (byte)0x7F) ? Text : Binary;
        for (int i = 0; i < fragments && (i == 0 || !bytes.IsEmpty); i++)
        {
            bool isLast = i + 1 == fragments;
            int length = isLast ? bytes.Length : Math.Max(1, random.Next(bytes.Length));
            isLast |= length == bytes.Length;
            wrapped.AddRange(Frame(i == 0 || areMessages ? kind : Continuation, bytes[..length], MaskOf(isClient, random), isLast
                || areMessages));
            bytes = bytes[length..];
            if (!isLast && random.Next(4) == 0)
            {
                wrapped.AddRange(Frame(Ping, [(byte)random.Next(256)], MaskOf(isClient, random)));
            }
        }

        return [.. wrapped];
    }

    /// <summary>Our half of the upgrade, with what only this connection knows put in.</summary>
    public byte[] Head(string head, string host) =>
        Encoding.Latin1.GetBytes(head.Replace("{host}", host, StringComparison.Ordinal)
            .Replace("{accept}", AcceptOf(), StringComparison.Ordinal));

    /// <summary>Takes what came; the data of it goes where data is kept.</summary>
    public void Take(ReadOnlySpan<byte> bytes, List<byte> data)
    {
        _raw.AddRange(bytes);
        if (!HasHead)
        {
            TakeHead();
        }

        while (_isUpgraded && TakeFrame(data))
        {
            // And the next.
        }
    }

    private void TakeHead()
    {
        int end = Raw.IndexOf("\r\n\r\n"u8);
        if (end < 0)
        {
            return;
        }

        string[] lines = Encoding.Latin1.GetString(Raw[..end]).Split("\r\n");
        _raw.RemoveRange(0, end + 4);
        HasHead = true;
        _isUpgraded = !isClient || lines[0].Contains(" 101 ", StringComparison.Ordinal);
        _key = lines.FirstOrDefault(static line =>
            line.StartsWith("Sec-WebSocket-Key: ", StringComparison.Ordinal))?["Sec-WebSocket-Key: ".Length..] ?? "";

        // Of a refusal the number, and which version would do: the sentences are for people. A port, and a key, is another each time;
        // natively a server tells its maker's name.
        Notes.AddRange(isClient && !_isUpgraded
            ? lines.Where(static line => line.StartsWith("Sec-", StringComparison.Ordinal))
                .Prepend(string.Join(' ', lines[0].Split(' ').Take(2)))
            : lines.Where(static line => !line.StartsWith("Server: ", StringComparison.Ordinal))
                .Select(static line => line.Split(line.StartsWith("Host", StringComparison.Ordinal) ? ":" : "Key: ")[0]));
    }

    [SuppressMessage("Security", "CA5350", Justification = "RFC 6455 asks for it; it protects nothing.")]
    private string AcceptOf() => Convert.ToBase64String(SHA1.HashData(Encoding.ASCII.GetBytes(_key + Guid)));

    private bool TakeFrame(List<byte> data)
    {
        ReadOnlySpan<byte> raw = Raw;
        if (raw.Length < 2)
        {
            return false;
        }

        int length = raw[1] & 0x7F;
        int start = 2;
        if (length >= 126)
        {
            int size = length == 126 ? sizeof(ushort) : sizeof(ulong);
            if (raw.Length < start + size)
            {
                return false;
            }

            length = size == sizeof(ushort) ? BinaryPrimitives.ReadUInt16BigEndian(raw[start..])
                : checked((int)BinaryPrimitives.ReadUInt64BigEndian(raw[start..]));
            start += size;
        }

        bool isMasked = (raw[1] & Masked) != 0;
        int body = start + (isMasked ? 4 : 0);
        if (raw.Length < body + length)
        {
            return false;
        }

        byte[] payload = raw.Slice(body, length).ToArray();
        for (int i = 0; isMasked && i < length; i++)
        {
            payload[i] ^= raw[start + (i % 4)];
        }

        int opcode = raw[0] & 0x0F;
        if (opcode is Binary or Continuation)
        {
            data.AddRange(payload);
        }
        else
        {
            Notes.Add(string.Create(CultureInfo.InvariantCulture, $"ws frame {opcode}: {Convert.ToHexStringLower(payload)}"));
        }

        if (isMasked == isClient || (raw[0] & 0x70) != 0)
        {
            Notes.Add("ws frame with a wrong mask or a reserved bit");
        }

        _raw.RemoveRange(0, body + length);
        return true;
    }
}
