using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Live;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Servers;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>All rounds of all stacks of one scenario.</summary>
internal sealed class ScenarioRun
{
    public required ScenarioSettings Settings { get; init; }

    public required string Profile { get; init; }

    public required Pinning Pinning { get; init; }

    public required int Rounds { get; init; }

    public required IReadOnlyList<string> Wanted { get; init; }

    /// <summary>Stacks that are not this program's.</summary>
    public IReadOnlyList<ForeignServer> Foreign { get; init; } = [];

    public TraceRequest? Trace { get; init; }

    public required ILiveView View { get; init; }

    /// <exception cref="RequestException">No stack can run, or a limit is too low.</exception>
    public async Task<Summary> RunAsync(OutputFolder folder, CancellationToken cancellation)
    {
        DateTimeOffset started = TimeProvider.System.GetUtcNow();
        bool isElsewhere = await IsExternalElsewhereAsync(cancellation);
        MachineInfo machine = MachineInfo.Collect();
        VersionInfo versions = VersionInfo.Collect();
        List<SkippedStack> skipped = [];
        string[] stacks = [.. Wanted.Distinct(StringComparer.Ordinal).Where(stack => CanRun(stack, skipped))];
        if (stacks.Length == 0)
        {
            throw new RequestException(
                $"No stack is left to run: {string.Join("; ", skipped.Select(static stack => $"{stack.Stack}: {stack.Why}"))}.");
        }

        PortRange.Check(Settings.Connections);
        long limit = DescriptorLimit.ForChildren(Settings.Connections);
        var plan = new RunPlan(Profile, Rounds, Wanted, Pinning.Server, Pinning.Client, Pinning.Words, limit);
        var launch = new Launch(limit, Pinning);
        var rounds = new List<Round>();
        for (int number = 1; number <= Rounds; number++)
        {
            // Back and forth: what drifts (heat, neighbours) then falls on all alike.
            foreach (string stack in number % 2 == 0 ? stacks.Reverse() : stacks)
            {
                ForeignServer? foreign = Find(stack);
                var runner = new RoundRunner(Settings, launch, foreign, seesOthers: foreign?.Endpoint is null || isElsewhere, View);
                Round round = await runner.RunAsync(stack, number, Rounds, TraceOf(stack, number, stacks.Length), cancellation);
                rounds.Add(round);
                folder.Add(round);
                View.ShowRound(round);
            }
        }

        IReadOnlyList<StackSummary> summaries = SummaryMaker.Stacks(rounds, stacks);
        var summary = new Summary
        {
            Kind = "scenario",
            Command = string.Join(' ', Environment.GetCommandLineArgs().Skip(1)),
            Started = started,
            Finished = TimeProvider.System.GetUtcNow(),
            PassFail = SummaryMaker.Verdict(rounds),
            Machine = machine,
            Versions = versions,
            Environment = EnvironmentVariables.Collect(),
            Settings = Settings,
            Plan = plan,
            Rounds = rounds,
            Stacks = summaries,
            Skipped = skipped,
            Doubts = Doubts.Of(Settings, plan, versions, rounds, summaries, Trace is not null),
            Unjudged = Doubts.Unjudged(rounds, isElsewhere),
        };
        folder.Write(summary);
        return summary;
    }

    /// <summary>Whether a server that someone else runs, if there is one, is on another machine: then all that goes on here beside the
    /// client is of other programs.</summary>
    /// <exception cref="RequestException">It is of another transport, or nowhere.</exception>
    private async Task<bool> IsExternalElsewhereAsync(CancellationToken cancellation)
    {
        if (Foreign.Select(static server => server.Endpoint).FirstOrDefault(static endpoint => endpoint is not null) is not string endpoint)
        {
            return false;
        }

        Address address = Address.Parse(endpoint);
        return string.Equals(address.Transport, Settings.Transport, StringComparison.Ordinal)
            ? !await address.IsOfThisMachineAsync(cancellation)
            : throw new RequestException($"{endpoint} is not {Settings.Transport}; say --transport {address.Transport}.");
    }

    private ForeignServer? Find(string stack) =>
        Foreign.FirstOrDefault(server => string.Equals(server.Name, stack, StringComparison.Ordinal));

    private bool CanRun(string stack, List<SkippedStack> skipped)
    {
        string? why = Find(stack) is not null ? null : string.Equals(stack, Stacks.External, StringComparison.Ordinal)
            ? "say with --external where it is" : Stacks.WhyNot(stack);
        if (why is not null)
        {
            skipped.Add(new SkippedStack(stack, why));
            View.Warn($"*** SKIPPED: {stack}: {why} ***");
        }

        return why is null;
    }

    /// <summary>One file per round, where there is more than one.</summary>
    private TraceRequest? TraceOf(string stack, int number, int stacks)
    {
        if (Trace is null || (stacks == 1 && Rounds == 1))
        {
            return Trace;
        }

        string name = $"{Path.GetFileNameWithoutExtension(Trace.File.Name)}-{stack}-{number}{Trace.File.Extension}";
        return Trace with { File = new FileInfo(Path.Combine(Trace.File.DirectoryName ?? "", name)) };
    }
}
