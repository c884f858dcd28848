using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>What some rounds say about a bar.</summary>
internal enum Verdict
{
    /// <summary>The median of the rounds reaches it.</summary>
    Met,

    /// <summary>The median does not reach it, but some round does: nothing was shown.</summary>
    WithinNoise,

    /// <summary>No round reaches it, or the server failed a round.</summary>
    Missed,

    /// <summary>There is nothing to judge: no round with the figure, on one side or the other.</summary>
    Void,
}

/// <summary>The house's rule for bars.</summary>
internal static class Verdicts
{
    /// <summary>So many rounds settle what five leave within the noise, as a rule.</summary>
    public const int RoundsAgainstNoise = 15;

    public static Verdict Judge(IReadOnlyList<double> rounds, Bar bar) =>
        Spread.Of(rounds) is not { } spread ? Verdict.Void
        : bar.IsReachedBy(spread.Median) ? Verdict.Met
        : rounds.Any(bar.IsReachedBy) ? Verdict.WithinNoise
        : Verdict.Missed;

    /// <summary>Judges a server's rounds; one that it failed cannot be made good by the others.</summary>
    public static Verdict Judge(IReadOnlyList<Run> runs, Bar bar, string first)
    {
        if (runs.Any(run => !run.IsGood && string.Equals(run.Server, bar.Server, StringComparison.Ordinal)))
        {
            return Verdict.Missed;
        }

        return Judge(Rounds(runs, bar, first), bar);
    }

    /// <summary>The figures, or ratios, that the bar is about: one per round.</summary>
    public static List<double> Rounds(IReadOnlyList<Run> runs, Bar bar, string first) =>
        bar.IsRatio ? Ratios.Of(runs, bar.Server, bar.Reference ?? first, bar.Metric) : Ratios.Figures(runs, bar.Server, bar.Metric);

    public static string InWords(this Verdict verdict) => verdict switch
    {
        Verdict.Met => "met",
        Verdict.Missed => "missed",
        Verdict.WithinNoise => $"within noise (try --rounds {RoundsAgainstNoise})",
        _ => "void (no figure to judge)",
    };
}
