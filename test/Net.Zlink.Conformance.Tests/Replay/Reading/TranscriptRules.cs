using Net.Zlink.Conformance.Tests.Replay.Model;

namespace Net.Zlink.Conformance.Tests.Replay.Reading;

/// <summary>What must hold between the parts of a transcript, so that a slip in a file is not taken for a fault of the
/// implementation.</summary>
internal static class TranscriptRules
{
    public static void Check(Transcript transcript, Dictionary<int, int>? span, List<(int Connection, string? By, string? How)>? closed)
    {
        Need(transcript.Steps.Count > 0, transcript, "no steps");
        Need(transcript.Sides.Values.Any(side => !side.IsRaw), transcript, "no native side");
        Need(transcript.Sides.Values.Where(side => !side.IsRaw).Select(side => side.Transport).Distinct(StringComparer.Ordinal)
            .Count() == 1, transcript, "two transports");
        CheckActions(transcript);
        CheckTraffic(transcript);
        CheckSpan(transcript, span);
        CheckClosed(transcript, closed);
        bool monitored = transcript.Actions.Any(action => action.Kind is ActionKind.Monitor);
        Need(monitored == (transcript.Events is not null), transcript, "events and a monitor action go together");
        Need((transcript.ConnectionsSeen is not null) == transcript.Sides["b"].IsRaw, transcript, "connections_seen goes with a RAW b");
    }

    /// <summary>The part that must still hold once our differences are applied.</summary>
    public static void CheckTraffic(Transcript transcript)
    {
        CheckSteps(transcript);
        CheckRecords(transcript);
        WsRules.Check(transcript);
    }

    private static void CheckSteps(Transcript transcript)
    {
        int[] acting = [.. transcript.Actions.Select(a => a.Step), .. transcript.Sent.Select(s => s.Step),
            .. transcript.Records.Select(r => r.Step)];
        int[] told = [.. transcript.Delivered.Select(d => d.Step), .. (transcript.Events ?? []).Select(e => e.Step),
            .. transcript.Differences.Select(d => d.Step)];
        Need(acting.Concat(told).All(step => step < transcript.Steps.Count), transcript, "a step outside of steps");
        for (int step = 0; step < transcript.Steps.Count; step++)
        {
            Need(acting.Contains(step), transcript, $"nothing happens in step {step}");
        }

        Need(IsSorted(transcript.Records.Select(r => r.Step)), transcript, "records not in the order of steps");
        Need(IsSorted(transcript.Actions.Select(a => (2 * a.Step) + (a.Kind is ActionKind.Idle ? 1 : 0))), transcript,
            "actions not in order; idle is last in its step");
    }

    private static void CheckActions(Transcript transcript)
    {
        foreach (TranscriptAction action in transcript.Actions)
        {
            bool net = string.Equals(action.At, TranscriptAction.Net, StringComparison.Ordinal);
            Need(net || transcript.Sides.ContainsKey(action.At), transcript, $"an action at {action.At}, which is no side");
            Need(net == (action.Kind is ActionKind.Idle) || action.Kind is ActionKind.Cut, transcript,
                $"{action.Kind} does not belong at {action.At}");
            if (action.Kind is ActionKind.Monitor or ActionKind.Set or ActionKind.Subscribe or ActionKind.Unsubscribe or ActionKind.Close)
            {
                Need(!transcript.Sides[action.At].IsRaw, transcript, $"{action.Kind} at a RAW side");
            }

            if (action.Kind is ActionKind.Connect or ActionKind.Accept or ActionKind.Bind)
            {
                SideRole role = action.Kind is ActionKind.Connect ? SideRole.Connect : SideRole.Bind;
                Need(transcript.Sides[action.At].Role == role, transcript, $"{action.Kind} at the wrong side");
            }
        }

        int[] connections = [.. Opened(transcript).Keys.Order()];
        Need(connections.SequenceEqual(Enumerable.Range(1, connections.Length)), transcript, "connections are not numbered from 1");
        foreach (string at in transcript.Sent.Select(s => s.At).Concat(transcript.Delivered.Select(d => d.At))
            .Concat((transcript.Events ?? []).Select(e => e.At)))
        {
            Need(transcript.Sides.TryGetValue(at, out Side? side) && !side.IsRaw, transcript,
                $"an application at {at}, which is no native side");
        }
    }

    private static void CheckRecords(Transcript transcript)
    {
        Dictionary<int, int> opened = Opened(transcript);
        var ended = new HashSet<(string, int)>();
        foreach (WireRecord record in transcript.Records)
        {
            string what = $"a record of step {record.Step} on connection {record.Connection}";
            Need(opened.TryGetValue(record.Connection, out int step) && step <= record.Step, transcript, $"{what}: not open");
            Need(record.From is "b" || string.Equals(record.From, transcript.ConnectorOf(record.Connection), StringComparison.Ordinal),
                transcript, $"{what}: {record.From} is not at it");
            Need(!ended.Contains((record.From, record.Connection)), transcript, $"{what}: behind the close of {record.From}");
            Need(record.Segment is null || transcript.Sides[record.From].IsRaw, transcript, $"{what}: segment is for RAW sides");
            if (record.Close is not null)
            {
                ended.Add((record.From, record.Connection));
            }
        }
    }

    private static void CheckSpan(Transcript transcript, Dictionary<int, int>? span)
    {
        Need(transcript.Timed == span is not null, transcript, "timed and span_ms go together");
        if (span is not null)
        {
            IEnumerable<(int Step, int Sum)> waits = transcript.Actions.GroupBy(action => action.Step)
                .Select(step => (step.Key, step.Sum(action => action.Milliseconds + (action.WithinMs ?? 0)))).Where(step => step.Item2 > 0);
            Need(waits.ToDictionary(w => w.Step, w => w.Sum).OrderBy(w => w.Key).SequenceEqual(span.OrderBy(s => s.Key)), transcript,
                "span_ms is not the sum of the waits");
        }
    }

    private static void CheckClosed(Transcript transcript, List<(int Connection, string? By, string? How)>? closed)
    {
        foreach ((int connection, string? by, string? how) in closed ?? [])
        {
            WireRecord? first = transcript.Records.FirstOrDefault(record => record.Close is not null && record.Connection == connection);
            bool fits = string.Equals(by, first?.From, StringComparison.Ordinal)
                && string.Equals(how, first?.Close?.ToString(), StringComparison.OrdinalIgnoreCase);
            Need(fits, transcript, $"closed says something else about connection {connection} than the records");
        }
    }

    private static Dictionary<int, int> Opened(Transcript transcript)
    {
        var opened = new Dictionary<int, int>();
        foreach (TranscriptAction action in transcript.Actions.Where(action => action.Kind is ActionKind.Connect or ActionKind.Accept))
        {
            opened.TryAdd(action.Connection, action.Step);
        }

        return opened;
    }

    private static bool IsSorted(IEnumerable<int> values) => values.Zip(values.Skip(1)).All(pair => pair.First <= pair.Second);

    private static void Need(bool holds, Transcript transcript, string otherwise)
    {
        if (!holds)
        {
            throw new TranscriptFormatException($"{transcript.Name}: {otherwise}");
        }
    }
}
