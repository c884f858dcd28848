namespace Net.Zlink.Benchmarks.Compare;

/// <summary>Compares only what ran next to each other: one server's figure over another's of the same round.</summary>
internal static class Ratios
{
    /// <summary>One ratio per round in which both have the figure.</summary>
    public static List<double> Of(IEnumerable<Run> runs, string server, string reference, Metric metric)
    {
        ILookup<int, Run> rounds = runs.Where(run => run.IsGood).ToLookup(run => run.Round);
        var ratios = new List<double>();
        foreach (IGrouping<int, Run> round in rounds.OrderBy(r => r.Key))
        {
            double? figure = Figure(round, server, metric);
            double? beside = Figure(round, reference, metric);
            if (figure is not null && beside is > 0)
            {
                ratios.Add(figure.Value / beside.Value);
            }
        }

        return ratios;
    }

    public static List<double> Figures(IEnumerable<Run> runs, string server, Metric metric) =>
        [.. runs.Where(run => run.IsGood && IsOf(run, server)).OrderBy(run => run.Round).Select(metric.Of).OfType<double>()];

    private static double? Figure(IEnumerable<Run> round, string server, Metric metric) =>
        round.FirstOrDefault(run => IsOf(run, server)) is { } run ? metric.Of(run) : null;

    private static bool IsOf(Run run, string server) => string.Equals(run.Server, server, StringComparison.Ordinal);
}
