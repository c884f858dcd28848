using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Patterns;

/// <summary>Runs a program that measures and prints <see cref="ResultLines"/>, and watches what else the machine did meanwhile.</summary>
internal static class MeasuringProcess
{
    // A run of some seconds on a quiet machine; a message that was lost is waited for in vain, and shows as this.
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    // Between the end of a process's output and its own end lie milliseconds.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(10);

    /// <summary>Runs it to its end. A program that prints none of <paramref name="needed"/>, whatever its exit code says, has failed.</summary>
    public static async Task<MeasuredFigures> RunAsync(ProcessStartInfo info, string needed, CancellationToken cancellation)
    {
        double busyBefore = ProcFile.BusySeconds();
        double ownBefore = ProcFile.CpuSecondsWithEndedChildren();
        long start = Stopwatch.GetTimestamp();
        var figures = new Dictionary<string, double>(StringComparer.Ordinal);
        await using ChildProcess process = ChildProcess.Start(info);
        while (await process.ReadLineAsync(ResultLines.Prefix, Limit - Stopwatch.GetElapsedTime(start), cancellation) is { } line)
        {
            if (ResultLines.TryParse(line, out string figure, out double value))
            {
                figures[figure] = value;
            }
        }

        bool ended = await process.WaitForExitAsync(EndLimit, cancellation);
        double elapsed = Stopwatch.GetElapsedTime(start).TotalSeconds;
        double others = ProcFile.BusySeconds() - busyBefore - (ProcFile.CpuSecondsWithEndedChildren() - ownBefore);
        string? fault = figures.ContainsKey(needed) ? null : $"it {(ended ? "ended" : "did not end")} without a figure. {process.LastErrors}";

        // A program that had to be stopped is not among the ended children: what it used would pass for others'.
        return new MeasuredFigures(figures, ended ? Math.Max(0, others) * 100 / (elapsed * Environment.ProcessorCount) : 0, fault);
    }
}

/// <summary>What a measuring program said.</summary>
/// <param name="Figures">By name.</param>
/// <param name="OthersPercent">Processor time that neither it nor we used, of what the machine has.</param>
/// <param name="Fault">Why there is no figure.</param>
internal sealed record MeasuredFigures(IReadOnlyDictionary<string, double> Figures, double OthersPercent, string? Fault)
{
    public double? Find(string figure) => Figures.TryGetValue(figure, out double value) ? value : null;
}
