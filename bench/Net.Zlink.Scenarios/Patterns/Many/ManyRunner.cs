using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Benchmarks.Compare;
using Net.Zlink.Scenarios.Patterns.Running;

namespace Net.Zlink.Scenarios.Patterns.Many;

/// <summary>Runs <see cref="ManyRunCommand"/> in processes of their own.</summary>
/// <param name="Dealers">How many are many.</param>
/// <param name="Messages">Measured.</param>
/// <param name="WarmUp">Before them.</param>
/// <param name="Size">Bytes of one.</param>
/// <param name="Burst">Of one dealer, before it is the next one's turn.</param>
/// <param name="InlineCompletions">The runtime's switch.</param>
internal sealed record ManyRunner(int Dealers, int Messages, int WarmUp, int Size, int Burst, bool InlineCompletions)
{
    // Both ends of each connection are in one process.
    private const int FilesPerDealer = 2;

    // What a process needs beside its connections.
    private const int OtherFiles = 200;

    public void CheckLimits()
    {
        long needed = ((long)Dealers * FilesPerDealer) + OtherFiles;
        if (needed > ProcFile.OpenFileLimit())
        {
            throw new RequestException(
                $"{Dealers} dealers need {needed} open files and the limit is {ProcFile.OpenFileLimit()}: raise it with 'ulimit -n "
                + $"{needed}' first.");
        }
    }

    public async Task<Run> RunAsync(string side, int dealers, int round, CancellationToken cancellation)
    {
        MeasuredFigures figures = await MeasuringProcess.RunAsync(
            Self.StartInfo(InlineCompletions, ManyRunCommand.Name, "--dealers", Text(dealers), "--messages", Text(Messages), "--warm-up",
                Text(WarmUp), "--size", Text(Size), "--burst", Text(Burst)),
            ManyRunCommand.CpuFigure,
            cancellation);

        const double MicrosecondsPerSecond = 1_000_000;
        return new Run
        {
            Server = side,
            Round = round,
            Load = figures.Find(ResultLines.Throughput) is { } rate
                ? new LoadResult { Result = "PASS", MessagesPerSecond = rate, Received = Messages } : null,
            CpuSeconds = (figures.Find(ManyRunCommand.CpuFigure) ?? 0) * Messages / MicrosecondsPerSecond,
            OthersPercent = figures.OthersPercent,
            Fault = figures.Fault,
        };
    }

    private static string Text(int number) => number.ToString(CultureInfo.InvariantCulture);
}
