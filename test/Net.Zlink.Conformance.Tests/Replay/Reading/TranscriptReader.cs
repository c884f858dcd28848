using System.Text.Json;
using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>Reads a transcript, strictly: a key that the format's page does not define is an error.</summary>
internal static class TranscriptReader
{
    private static readonly string[] SideNames = ["a", "b", "a2"];

    /// <summary>The transcripts of one file: one, or one per row of a compatibility matrix.</summary>
    public static IReadOnlyList<Transcript> ReadFile(string path)
    {
        using JsonDocument document = Parse(File.ReadAllText(path));
        return ReadAll(document.RootElement, Path.GetFileNameWithoutExtension(path));
    }

    public static Transcript ReadText(string text, string name)
    {
        using JsonDocument document = Parse(text);
        return ReadAll(document.RootElement, name).Single();
    }

    private static IReadOnlyList<Transcript> ReadAll(JsonElement root, string name)
    {
        var file = new StrictObject(root, name);
        if (!string.Equals(file.Text("name"), name, StringComparison.Ordinal))
        {
            throw new TranscriptFormatException($"{name}: its name is not the file's");
        }

        return file.Has("results") ? CompatibilityMatrix.Read(file) : [ReadOne(file, name)];
    }

    private static Transcript ReadOne(StrictObject file, string name)
    {
        file.Text("description");
        Dictionary<string, Side> sides = SideNames.Where(file.Has)
            .ToDictionary(key => key, key => ReadSide(new StrictObject(file.Required(key), $"{name}.{key}"), key), StringComparer.Ordinal);
        file.Required("a");
        file.Required("b");
        string[] steps = [.. file.List("steps").Select(
            step => step.Element.GetString() ?? throw new TranscriptFormatException($"{step.What}: not a label"))];
        bool raw = sides.Values.Any(side => side.IsRaw);
        var transcript = new Transcript(name, steps, sides)
        {
            Actions = [.. List(file, "actions").Select(ActionReader.Read)],
            Sent = [.. List(file, "sent").Select(TrafficReader.Sent)],
            Records = [.. List(file, "records").Select(TrafficReader.Record)],
            Delivered = [.. List(file, "delivered").Select(entry => TrafficReader.Delivered(entry, kinds: false))],
            Events = file.Has("events") ? [.. List(file, "events").Select(TrafficReader.Event)] : null,
            Timed = file.Flag("timed"),
            HandshakeSteps = file.List("handshake").Select(step => step.Element.GetInt32()).ToHashSet(),
            ConnectionsSeen = file.OptionalNumber("connections_seen"),
            Differences = [.. List(file, "differs").Select(TrafficReader.Difference)],
        };
        TranscriptRules.Check(transcript, SpanOf(file), ClosedOf(file));
        if (raw != file.Has("closed") || (raw && file.Has("handshake")))
        {
            throw new TranscriptFormatException($"{name}: closed goes with a RAW side, handshake with two native ones");
        }

        file.Ignore("still_open_after_ms");
        file.Finish();
        return transcript;
    }

    private static Side ReadSide(StrictObject side, string name)
    {
        string type = side.Text("type");
        string? transport = side.OptionalText("transport");
        bool isRaw = string.Equals(type, Side.RawType, StringComparison.Ordinal);
        if (!isRaw && transport is not (Side.Tcp or Side.Ws))
        {
            throw transport is null ? new TranscriptFormatException($"{side.What}: a native side without transport")
                : new NotSupportedYetException($"transport {transport}");
        }

        SideRole role = side.Text("role") switch
        {
            "bind" => SideRole.Bind,
            "connect" => SideRole.Connect,
            string other => throw new TranscriptFormatException($"{side.What}: unknown role {other}"),
        };
        if ((role is SideRole.Bind) != string.Equals(name, "b", StringComparison.Ordinal))
        {
            throw new TranscriptFormatException($"{side.What}: b binds, a and a2 connect");
        }

        SideOption[] options = [.. side.Required("options").EnumerateObject()
            .SelectMany(option => OptionTable.Read(option.Name, option.Value, side.What))];
        var result = new Side(name, type, role, options, transport, side.OptionalText("endpoint"));
        side.Finish();
        return result;
    }

    /// <summary>span_ms: the sum of the waits per step, or null.</summary>
    private static Dictionary<int, int>? SpanOf(StrictObject file)
        => file.Optional("span_ms")?.EnumerateObject()
            .ToDictionary(step => int.Parse(step.Name, System.Globalization.CultureInfo.InvariantCulture), step => step.Value.GetInt32());

    /// <summary>closed: per connection who closed it first; null for one still open at the end.</summary>
    private static List<(int Connection, string? By, string? How)>? ClosedOf(StrictObject file)
    {
        if (!file.Has("closed"))
        {
            return null;
        }

        var closed = new List<(int, string?, string?)>();
        foreach (StrictObject entry in List(file, "closed"))
        {
            closed.Add((entry.Number("conn", low: 1), entry.Required("by").GetString(), entry.Required("how").GetString()));
            entry.Finish();
        }

        return closed;
    }

    private static IEnumerable<StrictObject> List(StrictObject file, string key) =>
        file.List(key).Select(entry => new StrictObject(entry.Element, entry.What));

    private static JsonDocument Parse(string text)
    {
        try
        {
            return JsonDocument.Parse(text);
        }
        catch (JsonException fault)
        {
            throw new TranscriptFormatException("not JSON: " + fault.Message);
        }
    }
}
