using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>What makes some rounds void (docs/benchmarks.md).</summary>
internal static class Doubts
{
    // A control that moves by more than this between rounds was disturbed; then so were the others.
    private const double SteadyControl = 1.25;

    // Other programs' share of the machine from which on a table says nothing.
    private const double QuietPercent = 5;

    /// <summary>A clause for each thing that was wrong, besides runs that failed.</summary>
    public static IEnumerable<string> Of(IReadOnlyList<Run> runs, string first)
    {
        if (Spread.Of(Ratios.Figures(runs, first, Metric.Rate)) is { } control && control.Max > control.Min * SteadyControl)
        {
            yield return string.Create(CultureInfo.InvariantCulture, $"{first} itself moved from {control.Min:N0} to {control.Max:N0} msg/s between rounds");
        }

        double others = runs.Count == 0 ? 0 : runs.Max(run => run.OthersPercent);
        if (others > QuietPercent)
        {
            yield return string.Create(CultureInfo.InvariantCulture, $"other programs used up to {others:0} % of the machine during a run");
        }
    }
}
