using System.Diagnostics;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>All lanes in one context, for a time, and what is left of them at the end.</summary>
/// <param name="time">How long.</param>
/// <param name="between">Two samples.</param>
/// <param name="say">Told of each sample, with the messages per second since the one before.</param>
internal sealed class SoakRun(TimeSpan time, TimeSpan between, Action<SoakSample, double>? say)
{
    // A run in which a client lives less often than this per lane has tested no coming and going.
    private const int FewestLives = 2;

    private static readonly TimeSpan ShutdownLimit = TimeSpan.FromSeconds(30);

    // A client that goes first tries to write what it has; a server that is gone itself will not read it.
    private static readonly TimeSpan Linger = TimeSpan.FromSeconds(1);

    /// <exception cref="OperationCanceledException">It was stopped from outside: then there is no verdict.</exception>
    public async Task<SoakResult> RunAsync(IReadOnlyList<(string Pattern, string Transport)> what, CancellationToken cancellation)
    {
        var counters = new SoakCounters();
        var context = new ZlinkContext(new ZlinkContextOptions { DefaultLinger = Linger });
        SoakLane[] lanes = [.. what.Select(one => new SoakLane(context, one.Pattern, one.Transport, counters))];
        using var stop = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        long start = Stopwatch.GetTimestamp();
        var churn = new ContextChurn(counters);
        Task[] running = [.. lanes.Select(lane => Task.Run(() => lane.RunAsync(stop.Token), CancellationToken.None)),
            Task.Run(() => churn.RunAsync(stop.Token), CancellationToken.None)];
        List<SoakSample> samples = await SampleAsync(new SoakSampler(context, counters), start, cancellation);
        await stop.CancelAsync();
        await Task.WhenAll(running);
        await context.ShutdownAsync(ShutdownLimit, CancellationToken.None);
        foreach (SoakLane lane in lanes.Where(lane => counters.ConnectionsOf(lane.Name) < FewestLives))
        {
            counters.Fault($"{lane.Name}: only {counters.ConnectionsOf(lane.Name)} clients lived to their end: run longer");
        }

        if (SoakFigure.WhyNoVerdict(samples) is { } tooShort)
        {
            counters.Fault(tooShort);
        }

        if (context.Pool.GetStatistics().Live is var left and not 0)
        {
            counters.Fault($"{left} buffers of the pool are still out after the context was shut down");
        }

        return new SoakResult
        {
            Seconds = Stopwatch.GetElapsedTime(start).TotalSeconds,
            Messages = counters.Messages,
            Connections = counters.Connections,
            Samples = samples,
            Slopes = [.. SoakFigure.All.Select(figure => figure.Judge(samples))],
            Faults = counters.Faults,
        };
    }

    private async Task<List<SoakSample>> SampleAsync(SoakSampler sampler, long start, CancellationToken cancellation)
    {
        var samples = new List<SoakSample>();
        using var timer = new PeriodicTimer(between);
        while (Stopwatch.GetElapsedTime(start) < time && await timer.WaitForNextTickAsync(cancellation))
        {
            SoakSample sample = sampler.Take();
            SoakSample? before = samples.Count > 0 ? samples[^1] : null;
            samples.Add(sample);
            say?.Invoke(sample, (sample.Messages - (before?.Messages ?? 0)) / (sample.Second - (before?.Second ?? 0)));
        }

        return samples;
    }
}
