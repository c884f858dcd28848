using System.Xml.Linq;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Patterns.Soak;
using Net.Zlink.Scenarios.Report.Charts;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>soak: what the process held, over time, and the verdicts on its growth.</summary>
internal static class SoakSection
{
    private const double SecondsPerMinute = 60;

    // A run shorter than this is read in seconds.
    private const double LongSeconds = 300;

    public static IEnumerable<XElement> Write(Summary summary)
    {
        if (summary.Soak is not { } soak)
        {
            yield break;
        }

        yield return Html.Element("p", Html.Text(
            $"{Figures.Full(soak.Messages)} messages and {Figures.Full(soak.Connections)} connections in {Figures.Full(soak.Seconds)} s."));
        if (soak.Faults.Count > 0)
        {
            yield return Html.Element("div", Html.Class("banner bad"), Html.Text("\u2717 FAIL: what must not happen at all"),
                Html.Element("ul", soak.Faults.Select(static fault => Html.Element("li", Html.Text(fault)))));
        }

        yield return Html.Table(
            ["figure", "growth per hour", "limit per hour", "verdict"],
            soak.Slopes.Select(static slope => (IReadOnlyList<object>)[slope.Figure, Figures.Full(slope.PerHour, "0.00"),
                Figures.Full(slope.LimitPerHour, "0.00"), Html.Verdict(slope.PassFail)]));
        if (soak.Samples.Count == 0)
        {
            yield break;
        }

        bool isLong = soak.Seconds >= LongSeconds;
        double unit = isLong ? SecondsPerMinute : 1;
        yield return Html.Element(
            "div",
            Html.Class("charts"),
            SoakFigure.All.Select(figure => Chart(figure.Name,
                soak.Samples.Select(sample => new ChartPoint(sample.Second / unit, figure.Of(sample))))),
            Chart("messages per second", Rates(soak.Samples, unit)));

        XElement Chart(string name, IEnumerable<ChartPoint> points)
        {
            ChartPoint[] all = [.. points];
            return LineChart.Draw(
                char.ToUpperInvariant(name[0]) + name[1..],
                ChartAxis.Time(isLong ? "minutes since start" : "seconds since start", all.Select(static point => point.X)),
                ChartAxis.Linear(name.Contains("MB", StringComparison.Ordinal) ? "MB" : name, all.Select(static point => point.Y)),
                [new ChartSeries(PatternStack.Managed, all)],
                always: false);
        }
    }

    private static IEnumerable<ChartPoint> Rates(IReadOnlyList<SoakSample> samples, double unit) =>
        samples.Zip(samples.Skip(1), (before, after) =>
            new ChartPoint(after.Second / unit, (after.Messages - before.Messages) / Math.Max(1e-3, after.Second - before.Second)));
}
