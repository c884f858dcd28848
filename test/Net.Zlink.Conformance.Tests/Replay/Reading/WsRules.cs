using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>What a record on ws says of itself must be what its bytes are; on tcp it must say nothing.</summary>
internal static class WsRules
{
    public static void Check(Transcript transcript)
    {
        var upgraded = new Dictionary<(string From, int Connection), bool>();
        foreach (WireRecord record in transcript.Records)
        {
            string what = $"{transcript.Name}: a record of step {record.Step} from {record.From}";
            if (!transcript.IsWs)
            {
                string? key = record switch
                { { Http: not null } => "http", { Payload: not null } => "payload",
                    { Masked: true } => "masked", { Control.Count: > 0 } => "control",
                    _ => null
                };
                Need(key is null, $"{what}: key {key} on tcp");
                continue;
            }

            (string, int) direction = (record.From, record.Connection);
            if (record.Http is { } head)
            {
                CheckHead(record, head, what);
                Need(upgraded.TryAdd(direction, head.Status is null or 101), $"{what}: http twice");
            }

            if (record.Close is null)
            {
                CheckFrames(record, transcript.Sides[record.From], upgraded.GetValueOrDefault(direction), what);
            }
        }
    }

    private static void CheckHead(WireRecord record, RecordedHead head, string what)
    {
        Need(head.Length <= record.Bytes.Length && HttpHead.LengthOf(record.Bytes) is { } end && end <= head.Length,
            $"{what}: http length");
        HttpHead? parsed = HttpHead.TryParse(record.Bytes.AsSpan(0, HttpHead.LengthOf(record.Bytes)!.Value));
        bool same = parsed is not null && parsed.Status == head.Status
            && string.Equals(parsed.Method, head.Method, StringComparison.Ordinal)
                && string.Equals(parsed.Path, head.Path, StringComparison.Ordinal);
        Need(same, $"{what}: http is something else than its bytes");
        foreach ((string name, string value) in head.Headers)
        {
            bool varies = value is RecordedHead.Key or RecordedHead.Accept || value.EndsWith(RecordedHead.Port, StringComparison.Ordinal);
            Need(parsed!.Headers.TryGetValue(name, out string? there) && (varies || string.Equals(there, value, StringComparison.Ordinal)),
                $"{what}: header {name}");
        }
    }

    private static void CheckFrames(WireRecord record, Side side, bool upgraded, string what)
    {
        ReadOnlySpan<byte> rest = record.Bytes.AsSpan(record.Http?.Length ?? 0);
        IReadOnlyList<WsFrame>? frames = upgraded ? FramesOf(rest) : rest.IsEmpty || side.IsRaw ? [] : null;
        if (frames is null)
        {
            Need(side.IsRaw, $"{what}: a native side's frames do not end with the record");
            Need(record is { Payload: null, Control.Count: 0, Masked: false }, $"{what}: ws keys on a broken frame");
            return;
        }

        WsFrame[] data = [.. frames.Where(frame => !frame.IsControl)];
        Need(data.Length > 0 == record.Payload is not null, $"{what}: payload missing or too much");
        Need(record.Payload is null || record.Payload.AsSpan().SequenceEqual(data.SelectMany(frame => frame.Payload).ToArray()),
            $"{what}: payload is something else than its bytes");
        Need(record.Masked == frames.Any(frame => frame.IsMasked), $"{what}: masked");
        IEnumerable<string> control = frames.Where(frame => frame.IsControl)
            .Select(frame => $"{frame.Opcode} {Convert.ToHexString(frame.Payload)}");
        Need(control.SequenceEqual(record.Control.Select(frame => $"{frame.Op} {Convert.ToHexString(frame.Payload)}"),
            StringComparer.OrdinalIgnoreCase), $"{what}: control");
        if (!side.IsRaw)
        {
            var reading = new WsReading(side.Role is SideRole.Connect);
            reading.Take([.. "GET / HTTP/1.1\r\n\r\n"u8, .. rest]);
            Need(reading.Fault is null, $"{what}: a native side sends {reading.Fault}");
        }
    }

    /// <summary>Null when the last one is not whole.</summary>
    private static List<WsFrame>? FramesOf(ReadOnlySpan<byte> bytes)
    {
        var frames = new List<WsFrame>();
        while (!bytes.IsEmpty)
        {
            if (WsFrame.TryRead(bytes) is not { } frame)
            {
                return null;
            }

            frames.Add(frame);
            bytes = bytes[frame.Size..];
        }

        return frames;
    }

    private static void Need(bool holds, string otherwise)
    {
        if (!holds)
        {
            throw new TranscriptFormatException(otherwise);
        }
    }
}
