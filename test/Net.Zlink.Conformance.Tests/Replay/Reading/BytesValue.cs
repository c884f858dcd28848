using System.Buffers;
using System.Text.Json;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>Bytes in a transcript: a lower-case hex text, a repetition of one, or a list of segments of those two.</summary>
internal static class BytesValue
{
    private static readonly SearchValues<char> HexDigits = SearchValues.Create("0123456789abcdef");

    public static byte[] Read(JsonElement value, string what)
    {
        if (value.ValueKind is JsonValueKind.String)
        {
            return Hex(value.GetString()!, what);
        }

        var keys = new StrictObject(value, what);
        byte[] result = keys.Has("repeat") ? Repeat(keys) : Segments(keys.Required("segments"), what);
        keys.Finish();
        return result;
    }

    public static byte[] Segments(JsonElement list, string what)
    {
        if (list.ValueKind is not JsonValueKind.Array)
        {
            throw new TranscriptFormatException($"{what}: segments is not a list");
        }

        var bytes = new List<byte>();
        foreach (JsonElement segment in list.EnumerateArray())
        {
            if (segment.ValueKind is JsonValueKind.Object && segment.TryGetProperty("segments", out _))
            {
                throw new TranscriptFormatException($"{what}: segments within segments");
            }

            bytes.AddRange(Read(segment, what));
        }

        return [.. bytes];
    }

    private static byte[] Repeat(StrictObject keys)
    {
        byte[] unit = keys.Bytes("repeat");
        int count = keys.Number("count", low: 1);
        byte[] result = new byte[unit.Length * count];
        for (int i = 0; i < count; i++)
        {
            unit.CopyTo(result, i * unit.Length);
        }

        return result;
    }

    private static byte[] Hex(string text, string what)
    {
        if (text.Length % 2 != 0 || text.AsSpan().ContainsAnyExcept(HexDigits))
        {
            throw new TranscriptFormatException($"{what}: not lower-case hex");
        }

        return Convert.FromHexString(text);
    }
}
