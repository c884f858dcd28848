using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Runs a program that measures and prints <see cref="ResultLines"/>, and watches what else the machine did meanwhile.</summary>
internal static class MeasuringProcess
{
    // A run of some seconds on a quiet machine; a message that was lost is waited for in vain, and shows as this.
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);

    // Between the end of a process's output and its own end lie milliseconds.
    private static readonly TimeSpan EndLimit = TimeSpan.FromSeconds(10);

    /// <summary>Runs it to its end. A program that prints none of <paramref name="needed"/>, whatever its exit code says, has failed; so
    /// has one that does not end.</summary>
    public static Task<MeasuredFigures> RunAsync(ProcessStartInfo info, string needed, CancellationToken cancellation) =>
        RunAsync(info, needed, Limit, EndLimit, cancellation);

    /// <param name="info">What to run.</param>
    /// <param name="needed">The figure that must be there.</param>
    /// <param name="limit">For all that it prints.</param>
    /// <param name="endLimit">For its end after that.</param>
    /// <param name="cancellation">Ends it, and the wait.</param>
    internal static async Task<MeasuredFigures> RunAsync(
        ProcessStartInfo info, string needed, TimeSpan limit, TimeSpan endLimit, CancellationToken cancellation)
    {
        double busyBefore = ProcFile.BusySeconds();
        double ownBefore = ProcFile.CpuSecondsWithEndedChildren();
        long start = Stopwatch.GetTimestamp();
        var figures = new Dictionary<string, double>(StringComparer.Ordinal);
        string? unsupported = null;
        await using ChildProcess process = ChildProcess.Start(info);
        while (limit - Stopwatch.GetElapsedTime(start) is var left && left > TimeSpan.Zero
            && await process.ReadLineAsync("", left, cancellation) is { } line)
        {
            if (ResultLines.TryParse(line, out ResultLine? result))
            {
                figures[result.Figure] = result.Value;
            }
            else if (line.StartsWith(ResultLines.Unsupported, StringComparison.Ordinal))
            {
                unsupported = line[ResultLines.Unsupported.Length..];
            }
        }

        bool ended = await process.WaitForExitAsync(endLimit, cancellation);
        double elapsed = Stopwatch.GetElapsedTime(start).TotalSeconds;
        double others = ProcFile.BusySeconds() - busyBefore - (ProcFile.CpuSecondsWithEndedChildren() - ownBefore);
        bool hasFigure = figures.ContainsKey(needed);
        string? fault = unsupported is not null || (ended && hasFigure) ? null
            : $"it {(ended ? "ended" : $"did not end within {(limit + endLimit).TotalSeconds:0} "
                + $"s{(hasFigure ? "" : ",")}")}{(hasFigure ? " after its figure" : " without a figure")}. {process.LastErrors}";

        // A program that had to be stopped is not among the ended children: what it used would pass for others'.
        return new MeasuredFigures(figures, ended ? Math.Max(0, others) * 100 / (elapsed * Environment.ProcessorCount) : 0, fault,
            unsupported);
    }
}

/// <summary>What a measuring program said.</summary>
/// <param name="Figures">By name.</param>
/// <param name="OthersPercent">Processor time that neither it nor we used, of what the machine has.</param>
/// <param name="Fault">Why there is no figure.</param>
/// <param name="Unsupported">Why there can be none.</param>
internal sealed record MeasuredFigures(IReadOnlyDictionary<string, double> Figures, double OthersPercent, string? Fault,
    string? Unsupported)
{
    public double? Find(string figure) => Figures.TryGetValue(figure, out double value) ? value : null;
}
