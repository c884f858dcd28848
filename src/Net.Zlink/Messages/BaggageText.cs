using System.Diagnostics;
using System.Text;

namespace Net.Zlink;

/// <summary>The baggage of an activity in the text of W3C Baggage: <c>key=value</c> with commas between, values percent-encoded. Compiled
/// into Net.Zlink and Net.Zlink.Services.</summary>
internal static class BaggageText
{
    /// <summary>Most bytes of the text. Entries that do not fit are left out.</summary>
    public const int MaxSize = 1024;

    /// <summary>Most bytes of a tracestate: what W3C asks to support. A longer one is left out.</summary>
    public const int MaxStateSize = 512;

    // What W3C allows in a key.
    private const string KeyCharacters = "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    private static readonly System.Buffers.SearchValues<char> Keys = System.Buffers.SearchValues.Create(KeyCharacters);

    /// <summary>Writes the baggage of an activity and of its parents.</summary>
    /// <returns>How many bytes.</returns>
    public static int Write(Activity activity, Span<byte> destination)
    {
        int length = 0;
        foreach ((string key, string? value) in activity.Baggage)
        {
            if (key.Length == 0 || key.AsSpan().ContainsAnyExcept(Keys))
            {
                continue;
            }

            string entry = $"{(length == 0 ? "" : ",")}{key}={Uri.EscapeDataString(value ?? "")}";
            if (entry.Length <= destination.Length - length)
            {
                length += Encoding.ASCII.GetBytes(entry, destination[length..]);
            }
        }

        return length;
    }

    /// <summary>Reads what <see cref="Write"/> writes, and skips what is no entry: a peer may send anything.</summary>
    public static IEnumerable<KeyValuePair<string, string?>> Read(ReadOnlySpan<byte> text)
    {
        List<KeyValuePair<string, string?>> entries = [];
        foreach (string entry in Encoding.ASCII.GetString(text).Split(',', StringSplitOptions.RemoveEmptyEntries))
        {
            int equals = entry.IndexOf('=', StringComparison.Ordinal);
            ReadOnlySpan<char> key = equals < 0 ? default : entry.AsSpan(0, equals).Trim();
            if (!key.IsEmpty && !key.ContainsAnyExcept(Keys))
            {
                int end = entry.IndexOf(';', equals); // Properties of an entry, which activities do not have.
                string value = end < 0 ? entry[(equals + 1)..] : entry[(equals + 1)..end];
                entries.Add(new(key.ToString(), Uri.UnescapeDataString(value.Trim())));
            }
        }

        return entries;
    }

    /// <summary>Writes a tracestate, unless it is too long.</summary>
    /// <returns>How many bytes.</returns>
    public static int WriteState(string? state, Span<byte> destination) =>
        string.IsNullOrEmpty(state) || state.Length > destination.Length || !Ascii.IsValid(state) ? 0
            : Encoding.ASCII.GetBytes(state, destination);
}
