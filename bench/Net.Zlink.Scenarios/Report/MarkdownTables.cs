using System.Globalization;
using System.Text;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>The same for README and docs: one table per summary, with where it comes from.</summary>
internal static class MarkdownTables
{
    // Of the reasons why a table is void: one would do.
    private const int MostShown = 3;

    public static string Write(IReadOnlyList<ReportInput> inputs)
    {
        var text = new StringBuilder();
        foreach (ReportInput input in inputs)
        {
            Summary summary = input.Summary;
            text.AppendLine(CultureInfo.InvariantCulture, $"### {Safe(input.Name)}: {summary.PassFail}").AppendLine();
            text.AppendLine(CultureInfo.InvariantCulture,
                $"{summary.Started.ToUniversalTime():yyyy-MM-dd}, Net.Zlink {Safe(summary.Versions.NetZlink)}, "
                + $"{Safe(summary.Machine.ToString())}.").AppendLine();
            if (summary.Doubts.Count > 0)
            {
                string more = summary.Doubts.Count > MostShown ? $"; and {summary.Doubts.Count - MostShown} more" : "";
                text.AppendLine(CultureInfo.InvariantCulture,
                    $"Void by its own rules: {string.Join("; ", summary.Doubts.Take(MostShown).Select(Safe))}{more}.").AppendLine();
            }

            if (summary.Unjudged.Count > 0)
            {
                text.AppendLine(CultureInfo.InvariantCulture, $"Not judged: {string.Join("; ", summary.Unjudged.Select(Safe))}.")
                    .AppendLine();
            }

            if (summary.Stacks.Count > 0)
            {
                text.AppendLine(Scenario(summary).ToString());
            }

            if (summary.Patterns.Count > 0)
            {
                text.AppendLine(Patterns(summary).ToString());
            }

            if (summary.Soak is { } soak)
            {
                text.AppendLine(Soak(soak).ToString());
                foreach (string fault in soak.Faults)
                {
                    text.AppendLine(CultureInfo.InvariantCulture, $"FAIL: {Safe(fault)}").AppendLine();
                }
            }
        }

        return text.ToString();
    }

    private static TextTable Scenario(Summary summary)
    {
        var table = new TextTable("stack", "per second", "p50 us", "p99 us", "server cpu us/msg", "server peak MB", "result");
        foreach (StackSummary stack in summary.Stacks)
        {
            table.Add(Safe(stack.Stack), Figures.Full(stack.Throughput), Figures.Full(stack.P50), Figures.Full(stack.P99),
                Figures.Full(stack.ServerCpuMicrosecondsPerMessage, "0.00"), Figures.Full(stack.ServerPeakMegabytes), stack.PassFail);
        }

        return table;
    }

    private static TextTable Patterns(Summary summary)
    {
        string[] stacks = [.. summary.Patterns.Select(static row => row.Stack).Distinct(StringComparer.Ordinal)
            .OrderBy(static stack => stack is PatternStack.Native)];
        var table = new TextTable(["pattern", .. stacks.Select(static stack => $"{Safe(stack)}, msg/s"),
            .. stacks.Select(static stack => $"{Safe(stack)}, us"), "result"]);
        foreach (IGrouping<(string Pattern, string Transport, int Size),
            PatternRow> one in summary.Patterns.GroupBy(static row => (row.Pattern, row.Transport, row.Size)))
        {
            table.Add(
            [
                Safe($"{one.Key.Pattern} {one.Key.Transport} {Figures.Bytes(one.Key.Size)}"),
                .. stacks.Select(stack => Figures.Full(Of(stack, static row => row.MessagesPerSecond))),
                .. stacks.Select(stack => Figures.Full(Of(stack, static row => row.LatencyMicroseconds), "0.0")),
                one.Any(static row => row.Fault is not null) ? ResultRow.Fail : ResultRow.Pass,
            ]);

            Spread? Of(string stack, Func<PatternRow, double?> figure) =>
                Spread.Of(one.Where(row => string.Equals(row.Stack, stack, StringComparison.Ordinal)).Select(figure).OfType<double>());
        }

        return table;
    }

    private static TextTable Soak(SoakResult soak)
    {
        var table = new TextTable("figure", "growth per hour", "limit per hour", "result");
        foreach (SoakSlope slope in soak.Slopes)
        {
            table.Add(Safe(slope.Figure), Figures.Full(slope.PerHour, "0.00"), Figures.Full(slope.LimitPerHour, "0.00"), slope.PassFail);
        }

        return table;
    }

    /// <summary>What would end a cell, a line, or the text that Markdown takes for text.</summary>
    private static string Safe(string text)
    {
        var safe = new StringBuilder(text.Length);
        foreach (char letter in text)
        {
            _ = letter switch
            {
                '|' or '<' or '`' or '[' or '*' or '\\' => safe.Append('\\').Append(letter),
                _ when char.IsControl(letter) => safe.Append(' '),
                _ => safe.Append(letter),
            };
        }

        return safe.ToString();
    }
}
