using System.Text.Json;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>A JSON object of which every key must be asked for: what nobody asks for is an unknown key, and an error.</summary>
internal sealed class StrictObject
{
    private readonly Dictionary<string, JsonElement> _values = new(StringComparer.Ordinal);
    private readonly HashSet<string> _asked = new(StringComparer.Ordinal);

    public StrictObject(JsonElement element, string what)
    {
        What = what;
        if (element.ValueKind is not JsonValueKind.Object)
        {
            throw new TranscriptFormatException($"{what}: not an object");
        }

        foreach (JsonProperty property in element.EnumerateObject())
        {
            if (!_values.TryAdd(property.Name, property.Value))
            {
                throw new TranscriptFormatException($"{what}: key {property.Name} twice");
            }
        }
    }

    public string What { get; }

    public bool Has(string key) => _values.ContainsKey(key);

    public JsonElement Required(string key)
        => Optional(key) ?? throw new TranscriptFormatException($"{What}: missing key {key}");

    public JsonElement? Optional(string key)
    {
        _asked.Add(key);
        return _values.TryGetValue(key, out JsonElement value) ? value : null;
    }

    public string Text(string key)
    {
        JsonElement value = Required(key);
        return value.ValueKind is JsonValueKind.String ? value.GetString()! : throw Fault(key, "a text");
    }

    public string? OptionalText(string key) => Optional(key) is null ? null : Text(key);

    public int Number(string key, int low = 0)
    {
        JsonElement value = Required(key);
        return value.ValueKind is JsonValueKind.Number && value.TryGetInt32(out int number) && number >= low ? number
            : throw Fault(key, $"a number >= {low}");
    }

    public int? OptionalNumber(string key, int low = 0) => Optional(key) is null ? null : Number(key, low);

    public bool Flag(string key)
        => Optional(key) is not { } value ? false : value.ValueKind switch
        {
            JsonValueKind.True => true,
            JsonValueKind.False => false,
            _ => throw Fault(key, "true or false"),
        };

    public byte[] Bytes(string key) => BytesValue.Read(Required(key), $"{What}.{key}");

    /// <summary>The elements of a list; none when the key is absent.</summary>
    public IEnumerable<(JsonElement Element, string What)> List(string key)
    {
        if (Optional(key) is not { } value)
        {
            yield break;
        }

        if (value.ValueKind is not JsonValueKind.Array)
        {
            throw Fault(key, "a list");
        }

        int index = 0;
        foreach (JsonElement element in value.EnumerateArray())
        {
            yield return (element, $"{What}.{key}[{index++}]");
        }
    }

    /// <summary>For people only: known, and not looked at.</summary>
    public void Ignore(params ReadOnlySpan<string> keys)
    {
        foreach (string key in keys)
        {
            _asked.Add(key);
        }
    }

    /// <summary>Throws when a key is left that nobody asked for.</summary>
    public void Finish()
    {
        string[] unknown = [.. _values.Keys.Where(key => !_asked.Contains(key))];
        if (unknown.Length > 0)
        {
            throw new TranscriptFormatException($"{What}: unknown key {string.Join(", ", unknown)}");
        }
    }

    private TranscriptFormatException Fault(string key, string wanted) => new($"{What}.{key}: not {wanted}");
}
