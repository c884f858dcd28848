using System.Buffers;
using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

internal static class HttpHead
{
    private static readonly SearchValues<byte> s_ofTokens = SearchValues.Create(
        "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"u8);

    private static readonly SearchValues<byte> s_controls = SearchValues.Create(
        [.. Enumerable.Range(0, ' ').Where(static c => c != '\t').Select(static c => (byte)c), 0x7F]);

    private static ReadOnlySpan<byte> EndOfHead => "\r\n\r\n"u8;

    public static int LengthOf(ReadOnlySpan<byte> bytes)
    {
        int end = bytes.IndexOf(EndOfHead);
        return end < 0 ? 0 : end + EndOfHead.Length;
    }

    public static bool IsToken(ReadOnlySpan<byte> name) => name.Length > 0 && !name.ContainsAnyExcept(s_ofTokens);

    public static bool MayBeRequest(ReadOnlySpan<byte> bytes)
    {
        // The longest registered method, UPDATEREDIRECTREF, has 17 letters.
        const int LongestMethod = 20;
        int letters = bytes.IndexOfAnyExceptInRange((byte)'A', (byte)'Z');
        return letters < 0 ? bytes.Length <= LongestMethod : letters is > 0 and <= LongestMethod && bytes[letters] == ' ';
    }

    public static bool MayBeAnswer(ReadOnlySpan<byte> bytes)
    {
        ReadOnlySpan<byte> version = "HTTP/1."u8;
        int length = Math.Min(bytes.Length, version.Length);
        return bytes[..length].SequenceEqual(version[..length]);
    }

    public static ReadOnlySpan<byte> FirstLine(ReadOnlySpan<byte> head) => head[..head.IndexOf("\r\n"u8)];

    /// <summary>Folded lines are rejected, since they hide fields from other readers.</summary>
    public static bool IsWellFormed(ReadOnlySpan<byte> head)
    {
        ReadOnlySpan<byte> first = FirstLine(head);
        bool isWellFormed = !first.ContainsAny(s_controls) && !first.Contains((byte)'\t');
        var fields = new Fields(head);
        while (isWellFormed && fields.Next())
        {
            isWellFormed = IsToken(fields.Name) && !fields.Value.ContainsAny(s_controls);
        }

        return isWellFormed;
    }

    public static int Find(ReadOnlySpan<byte> head, ReadOnlySpan<byte> name, out ReadOnlySpan<byte> value)
    {
        value = default;
        int found = 0;
        var fields = new Fields(head);
        while (fields.Next())
        {
            if (Ascii.EqualsIgnoreCase(fields.Name, name))
            {
                found++;
                value = fields.Value;
            }
        }

        return found;
    }

    /// <summary>The values of all occurrences, joined by ", " (RFC 9110, 5.3); null if there is none.</summary>
    public static string? Values(ReadOnlySpan<byte> head, string name)
    {
        List<string> values = []; // Joined once: a hostile head has thousands of them.
        var fields = new Fields(head);
        while (fields.Next())
        {
            if (Ascii.EqualsIgnoreCase(fields.Name, name))
            {
                values.Add(Encoding.Latin1.GetString(fields.Value)); // Bytes from 80 on are allowed (RFC 9110, 5.5).
            }
        }

        return values.Count == 0 ? null : string.Join(", ", values);
    }

    public static bool Lists(ReadOnlySpan<byte> head, string name, string token) => Values(head, name) is { } values
        && values.Split(',', StringSplitOptions.TrimEntries).Contains(token, StringComparer.OrdinalIgnoreCase);

    private ref struct Fields
    {
        private ReadOnlySpan<byte> _remaining;

        public Fields(ReadOnlySpan<byte> head)
        {
            int first = head.IndexOf("\r\n"u8) + 2;
            _remaining = head[first..^2];
            Name = default;
            Value = default;
        }

        public ReadOnlySpan<byte> Name { get; private set; }

        public ReadOnlySpan<byte> Value { get; private set; }

        public bool Next()
        {
            if (_remaining.IsEmpty)
            {
                return false;
            }

            int end = _remaining.IndexOf("\r\n"u8);
            ReadOnlySpan<byte> line = _remaining[..end];
            _remaining = _remaining[(end + 2)..];
            int colon = line.IndexOf((byte)':');
            Name = colon < 0 ? default : line[..colon];
            Value = line[(colon + 1)..].Trim(" \t"u8);
            return true;
        }
    }
}
