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
    /// <param name="runs">All that count.</param>
    /// <param name="first">The control.</param>
    /// <param name="figure">What the runs were made for.</param>
    public static IEnumerable<string> Of(IReadOnlyList<Run> runs, string first, Metric figure)
    {
        if (Spread.Of(Ratios.Figures(runs, first, figure)) is { } control && control.Max > control.Min * SteadyControl
            && control.Max - control.Min > figure.Grain)
        {
            yield return $"{first} itself moved from {Text(control.Min)} to {Text(control.Max)} {figure.Title} between rounds";
        }

        double others = runs.Count == 0 ? 0 : runs.Max(run => run.OthersPercent);
        if (others > QuietPercent)
        {
            yield return string.Create(CultureInfo.InvariantCulture, $"other programs used up to {others:0} % of the machine during a run");
        }

        string Text(double value) => value.ToString(figure.Format, CultureInfo.InvariantCulture);
    }
}
