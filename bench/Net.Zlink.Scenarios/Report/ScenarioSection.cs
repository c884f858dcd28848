using System.Globalization;
using System.Xml.Linq;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Report.Charts;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Report;

/// <summary>s0, s1 or s2: the stacks side by side.</summary>
internal static class ScenarioSection
{
    // A curve up to 99.999 %; what lies beyond is single replies.
    private const double HighestPercent = 99.999;

    private static readonly (double Value, string Label)[] PercentTicks =
        [(Distance(0), "0"), (Distance(90), "90"), (Distance(99), "99"), (Distance(99.9), "99.9"), (Distance(99.99), "99.99"),
        (Distance(HighestPercent), "99.999")];

    public static IEnumerable<XElement> Write(Summary summary)
    {
        if (summary.Stacks.Count == 0 && summary.Rounds.Count == 0)
        {
            yield break;
        }

        bool connects = summary.Settings?.Scenario == Scenario.S1;
        yield return Html.Element(
            "div",
            Html.Class("charts"),
            Bars(summary, connects ? "Connections made" : "Throughput", connects ? "connections per second" : "messages per second",
                static stack => stack.Throughput),
            Bars(summary, connects ? "Making a connection, median" : "Latency, median", "microseconds", static stack => stack.P50),
            Bars(summary, connects ? "Making a connection, 99th percentile" : "Latency, 99th percentile", "microseconds",
                static stack => stack.P99),
            Bars(summary, "Server's processor time", "microseconds per message", static stack => stack.ServerCpuMicrosecondsPerMessage),
            Bars(summary, "Server's peak memory", "MB", static stack => stack.ServerPeakMegabytes));
        yield return Html.Element("p", Html.Class("muted"),
            Html.Text("Bars are medians of the rounds that passed, whiskers go from the lowest to the highest. Where whiskers overlap, "
            + "no difference was shown."));
        yield return Html.Table(
            ["stack", "per second", "p50 us", "p95 us", "p99 us", "rounds passed", "verdict"],
            summary.Stacks.Select(LoadRow));
        yield return Html.Table(
            ["stack", "all connected, s", "server cpu us/msg", "server peak MB", "client cpu us/msg"],
            summary.Stacks.Select(CostRow));
        foreach (XElement ratio in RatioTable(summary))
        {
            yield return ratio;
        }

        foreach (XElement fault in Failures(summary))
        {
            yield return fault;
        }

        yield return TimeCharts(summary);
        yield return Rounds(summary);
    }

    private static double Distance(double percent) => 100 / (100 - percent);

    private static XElement Bars(Summary summary, string title, string axis, Func<StackSummary, Spread?> figure) => BarChart.Draw(
        title,
        axis,
        [.. summary.Stacks.Select(stack => figure(stack) is { } spread
            ? new ChartBar(stack.Stack, spread.Median, spread.Min, spread.Max, stack.PassFail is not ResultRow.Pass)
            : new ChartBar(stack.Stack, null, 0, 0, stack.PassFail is not ResultRow.Pass))]);

    private static IReadOnlyList<object> LoadRow(StackSummary stack) =>
    [
        stack.Stack,
        Figures.Full(stack.Throughput),
        Figures.Full(stack.P50),
        Figures.Full(stack.P95),
        Figures.Full(stack.P99),
        string.Create(CultureInfo.InvariantCulture, $"{stack.Passed} of {stack.Rounds}"),
        Html.Verdict(stack.PassFail),
    ];

    private static IReadOnlyList<object> CostRow(StackSummary stack) =>
    [
        stack.Stack,
        Figures.Full(stack.ConnectSeconds, "0.00"),
        Figures.Full(stack.ServerCpuMicrosecondsPerMessage, "0.00"),
        Figures.Full(stack.ServerPeakMegabytes),
        Figures.Full(stack.ClientCpuMicrosecondsPerMessage, "0.00"),
    ];

    private static IEnumerable<XElement> RatioTable(Summary summary)
    {
        StackSummary[] compared = [.. summary.Stacks.Where(static stack => stack.Ratios is not null)];
        if (compared.Length == 0)
        {
            yield break;
        }

        yield return Html.Element("h3", Html.Text($"Ratios to {compared[0].Ratios!.To}, taken within each round"));
        yield return Html.Table(
            ["stack", "per second", "p50", "p99", "server cpu", "server peak"],
            compared.Select(static stack => (IReadOnlyList<object>)
            [
                stack.Stack,
                Figures.Full(stack.Ratios!.Throughput, "0.00"),
                Figures.Full(stack.Ratios.P50, "0.00"),
                Figures.Full(stack.Ratios.P99, "0.00"),
                Figures.Full(stack.Ratios.ServerCpu, "0.00"),
                Figures.Full(stack.Ratios.ServerPeak, "0.00"),
            ]));
    }

    private static IEnumerable<XElement> Failures(Summary summary)
    {
        Round[] failed = [.. summary.Rounds.Where(static round => !round.Row.Passed || round.Fault is not null)];
        if (failed.Length == 0)
        {
            yield break;
        }

        yield return Html.Element(
            "div",
            Html.Class("banner bad"),
            Html.Text("\u2717 FAIL: these rounds failed"),
            Html.Element("ul", failed.Select(static round =>
                Html.Element("li", Html.Text($"{round.Stack}, round {round.Number}: {Why(round)}")))));
    }

    private static string Why(Round round)
    {
        ResultRow row = round.Row;
        (string What, long Count)[] columns =
        [
            ("connect_fail", row.ConnectFail), ("connect_timeout", row.ConnectTimeout), ("without a right reply", row.Sent - row.Recv),
            ("drain_timeout", row.DrainTimeout), ("gating_violation", row.GatingViolation),
                ("lost connections", round.Client.LostConnections),
        ];
        IEnumerable<string> wrong = columns.Where(static column => column.Count != 0)
            .Select(static column => $"{column.What} {Figures.Full(column.Count)}");
        string[] parts = [round.Fault ?? "", .. wrong, row.ErrorsByErrno.Length > 0 ? $"errors by errno {row.ErrorsByErrno}" : ""];
        return string.Join("; ", parts.Where(static part => part.Length > 0).DefaultIfEmpty("nothing was received"));
    }

    /// <summary>The round in the middle stands for a stack: a mean of curves is the curve of nothing.</summary>
    private static Round[] MiddleRounds(Summary summary) =>
    [
        .. summary.Rounds.GroupBy(static round => round.Stack, StringComparer.Ordinal)
            .Select(static stack => stack.OrderBy(static round => round.Row.Throughput).ToArray())
            .Select(static rounds => rounds[rounds.Length / 2]),
    ];

    private static XElement TimeCharts(Summary summary)
    {
        Round[] middle = MiddleRounds(summary);
        ChartSeries[] curves = [.. middle.Select(static round => new ChartSeries(
            round.Stack, [.. round.Client.LatencyCurve.Where(static point => point.Percent <= HighestPercent)
                .Select(static point => new ChartPoint(Distance(point.Percent), point.Microseconds))]))];
        var charts = Html.Element("div", Html.Class("charts"));
        if (curves.Any(static curve => curve.Points.Count > 0))
        {
            charts.Add(LineChart.Draw(
                "Latency by percentile (middle round)",
                ChartAxis.Fixed("percent of replies", PercentTicks, 1, Distance(HighestPercent)),
                ChartAxis.Logarithmic("microseconds", curves.SelectMany(static curve => curve.Points).Select(static point => point.Y)),
                curves));
        }

        Add("Server's resident memory", "MB", static sample => sample.MemoryMegabytes);
        Add("Server's managed heap", "MB", static sample => sample.GcHeapMegabytes);
        Add("Collections of the server, all generations", "collections since start", static sample => sample.Gen0);
        Add("Server paused by the collector", "milliseconds since start", static sample => sample.PauseMilliseconds);
        Add("Server's processor time", "percent of one processor", static sample => sample.CpuPercent);
        return charts;

        void Add(string title, string axis, Func<ProcessSample, double> figure)
        {
            ChartSeries[] series = [.. middle.Where(round => round.Server?.Samples.Any(sample => figure(sample) > 0) == true)
                .Select(round => new ChartSeries(
                round.Stack, [.. round.Server!.Samples.Select(sample => new ChartPoint(sample.Second, figure(sample)))]))];
            if (series.Length > 0)
            {
                ChartPoint[] points = [.. series.SelectMany(static one => one.Points)];
                charts.Add(LineChart.Draw(title, ChartAxis.Time("seconds since the round's start", points.Select(static point => point.X)),
                    ChartAxis.Linear(axis, points.Select(static point => point.Y)), series));
            }
        }
    }

    private static XElement Rounds(Summary summary) => Html.Element(
        "details",
        Html.Element("summary", Html.Text($"All {summary.Rounds.Count} rounds, in the order in which they ran")),
        Html.Table(
            ["stack", "round", "per second", "p50 us", "p99 us", "p99.9 us", "max us", "gen 0/1/2", "paused ms", "MB/s allocated",
                "contentions", "exceptions", "others %", "verdict"],
            summary.Rounds.Select(static round => (IReadOnlyList<object>)
            [
                round.Stack,
                Figures.Full(round.Number),
                Figures.Full(round.Row.Throughput),
                Figures.Full(round.Row.P50),
                Figures.Full(round.Row.P99),
                Figures.Full(round.Client.P999Microseconds),
                Figures.Full(round.Client.MaxMicroseconds),
                round.Server?.Runtime is { } runtime
                    ? $"{Figures.Full(runtime.Gen0)}/{Figures.Full(runtime.Gen1)}/{Figures.Full(runtime.Gen2)}" : "-",
                Figures.Full(round.Server?.Runtime?.PauseMilliseconds, "0.0"),
                Figures.Full(round.Server?.Runtime?.AllocatedMegabytesPerSecond, "0.0"),
                Figures.Full(round.Server?.Runtime?.LockContentions),
                Figures.Full(round.Server?.Runtime?.Exceptions),
                Figures.Full(round.OthersPercent, "0.0"),
                Html.Verdict(round.Row.PassFail),
            ])),
        Html.Element("p", Html.Class("muted"), Html.Text(
            "Latency is taken by a client that sends the next message when a reply comes: what it would have sent while it waited for a "
            + "slow reply was not sent and not timed (coordinated omission), so the highest percentiles are rather too good.")));
}
