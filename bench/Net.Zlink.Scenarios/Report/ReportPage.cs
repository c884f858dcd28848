using System.Globalization;
using System.Xml.Linq;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>The whole page: first what must not be missed, then a section for each summary.</summary>
internal static class ReportPage
{
    // Of a list that may be long: enough to know what it is about.
    private const int MostShown = 4;

    // Of a commit: enough to find it.
    private const int CommitLetters = 10;

    public static string Write(IReadOnlyList<ReportInput> inputs, DateTimeOffset now) =>
        "<!DOCTYPE html>\n" + Page(inputs, now).ToString(SaveOptions.DisableFormatting) + "\n";

    internal static XElement Page(IReadOnlyList<ReportInput> inputs, DateTimeOffset now)
    {
        var body = Html.Element("body", Html.Element("h1", Html.Text("Net.Zlink: measurements")),
            Html.Element("p", Html.Class("muted"), Html.Text(
            $"Written {Date(now)} from {inputs.Count} {(inputs.Count == 1 ? "summary" : "summaries")}.")), Banner(inputs));
        if (inputs.Count > 0)
        {
            body.Add(Overview(inputs));
        }

        for (int i = 0; i < inputs.Count; i++)
        {
            body.Add(Section(inputs[i], i));
        }

        return Html.Element(
            "html",
            Html.Attribute("lang", "en"),
            Html.Element(
                "head",
                Html.Element("meta", Html.Attribute("charset", "utf-8")),
                Html.Element("meta", Html.Attribute("name", "viewport"), Html.Attribute("content", "width=device-width, initial-scale=1")),
                Html.Element("title", Html.Text("Net.Zlink: measurements")),
                Html.Element("style", Html.Text(ReportStyle.Css))),
            body);
    }

    private static string Id(int index) => "run-" + (index + 1).ToString(CultureInfo.InvariantCulture);

    private static string Date(DateTimeOffset at) =>
        at.ToUniversalTime().ToString("yyyy-MM-dd HH:mm", CultureInfo.InvariantCulture) + " UTC";

    private static string ShortVersion(string version)
    {
        int plus = version.IndexOf('+', StringComparison.Ordinal);
        return plus >= 0 && version.Length > plus + 1 + CommitLetters ? version[..(plus + 1 + CommitLetters)] : version;
    }

    private static bool Passed(ReportInput input) => input.Summary.PassFail is ResultRow.Pass;

    private static string TitleOf(Summary summary) => summary.Settings is { } settings
        ? $"{settings.Scenario.ToString().ToLowerInvariant()} over {settings.Transport}: {Figures.Full(settings.Connections)} "
            + $"{(settings.Connections == 1 ? "connection" : "connections")}, {Figures.Bytes(settings.Size)}, {settings.InFlight} in flight"
        : summary.Kind;

    private static XElement Banner(IReadOnlyList<ReportInput> inputs)
    {
        if (inputs.Count == 0)
        {
            return Html.Element("div", Html.Class("banner warn"), Html.Text("! There is nothing to report: no summary was given."));
        }

        ReportInput[] failed = [.. inputs.Where(static input => !Passed(input))];
        int voided = inputs.Count(static input => input.Summary.Doubts.Count > 0);
        string passed = inputs.Count == 1 ? "It passed" : $"All {inputs.Count} runs passed";
        return failed.Length == 0
            ? voided == 0
                ? Html.Element("div", Html.Class("banner good"), Html.Text($"\u2713 {passed}."))
                : Html.Element("div", Html.Class("banner warn"),
                    Html.Text($"! {passed}, but {(inputs.Count == 1 ? "its" : $"the")} figures {(inputs.Count == 1 ? "" : $"of {voided} "
                    + $"")}are void by their own rules: see there."))
            : Html.Element(
                "div",
                Html.Class("banner bad"),
                Html.Text($"\u2717 FAIL: {failed.Length} of {inputs.Count} {(inputs.Count == 1 ? "run" : "runs")} failed. Their figures "
                    + $"count for nothing."),
                Html.Element("ul", failed.Select(static input =>
                    Html.Element("li", Html.Text($"{input.Name}: {TitleOf(input.Summary)}")))));
    }

    private static XElement Overview(IReadOnlyList<ReportInput> inputs) => Html.Table(
        ["run", "what", "started", "version", "verdict"],
        inputs.Select(static (input, index) => (IReadOnlyList<object>)
        [
            Html.Element("a", Html.Attribute("href", "#" + Id(index)), Html.Text(input.Name)),
            Html.Element("span", Html.Text(TitleOf(input.Summary))),
            Html.Element("span", Html.Text(Date(input.Summary.Started))),
            Html.Element("span", Html.Text(ShortVersion(input.Summary.Versions.NetZlink))),
            Html.Element("span", Html.Class("nowrap"), Html.Verdict(input.Summary.PassFail), Html.Text(" "), input.Summary.Doubts.Count > 0
                ? Html.Chip("void", "warn") : null),
        ]));

    private static XElement Section(ReportInput input, int index)
    {
        Summary summary = input.Summary;
        var section = Html.Element(
            "section",
            Html.Attribute("id", Id(index)),
            Html.Element("h2", Html.Text($"{input.Name}: {TitleOf(summary)} "), Html.Verdict(summary.PassFail)),
            Html.Element("p", Html.Class("muted"), Html.Text($"{Date(summary.Started)}, {Duration(summary)}; {summary.Machine}")));
        if (summary.Doubts.Count > 0)
        {
            section.Add(Html.Element(
                "div",
                Html.Class("banner warn"),
                Html.Text("! Void by its own rules:"),
                List(summary.Doubts.Take(MostShown)),
                summary.Doubts.Count > MostShown ? Html.Element(
                    "details", Html.Element("summary", Html.Text($"and {summary.Doubts.Count - MostShown} more")),
                    List(summary.Doubts.Skip(MostShown))) : null));
        }

        if (summary.Unjudged.Count > 0)
        {
            section.Add(Html.Element("div", Html.Class("muted"), Html.Text("Not judged:"), List(summary.Unjudged)));
        }

        section.Add(ScenarioSection.Write(summary), PatternsSection.Write(summary), SoakSection.Write(summary),
            SettingsSection.Write(summary));
        return section;
    }

    private static XElement List(IEnumerable<string> lines) =>
        Html.Element("ul", lines.Select(static line => Html.Element("li", Html.Text(line))));

    private static string Duration(Summary summary)
    {
        double seconds = Math.Max(0, (summary.Finished - summary.Started).TotalSeconds);
        return seconds < 120 ? string.Create(CultureInfo.InvariantCulture, $"{seconds:0} s")
            : string.Create(CultureInfo.InvariantCulture, $"{seconds / 60:0} min");
    }
}
