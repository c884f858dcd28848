using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>Reads the entries of sent, records, delivered, events and differs.</summary>
internal static class TrafficReader
{
    /// <summary>What a RAW side or a relay sees of an end, as the format names the monitor's events.</summary>
    private static readonly HashSet<string> EventNames = new(StringComparer.Ordinal)
    {
        "CONNECTION_READY", "DISCONNECTED", "HANDSHAKE_FAILED_NO_DETAIL", "HANDSHAKE_FAILED_PROTOCOL", "HANDSHAKE_FAILED_AUTH",
    };

    public static SentMessage Sent(StrictObject entry)
    {
        string? error = null;
        if (entry.Optional("error") is { } element)
        {
            var keys = new StrictObject(element, entry.What + ".error");
            keys.Number("errno");
            error = keys.Text("name");
            keys.Finish();
        }

        byte[][] parts = Parts(entry);
        var sent = new SentMessage(entry.Text("at"), entry.Number("step"), parts, error, RandomOfParts(entry, parts));
        entry.Finish();
        return sent;
    }

    /// <summary>A delivered message; <paramref name="kinds"/> is true in our expectations, which may say what the application is told
    /// beside the payload.</summary>
    public static DeliveredMessage Delivered(StrictObject entry, bool kinds)
    {
        byte[][] parts = Parts(entry);
        var delivered = new DeliveredMessage(entry.Text("at"), entry.Number("step"), parts)
        {
            Properties = entry.Optional("props")?.EnumerateObject()
                .ToDictionary(p => p.Name, p => p.Value.GetString() ?? string.Empty, StringComparer.Ordinal),
            Kind = kinds ? entry.OptionalText("kind") : null,
            Random = RandomOfParts(entry, parts),
        };
        entry.Finish();
        return delivered;
    }

    public static MonitorEvent Event(StrictObject entry)
    {
        string name = entry.Text("event");
        if (!EventNames.Contains(name))
        {
            throw new TranscriptFormatException($"{entry.What}: unknown event {name}");
        }

        byte[] routingId = entry.Bytes("rid");
        var result = new MonitorEvent(
            entry.Text("at"), entry.Number("step"), name, entry.Required("value").GetInt64(), routingId, entry.Flag("noise"),
                Random(entry, _ => routingId.Length, ofParts: false));
        entry.Finish();
        return result;
    }

    public static WireRecord Record(StrictObject entry)
    {
        entry.Ignore("note", "text");
        if (new[] { "hex", "segments", "close" }.Count(entry.Has) != 1)
        {
            throw new TranscriptFormatException($"{entry.What}: one of hex, segments, close is needed");
        }

        string? close = entry.OptionalText("close");
        byte[] bytes = entry.Has("hex") ? entry.Bytes("hex") : entry.Has("segments")
            ? BytesValue.Segments(entry.Required("segments"), entry.What) : [];
        var record = new WireRecord(entry.Text("from"), entry.Number("step"), entry.OptionalNumber("conn", low: 1) ?? 1)
        {
            Bytes = bytes,
            Close = close is null ? null : Close(close, entry.What),
            Assumed = entry.Flag("assumed"),
            AtMs = entry.OptionalNumber("at_ms"),
            Segment = entry.OptionalNumber("segment", low: 1),
            Random = Random(entry, _ => bytes.Length, ofParts: false),
            Http = entry.Has("http") ? Head(new StrictObject(entry.Required("http"), entry.What + ".http")) : null,
            Payload = entry.Has("payload") ? entry.Bytes("payload") : null,
            Control = [.. entry.List("control").Select(frame => Control(new StrictObject(frame.Element, frame.What)))],
            Masked = entry.Flag("masked"),
        };
        if (close is null == (bytes.Length == 0))
        {
            throw new TranscriptFormatException($"{entry.What}: no bytes");
        }

        entry.Finish();
        return record;
    }

    public static Difference Difference(StrictObject entry)
    {
        entry.Ignore("ref");
        string advice = entry.Text("advice");
        if (advice is not ("should" or "may"))
        {
            throw new TranscriptFormatException($"{entry.What}: unknown advice {advice}");
        }

        bool visible = !entry.Has("visible") || entry.Flag("visible");
        var difference = new Difference(entry.Number("step"), entry.Text("what"), advice is "should", visible);
        entry.Finish();
        return difference;
    }

    public static CloseKind Close(string word, string what) => word switch
    {
        "fin" => CloseKind.Fin,
        "rst" => CloseKind.Rst,
        "close" => CloseKind.Close,
        _ => throw new TranscriptFormatException($"{what}: unknown close {word}"),
    };

    private static RecordedHead Head(StrictObject keys)
    {
        var head = new RecordedHead(
            keys.Number("length", low: 1),
            keys.OptionalText("method"),
            keys.OptionalText("path"),
            keys.OptionalNumber("status"),
            keys.Required("headers").EnumerateObject()
                .ToDictionary(header => header.Name, header => header.Value.GetString() ?? string.Empty, StringComparer.Ordinal));
        keys.Finish();
        return head;
    }

    private static ControlFrame Control(StrictObject keys)
    {
        var frame = new ControlFrame(keys.Text("op"), keys.Bytes("payload"));
        keys.Finish();
        return frame;
    }

    private static byte[][] Parts(StrictObject entry)
    {
        byte[][] parts = [.. entry.List("parts").Select(part => BytesValue.Read(part.Element, part.What))];
        return parts.Length > 0 ? parts : throw new TranscriptFormatException($"{entry.What}: no parts");
    }

    private static RandomField[] RandomOfParts(StrictObject entry, byte[][] parts)
        => Random(entry, part => part < parts.Length ? parts[part].Length : 0, ofParts: true);

    private static RandomField[] Random(StrictObject entry, Func<int, int> lengthOf, bool ofParts)
        => [.. entry.List("random").Select(item =>
        {
            var keys = new StrictObject(item.Element, item.What);
            keys.Ignore("what");
            int part = ofParts ? keys.Number("part") : 0;
            var field = new RandomField(part, keys.Number("offset"), keys.Number("length", low: 1), keys.OptionalText("id"));
            keys.Finish();
            return field.Offset + field.Length <= lengthOf(part) ? field
                : throw new TranscriptFormatException($"{item.What}: outside of the bytes");
        })];
}
