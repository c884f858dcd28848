using System.Text.Json;
using Net.Zlink.Scenarios.Evidence;
using Net.Zlink.Scenarios.Live;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;
using Samples;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>One round of one stack: a fresh server process, a fresh client process, and what both used.</summary>
/// <param name="settings">The load's.</param>
/// <param name="launch">How to start both.</param>
/// <param name="foreign">Someone else's server, if it is one.</param>
/// <param name="seesOthers">Whether what other programs use can be told from what the server does.</param>
/// <param name="view">Shown how it goes.</param>
internal sealed class RoundRunner(ScenarioSettings settings, Launch launch, ForeignServer? foreign, bool seesOthers, ILiveView view)
{
    // Beyond all that the settings ask for: starting, connecting 10,000, and the machine's own moods.
    private static readonly TimeSpan Spare = TimeSpan.FromSeconds(60);

    // Between the end of a client's output and its last word about why lie milliseconds.
    private static readonly TimeSpan LastWords = TimeSpan.FromSeconds(5);

    public async Task<Round> RunAsync(string stack, int number, int rounds, TraceRequest? trace, CancellationToken cancellation)
    {
        DateTimeOffset started = TimeProvider.System.GetUtcNow();
        string title = $"{ScenarioNames.NameOf(settings.Scenario)} {settings.Transport}, round {number} of {rounds}, {stack}";
        view.Show(title, null, null);
        try
        {
            await using ServerProcess? server = foreign switch
            {
                null => await ServerProcess.StartAsync(launch, stack, settings, cancellation),
                { Endpoint: null } => await ServerProcess.StartAsync(launch, foreign, settings, cancellation),
                _ => null,
            };
            await using RuntimeCounters? counters = server is null ? null : await RuntimeCounters.AttachAsync(server.Id, cancellation);
            var watch = new RoundWatch(server, counters, trace, settings);
            (LoadReport? report, string? fault) = await RunClientAsync(
                stack, server?.Endpoint ?? foreign!.Endpoint!, title, server, watch, cancellation);
            await watch.EndAsync();
            fault = server?.HasExited == true ? $"the server ended during the run: {server.LastErrors}" : server?.Status.Fault ?? fault
                ?? report?.Fault;

            return report is null
                ? Failed(stack, number, started, fault!)
                : new Round
                {
                    Stack = stack,
                    Number = number,
                    Started = started,
                    Row = report.Row,
                    Client = report.Client,
                    Server = watch.Describe(report),
                    OthersPercent = seesOthers ? watch.OthersPercent(report) : null,
                    Fault = fault,
                };
        }
        catch (StartException e)
        {
            return Failed(stack, number, started, e.Message);
        }
    }

    private async Task<(LoadReport? Report, string? Fault)> RunClientAsync(
        string stack, string endpoint, string title, ServerProcess? server, RoundWatch watch, CancellationToken cancellation)
    {
        await using ChildProcess client = launch.Client(ClientCommand.Arguments(stack, endpoint, settings));
        double most = settings.WarmupSeconds + settings.MeasureSeconds + settings.DrainTimeoutSeconds + settings.ConnectTimeoutSeconds;
        using var deadline = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        deadline.CancelAfter(TimeSpan.FromSeconds(most) + Spare);
        try
        {
            while (await client.ReadLineAsync("", Timeout.InfiniteTimeSpan, deadline.Token) is string line)
            {
                if (line.StartsWith(ChildLines.Report, StringComparison.Ordinal))
                {
                    return (JsonSerializer.Deserialize(line.AsSpan(ChildLines.Report.Length), ChildJson.Default.LoadReport), null);
                }

                if (line.StartsWith(ChildLines.Progress, StringComparison.Ordinal))
                {
                    LoadProgress progress = JsonSerializer.Deserialize(
                        line.AsSpan(ChildLines.Progress.Length), ChildJson.Default.LoadProgress)!;
                    watch.On(progress);
                    view.Show(title, progress, server?.Status.Latest);
                }
            }

            await client.WaitForExitAsync(LastWords, cancellation);
            return (null, $"the client ended without a report: {client.LastErrors}");
        }
        catch (OperationCanceledException) when (!cancellation.IsCancellationRequested)
        {
            return (null, $"the client did not end within {most + Spare.TotalSeconds:0} s");
        }
    }

    private Round Failed(string stack, int number, DateTimeOffset started, string fault) => new()
    {
        Stack = stack,
        Number = number,
        Started = started,
        Row = new ResultRow
        {
            ScenarioId = ScenarioNames.IdOf(stack, settings.Scenario),
            Transport = settings.Transport,
            Ccu = settings.Connections,
            InFlight = settings.InFlight,
            Size = settings.Size,
        },
        Client = new ClientDetail(),
        Fault = fault,
    };
}
