using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Reasons for which the figures of a run count for nothing. docs/benchmarks/scenarios.md says why each.</summary>
internal static class Doubts
{
    // As in the older comparison: below this two runs of the same thing differ as much without others.
    private const double OthersLimitPercent = 5;

    // The reference is the same program each time; if it moves by more, so does everything.
    private const double MovesLimit = 0.25;

    // A client that has no processor time left shows its own speed, not the server's.
    private const double ClientBusyLimitPercent = 90;

    public static IReadOnlyList<string> Of(ScenarioSettings settings, RunPlan plan, VersionInfo versions, IReadOnlyList<Round> rounds,
        IReadOnlyList<StackSummary> stacks, bool isTraced)
    {
        var doubts = new List<string>();
        if (!string.Equals(versions.Build, "Release", StringComparison.Ordinal))
        {
            doubts.Add($"this is a {versions.Build} build");
        }

        if (!string.Equals(plan.Profile, Profiles.Fixed, StringComparison.Ordinal))
        {
            doubts.Add($"the profile {plan.Profile} only shows that it works");
        }

        if (isTraced)
        {
            doubts.Add("a trace was taken: sampling stops all threads of the server many times a second");
        }

        if (rounds.Max(static round => round.OthersPercent) is double others && others > OthersLimitPercent)
        {
            doubts.Add(string.Create(CultureInfo.InvariantCulture, $"other programs used up to {others:0} % of the machine in a round"));
        }

        // Messages per second; in s1, connections per second.
        if (stacks.Count > 0 && stacks[0].Throughput is Spread reference && reference.Max - reference.Min > MovesLimit * reference.Median)
        {
            doubts.Add(string.Create(CultureInfo.InvariantCulture,
                $"{stacks[0].Stack}, the reference, moved from {reference.Min:N0} to {reference.Max:N0} between rounds"));
        }

        if (settings.Scenario == Scenario.S2 && plan.ClientProcessors is not null
            && rounds.Any(static round => round.Client.BusyPercent > ClientBusyLimitPercent))
        {
            doubts.Add("the client had no processor time left: give it more processors (--pin), or the table shows the client");
        }

        if (rounds.Any(static round => round.Fault is not null || !round.Row.Passed))
        {
            doubts.Add("a round failed: what that stack's other rounds show is not what it does");
        }

        return doubts;
    }

    /// <summary>What these rules could not look at.</summary>
    /// <param name="rounds">All rounds of all stacks.</param>
    /// <param name="isExternalElsewhere">Whether the server that someone else runs is on another machine.</param>
    public static IReadOnlyList<string> Unjudged(IReadOnlyList<Round> rounds, bool isExternalElsewhere)
    {
        var unjudged = new List<string>();
        Round[] ran = [.. rounds.Where(static round => round.Fault is null)];
        if (Array.Exists(ran, static round => round.Server is not null && round.OthersPercent is null))
        {
            unjudged.Add("what other programs used: this system does not tell");
        }

        if (Array.Find(ran, static round => round.Server is null) is { Stack: string external })
        {
            unjudged.Add(isExternalElsewhere
                ? $"what other programs used on {external}'s machine: only this one was looked at"
                : $"what other programs used in the rounds of {external}: it was not started here, so what it used cannot be told from "
                    + $"what they did (a server that --command starts is judged)");
            unjudged.Add($"{external}'s processor time and memory: its process is not known");
        }

        return unjudged;
    }
}
