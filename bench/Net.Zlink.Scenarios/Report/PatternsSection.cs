using System.Xml.Linq;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Report.Charts;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>patterns and multi: throughput and round trips against the size of a message.</summary>
internal static class PatternsSection
{
    public static IEnumerable<XElement> Write(Summary summary)
    {
        if (summary.Patterns.Count == 0)
        {
            return [];
        }

        var content = new List<XElement>();
        if (summary.Bars.Count > 0)
        {
            content.Add(Html.Element("h3", Html.Text("What had to be reached")));
            content.Add(Html.Table(["case", "bar", "measured", "verdict"],
                summary.Bars.Select(static bar => (IReadOnlyList<object>)[bar.Case, bar.Bar, bar.Measured,
                Html.Chip(bar.Verdict, bar.Verdict switch { "met" => "good", "within noise" => "warn", _ => "bad" })])));
        }

        PatternRow[] failed = [.. summary.Patterns.Where(static row => row.Fault is not null)];
        if (failed.Length > 0)
        {
            content.Add(Html.Element(
                "div",
                Html.Class("banner bad"),
                Html.Text("\u2717 FAIL: these rounds failed"),
                Html.Element("ul", failed.Select(static row =>
                    Html.Element("li", Html.Text(
                    $"{row.Stack}, {row.Pattern} over {row.Transport}, {Figures.Bytes(row.Size)}, round {row.Round}: {row.Fault}"))))));
        }

        foreach (IGrouping<string, PatternRow> transport in summary.Patterns.GroupBy(static row => row.Transport, StringComparer.Ordinal))
        {
            content.Add(Html.Element("h3", Html.Text(
                $"Over {transport.Key}{(transport.Max(static row => row.Clients) is var clients and > 1 ? $", {clients} clients to one "
                + $"server" : "")}")));
            content.Add(Html.Element("div", Html.Class("charts"),
                transport.GroupBy(static row => row.Pattern, StringComparer.Ordinal)
                .Select(static pattern => Chart(pattern, "throughput", "messages per second", static row => row.MessagesPerSecond))));
            content.Add(Html.Element(
                "details",
                transport.Any(static row => row.LatencyMicroseconds is not null) ? Html.Attribute("open", "open") : null,
                Html.Element("summary", Html.Text($"Round trips over {transport.Key}")),
                Html.Element(
                    "div",
                    Html.Class("charts"),
                    transport.GroupBy(static row => row.Pattern, StringComparer.Ordinal)
                        .Where(static pattern => pattern.Any(static row => row.LatencyMicroseconds is not null))
                        .Select(static pattern => Chart(pattern, "latency", "microseconds, one way",
                        static row => row.LatencyMicroseconds)),
                    Html.Text(""))));
            content.Add(Table(transport));
        }

        content.Add(Html.Element("p", Html.Class("muted"),
            Html.Text("Points are medians of the rounds, whiskers go from the lowest to the highest. net-zlink-batch receives many "
            + "messages a call; the native library has single messages only. Ratios are taken within each round.")));
        return content;
    }

    private static XElement Chart(IGrouping<string, PatternRow> pattern, string what, string axis, Func<PatternRow, double?> figure)
    {
        ChartSeries[] series =
        [
            .. pattern.GroupBy(static row => row.Stack, StringComparer.Ordinal).OrderBy(static stack => stack.Key, StringComparer.Ordinal)
                .Select(stack => new ChartSeries(
                stack.Key,
                [
                    .. from size in stack.GroupBy(static row => row.Size)
                       let spread = Spread.Of(size.Select(figure).OfType<double>())
                       where spread is not null
                       orderby size.Key
                       select new ChartPoint(size.Key, spread.Value.Median, spread.Value.Min, spread.Value.Max),
                ])),
        ];
        int[] sizes = [.. pattern.Select(static row => row.Size).Distinct().Order()];
        return LineChart.Draw(
            $"{pattern.Key}: {what}",
            ChartAxis.Fixed("bytes of one message (K: 1,024)",
                [.. Labelled(sizes).Select(static size => ((double)size, Figures.ShortBytes(size)))], sizes[0] / 1.6, sizes[^1] * 1.6),
            ChartAxis.Logarithmic(axis, series.SelectMany(static one => one.Points)
                .SelectMany(static point => new[] { point.Y, point.Low ?? point.Y, point.High ?? point.Y })),
            series);
    }

    /// <summary>Sizes that lie so close that their labels would touch are drawn and not named.</summary>
    private static IEnumerable<int> Labelled(int[] sizes)
    {
        double range = Math.Log(sizes[^1] * 1.6 / (sizes[0] / 1.6));
        double last = double.NegativeInfinity;
        foreach (int size in sizes)
        {
            // 30 px of the axis: four letters.
            const double Room = 0.11;
            double at = Math.Log(size) / range;
            if (at - last >= Room)
            {
                last = at;
                yield return size;
            }
        }
    }

    private static XElement Table(IGrouping<string, PatternRow> transport) => Html.Element(
        "details",
        Html.Element("summary", Html.Text($"Figures over {transport.Key}")),
        Html.Table(
            ["pattern", "size", "stack", "messages per second", "x native", "us one way", "x native"],
            from one in transport.GroupBy(static row => (row.Pattern, row.Size, row.Stack))
            let native = transport.Where(row => row.Stack is PatternStack.Native && row.Size == one.Key.Size
                && string.Equals(row.Pattern, one.Key.Pattern, StringComparison.Ordinal)).ToArray()
            select (IReadOnlyList<object>)
            [
                one.Key.Pattern,
                Figures.Bytes(one.Key.Size),
                one.Key.Stack,
                Figures.Full(Spread.Of(one.Select(static row => row.MessagesPerSecond).OfType<double>())),
                one.Key.Stack is PatternStack.Native ? "-" : Ratio(one, native, static row => row.MessagesPerSecond),
                Figures.Full(Spread.Of(one.Select(static row => row.LatencyMicroseconds).OfType<double>()), "0.0"),
                one.Key.Stack is PatternStack.Native ? "-" : Ratio(one, native, static row => row.LatencyMicroseconds),
            ]));

    private static string Ratio(IEnumerable<PatternRow> ours, PatternRow[] native, Func<PatternRow, double?> figure) => Figures.Full(
        Spread.Of(
            from row in ours
            let beside = native.Where(other => other.Round == row.Round).Select(figure).FirstOrDefault()
            where figure(row) is not null && beside is > 0
            select figure(row)!.Value / beside.Value),
        "0.00");
}
