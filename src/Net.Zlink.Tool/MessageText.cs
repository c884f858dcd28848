using System.Buffers;
using System.Globalization;
using System.Text;
using System.Text.Encodings.Web;
using System.Text.Json;

namespace Net.Zlink.Tool;

internal enum MessageFormat
{
    Text,
    Hex,
    Json,
}

/// <summary>A message as a line, and back. What one command writes, another one reads.</summary>
internal static class MessageText
{
    private const char PartSeparator = '\t';

    private static readonly UTF8Encoding s_strict = new(encoderShouldEmitUTF8Identifier: false, throwOnInvalidBytes: true);
    private static readonly JsonWriterOptions s_json = new() { Encoder = JavaScriptEncoder.UnsafeRelaxedJsonEscaping };

    public static string Write(MessageFormat format, IReadOnlyList<ReadOnlyMemory<byte>> parts, string from = "") => format switch
    {
        MessageFormat.Hex => string.Join(' ', parts.Select(static part => Convert.ToHexStringLower(part.Span))),
        MessageFormat.Json => ToJson(parts, from),
        _ => string.Join(PartSeparator, parts.Select(static part => Printable(Encoding.UTF8.GetString(part.Span)))),
    };

    /// <exception cref="ToolException">The line is not in that format.</exception>
    public static byte[][] Read(MessageFormat format, string line)
    {
        try
        {
            return format switch
            {
                MessageFormat.Hex => [.. line.Split(' ').Select(Convert.FromHexString)],
                MessageFormat.Json => FromJson(line),
                _ => [.. line.Split(PartSeparator).Select(Encoding.UTF8.GetBytes)],
            };
        }
        catch (Exception e) when (e is FormatException or JsonException)
        {
            string expected = format is MessageFormat.Hex ? "each part as pairs of hexadecimal digits, with a blank between parts"
                : """{"parts":["text",{"hex":"00ff"}]}, or only the list""";
            throw new ToolException($"cannot read the message '{Printable(line)}': write {expected}", ExitCode.Usage);
        }
    }

    /// <summary>One argument is one part.</summary>
    public static byte[] ReadPart(MessageFormat format, string part) =>
        format is MessageFormat.Hex ? Read(format, part)[0] : Encoding.UTF8.GetBytes(part);

    /// <summary>A peer's bytes cannot move the cursor of the terminal or begin a line of their own.</summary>
    public static string Printable(string text)
    {
        if (!text.Any(char.IsControl))
        {
            return text;
        }

        var printable = new StringBuilder();
        foreach (char c in text)
        {
            _ = char.IsControl(c) ? printable.Append(CultureInfo.InvariantCulture, $"\\x{(int)c:x2}") : printable.Append(c);
        }

        return printable.ToString();
    }

    /// <summary>One object as one line.</summary>
    public static string Json(Action<Utf8JsonWriter> properties)
    {
        var line = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(line, s_json);
        json.WriteStartObject();
        properties(json);
        json.WriteEndObject();
        json.Flush();
        return Encoding.UTF8.GetString(line.WrittenSpan);
    }

    private static string ToJson(IReadOnlyList<ReadOnlyMemory<byte>> parts, string from) => Json(json =>
    {
        json.WriteString("at", TimeProvider.System.GetUtcNow());
        if (from.Length > 0)
        {
            json.WriteString("from", from);
        }

        json.WriteStartArray("parts");
        foreach (ReadOnlyMemory<byte> part in parts)
        {
            WritePart(json, part.Span);
        }

        json.WriteEndArray();
    });

    private static void WritePart(Utf8JsonWriter json, ReadOnlySpan<byte> part)
    {
        string text;
        try
        {
            text = s_strict.GetString(part);
        }
        catch (DecoderFallbackException)
        {
            json.WriteStartObject();
            json.WriteString("hex", Convert.ToHexStringLower(part));
            json.WriteEndObject();
            return;
        }

        json.WriteStringValue(text);
    }

    private static byte[][] FromJson(string line)
    {
        using var document = JsonDocument.Parse(line);
        JsonElement parts = document.RootElement;
        if (parts.ValueKind is JsonValueKind.Object && !parts.TryGetProperty("parts", out parts))
        {
            throw new JsonException();
        }

        return parts.ValueKind is JsonValueKind.Array && parts.GetArrayLength() > 0
            ? [.. parts.EnumerateArray().Select(ReadPart)]
            : throw new JsonException();
    }

    private static byte[] ReadPart(JsonElement part) => part switch
    {
        { ValueKind: JsonValueKind.String } => Encoding.UTF8.GetBytes(part.GetString()!),
        { ValueKind: JsonValueKind.Object } when part.TryGetProperty("hex", out JsonElement hex)
            && hex.ValueKind is JsonValueKind.String => Convert.FromHexString(hex.GetString()!),
        _ => throw new JsonException(),
    };
}
