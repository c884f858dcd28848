using System.Text;

namespace Net.Zlink.Protocol.WebSocket;

internal static class HttpHead
{
    private static ReadOnlySpan<byte> EndOfHead => "\r\n\r\n"u8;

    public static int LengthOf(ReadOnlySpan<byte> bytes)
    {
        int end = bytes.IndexOf(EndOfHead);
        return end < 0 ? 0 : end + EndOfHead.Length;
    }

    public static bool IsToken(ReadOnlySpan<byte> name)
    {
        foreach (byte c in name)
        {
            if (!char.IsAsciiLetterOrDigit((char)c) && !"!#$%&'*+-.^_`|~"u8.Contains(c))
            {
                return false;
            }
        }

        return name.Length > 0;
    }

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
        foreach (byte c in FirstLine(head))
        {
            if (c is < 0x20 or 0x7F)
            {
                return false;
            }
        }

        var fields = new Fields(head);
        while (fields.Next())
        {
            if (!IsToken(fields.Name))
            {
                return false;
            }

            foreach (byte c in fields.Value)
            {
                if (c is (< 0x20 and not 0x09) or 0x7F)
                {
                    return false;
                }
            }
        }

        return true;
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
        string? values = null;
        var fields = new Fields(head);
        while (fields.Next())
        {
            if (Ascii.EqualsIgnoreCase(fields.Name, name))
            {
                string value = Encoding.Latin1.GetString(fields.Value); // Bytes from 80 on are allowed (RFC 9110, 5.5).
                values = values is null ? value : $"{values}, {value}";
            }
        }

        return values;
    }

    public static bool Lists(ReadOnlySpan<byte> head, ReadOnlySpan<byte> name, ReadOnlySpan<byte> token)
    {
        var fields = new Fields(head);
        while (fields.Next())
        {
            if (!Ascii.EqualsIgnoreCase(fields.Name, name))
            {
                continue;
            }

            ReadOnlySpan<byte> value = fields.Value;
            foreach (Range part in value.Split((byte)','))
            {
                if (Ascii.EqualsIgnoreCase(Trim(value[part]), token))
                {
                    return true;
                }
            }
        }

        return false;
    }

    private static ReadOnlySpan<byte> Trim(ReadOnlySpan<byte> text) => text.Trim(" \t"u8);

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
            Value = Trim(line[(colon + 1)..]);
            return true;
        }
    }
}
