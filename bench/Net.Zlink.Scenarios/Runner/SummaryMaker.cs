using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Medians, spread and ratios of the rounds.</summary>
internal static class SummaryMaker
{
    /// <param name="rounds">All rounds of all stacks.</param>
    /// <param name="order">The stacks that ran; the first is the reference.</param>
    public static IReadOnlyList<StackSummary> Stacks(IReadOnlyList<Round> rounds, IReadOnlyList<string> order) =>
        [.. order.Select(stack => Of(stack, [.. rounds.Where(round => Is(round, stack))], [.. rounds.Where(round => Is(round, order[0]))],
            order[0]))];

    /// <summary>PASS if there is a round and every round passed.</summary>
    public static string Verdict(IReadOnlyList<Round> rounds) => rounds.Count > 0 && rounds.All(Passed) ? ResultRow.Pass : ResultRow.Fail;

    public static bool Passed(Round round) => round.Fault is null && round.Row.Passed;

    private static bool Is(Round round, string stack) => string.Equals(round.Stack, stack, StringComparison.Ordinal);

    private static StackSummary Of(string stack, IReadOnlyList<Round> all, IReadOnlyList<Round> reference, string to)
    {
        Round[] passed = [.. all.Where(Passed)];
        bool hasLatency = passed.Any(static round => round.Client.Timed > 0);
        bool hasServer = passed.Any(static round => round.Server is not null);
        return new StackSummary
        {
            Stack = stack,
            PassFail = Verdict(all),
            Rounds = all.Count,
            Passed = passed.Length,
            Throughput = Spread.Of(passed.Select(static round => round.Row.Throughput)),
            P50 = hasLatency ? Spread.Of(passed.Select(static round => round.Row.P50)) : null,
            P95 = hasLatency ? Spread.Of(passed.Select(static round => round.Row.P95)) : null,
            P99 = hasLatency ? Spread.Of(passed.Select(static round => round.Row.P99)) : null,
            ConnectSeconds = Spread.Of(passed.Select(static round => round.Client.ConnectSeconds)),
            ServerCpuMicrosecondsPerMessage = hasServer ? Spread.Of(passed.Select(static round => round.Server!.CpuMicrosecondsPerMessage))
                : null,
            ServerPeakMegabytes = hasServer ? Spread.Of(passed.Select(static round => round.Server!.PeakMegabytes)) : null,
            IdlePercent = Spread.Of(passed.Select(static round => round.Server?.IdlePercent).OfType<double>()),
            KilobytesPerConnection = Spread.Of(passed.Select(static round => round.Server?.KilobytesPerConnection).OfType<double>()),
            ClientCpuMicrosecondsPerMessage = Spread.Of(passed.Select(static round => round.Client.CpuMicrosecondsPerMessage)),
            Ratios = string.Equals(stack, to, StringComparison.Ordinal) ? null : Ratios(to, passed, reference),
        };
    }

    /// <summary>Within each round, so that what drifts between rounds falls on both alike.</summary>
    private static StackRatios Ratios(string to, IReadOnlyList<Round> mine, IReadOnlyList<Round> reference)
    {
        (Round Mine, Round Reference)[] pairs = [.. mine.Join(
            reference.Where(Passed), static round => round.Number, static round => round.Number, static (a, b) => (a, b))];
        return new StackRatios(
            to,
            Of(static round => round.Row.Throughput),
            Of(static round => round.Row.P50),
            Of(static round => round.Row.P99),
            Of(static round => round.Server?.CpuMicrosecondsPerMessage ?? 0),
            Of(static round => round.Server?.PeakMegabytes ?? 0));

        Spread? Of(Func<Round, double> figure) =>
            Spread.Of(pairs.Where(pair => figure(pair.Reference) > 0 && figure(pair.Mine) > 0)
            .Select(pair => figure(pair.Mine) / figure(pair.Reference)));
    }
}
