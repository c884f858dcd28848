using System.Text.Json;
using Net.Zlink.Conformance.Tests.Replay.Model;
using Net.Zlink.Conformance.Tests.Replay.Reading;

namespace Net.Zlink.Conformance.Tests.Replay.Expecting;

/// <summary>
/// Our deliberate differences. Each row must say what happens instead, why, and where docs/protocol.md says so; what it says is then
/// compared like
/// the rest of the file. A transcript that advises a difference that has no row fails, once it was played up to there; a row that changes
/// nothing is an error.
/// </summary>
internal sealed class ExpectationFile
{
    private const string Document = "docs/protocol.md";

    private ExpectationFile(IReadOnlyList<Expectation> rows) => Rows = rows;

    public IReadOnlyList<Expectation> Rows { get; }

    public static ExpectationFile Read(string path) => Parse(File.ReadAllText(path));

    public static ExpectationFile Parse(string text)
    {
        using JsonDocument document = JsonDocument.Parse(text);
        var file = new StrictObject(document.RootElement, "expectations");
        file.Ignore("about");
        Expectation[] rows = [.. file.List("rows").Select(row => ReadRow(new StrictObject(row.Element, row.What)))];
        file.Finish();
        return new ExpectationFile(rows);
    }

    /// <summary>The conversation as we have it.</summary>
    public Transcript Apply(Transcript transcript)
    {
        Expectation[] rows = [.. Rows.Where(row => row.IsFor(transcript)).OrderBy(row => row.Step)];
        Transcript result = rows.Aggregate(transcript, (current, row) => row.ApplyTo(current)) with
        {
            Undecided = transcript.Differences.Where(
                difference => difference is { Should: true, Visible: true } && !Array.Exists(rows, row => row.Step == difference.Step))
                .MinBy(difference => difference.Step),
        };
        TranscriptRules.CheckTraffic(result);
        foreach (Expectation row in rows.Where(row => !Changes(row, transcript)))
        {
            throw new TranscriptFormatException($"{transcript.Name}: the row for step {row.Step} changes nothing");
        }

        return result;
    }

    /// <summary>Rows that no file of this folder has any use for.</summary>
    public IEnumerable<Expectation> Unused(IEnumerable<string> files)
    {
        HashSet<string> names = new(files, StringComparer.Ordinal);
        return Rows.Where(row => !names.Contains(row.File));
    }

    private static Expectation ReadRow(StrictObject row)
    {
        string reference = row.Text("ref");
        if (!reference.StartsWith(Document, StringComparison.Ordinal) || row.Text("why").Length == 0)
        {
            throw new TranscriptFormatException($"{row.What}: needs a why, and a ref into {Document}");
        }

        var expectation = new Expectation(row.Text("file"), row.Number("step"), row.Text("what"))
        {
            Steps = row.Has("steps") ? [.. row.List("steps")
                .Select(step => step.Element.GetString() ?? throw new TranscriptFormatException($"{step.What}: not a label"))] : [],
            ConnectionsSeen = row.OptionalNumber("connections_seen"),
            Actions = ReadList(row, "actions", ActionReader.Read),
            Sent = ReadList(row, "sent", TrafficReader.Sent),
            Records = ReadList(row, "records", TrafficReader.Record),
            Delivered = ReadList(row, "delivered", entry => TrafficReader.Delivered(entry, kinds: true)),
            Events = ReadList(row, "events", TrafficReader.Event),
        };
        row.Finish();
        return expectation;
    }

    private static T[]? ReadList<T>(StrictObject row, string key, Func<StrictObject, T> read)
        => row.Has(key) ? [.. row.List(key).Select(entry => read(new StrictObject(entry.Element, entry.What)))] : null;

    private static bool Changes(Expectation row, Transcript transcript)
    {
        Transcript changed = row.ApplyTo(transcript);
        return !Text(changed).SequenceEqual(Text(transcript), StringComparer.Ordinal);
    }

    /// <summary>All that a row can change, in a form that compares by value.</summary>
    private static IEnumerable<string> Text(Transcript transcript)
        => transcript.Steps.Append($"{transcript.ConnectionsSeen} connections")
            .Concat(transcript.Actions.Select(a => $"{a}"))
            .Concat(transcript.Sent.Select(s => $"{s.At} {s.Step} {s.Error} {string.Join(' ', s.Parts.Select(Convert.ToHexString))}"))
            .Concat(transcript.Records.Select(
                r => $"{r.From} {r.Step} {r.Connection} {r.Close} {r.Assumed} {Convert.ToHexString(r.Bytes)}"))
            .Concat(transcript.Delivered.Select(d => $"{d.At} {d.Step} {d.Kind} {string.Join(' ', d.Parts.Select(Convert.ToHexString))}"))
            .Concat((transcript.Events ?? []).Select(e => $"{e.At} {e.Step} {e.Name} {e.Value} {Convert.ToHexString(e.RoutingId)}"));
}
