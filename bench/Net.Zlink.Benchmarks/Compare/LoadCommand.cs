using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>The load generator: a program that takes the arguments below and prints one line of JSON (docs/benchmarks.md).</summary>
/// <param name="Command">The program, with what goes before it (such as taskset).</param>
/// <param name="WarmUp">Seconds of load before the measurement.</param>
/// <param name="Measure">Seconds measured.</param>
internal sealed record LoadCommand(string Command, int WarmUp, int Measure)
{
    public const string Variable = "STREAMLOAD";

    // Replies that are still on their way at the end get so long; with less, a slow server's queue would be called lost messages.
    private const int Drain = 10;

    // Connections under way at once: enough to keep a server's accept loop busy, few enough for any backlog.
    private const int ConnectsAtOnce = 256;

    // Each 16th reply is timed: at a million a second that is plenty, and the clock costs the client nothing.
    private const int SampleRate = 16;

    // Process start, connecting, and sorting the samples.
    private const int Slack = 60;

    /// <summary>The option's value, or the environment's.</summary>
    public static string Find(string? option) =>
        option ?? Environment.GetEnvironmentVariable(Variable)
        ?? throw new RequestException(
            $"No load generator: give --load COMMAND or set {Variable}. What it must understand and print is in docs/benchmarks.md.");

    public static string Arguments(int warmUp, int measure, int port, LoadCase load) => string.Create(
        CultureInfo.InvariantCulture,
        $"127.0.0.1 {port} {load.Connections} {load.Size} {load.InFlight} {warmUp} {measure} {Drain} {ConnectsAtOnce} {SampleRate}");

    /// <summary>Runs it to its end.</summary>
    public async Task<(LoadResult? Result, string? Fault)> RunAsync(int port, LoadCase load, CancellationToken cancellation)
    {
        // With nothing to send it only holds the connections for the time to measure: a second shows whether they stay.
        int measure = load.InFlight == 0 ? 1 : Measure;
        await using ChildProcess process = ChildProcess.StartShell($"{Command} {Arguments(WarmUp, measure, port, load)}");
        var limit = TimeSpan.FromSeconds(WarmUp + measure + Drain + Slack);
        string? line = await process.ReadLineAsync("{", limit, cancellation);
        bool ended = await process.WaitForExitAsync(TimeSpan.FromSeconds(Slack), cancellation);
        LoadResult? result = LoadResult.Parse(line, out string? fault);
        if (result is null)
        {
            return (null, $"{fault}; {(ended ? "it ended" : "it did not end")}: {process.LastErrors}");
        }

        return (result, result.Passed ? null : result.Describe());
    }
}
