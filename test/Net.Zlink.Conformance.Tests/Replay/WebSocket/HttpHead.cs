using System.Globalization;
using System.Text;

namespace Net.Zlink.Conformance.Tests.Replay.WebSocket;

/// <summary>The head of an HTTP request or answer: its first line and its headers, by their names in lower case.</summary>
internal sealed record HttpHead(string? Method, string? Path, int? Status, IReadOnlyDictionary<string, string> Headers)
{
    private const string Version = "HTTP/1.1";

    private static ReadOnlySpan<byte> End => "\r\n\r\n"u8;

    public bool IsUpgraded => Status is 101;

    /// <summary>How many bytes the head at the beginning of these has; null while it is not whole.</summary>
    public static int? LengthOf(ReadOnlySpan<byte> bytes) => bytes.IndexOf(End) is >= 0 and int at ? at + End.Length : null;

    /// <summary>Reads a whole head; null when it is none.</summary>
    public static HttpHead? TryParse(ReadOnlySpan<byte> head)
    {
        string[] lines = Encoding.Latin1.GetString(head).Split("\r\n", StringSplitOptions.RemoveEmptyEntries);
        string[] first = lines.Length == 0 ? [] : lines[0].Split(' ', 3);
        var headers = new Dictionary<string, string>(StringComparer.Ordinal);
        foreach (string line in lines.Skip(1))
        {
            int colon = line.IndexOf(':', StringComparison.Ordinal);
            if (colon <= 0 || !headers.TryAdd(line[..colon].ToLowerInvariant(), line[(colon + 1)..].Trim()))
            {
                return null;
            }
        }

        return first switch
        {
            [Version, { } status, ..] when int.TryParse(status, NumberStyles.None, CultureInfo.InvariantCulture, out int code) =>
                new HttpHead(null, null, code, headers),
            [{ } method, { } path, Version] => new HttpHead(method, path, null, headers),
            _ => null,
        };
    }
}
