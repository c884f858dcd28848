using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>What is done with the sockets of a pattern, whoever made them.</summary>
internal interface IPatternRun
{
    /// <summary>Waits for the connections, and measures.</summary>
    /// <param name="ends">On their way to be connected.</param>
    /// <param name="describe">How the sockets stand, for a measurement that makes no progress.</param>
    void Measure<TEnds>(TEnds ends, Func<IEnumerable<string>> describe)
        where TEnds : struct, IPatternEnds;

    /// <summary>Measures round trips alone, one at a time.</summary>
    /// <param name="roundTrip">One, on connections that stand; false if something else came back.</param>
    void MeasureRoundTrips(Func<ValueTask<bool>> roundTrip);
}

/// <summary>Measures once and prints, in the words of the native programs.</summary>
/// <param name="What">What is measured.</param>
/// <param name="Counts">How many messages.</param>
/// <param name="Stack">The name in the lines.</param>
/// <param name="Compile">Milliseconds at most of floods and round trips before everything else, until the runtime has compiled the code for
/// good. A native program has no such time; natively called, it is given to both.</param>
/// <param name="Batch">Receive in batches.</param>
internal sealed record PatternRun(PatternCase What, PatternCounts Counts, string Stack, int Compile, bool Batch) : IPatternRun
{
    // Like the flood that is measured: what is called only when queues grow long, or are at their mark of 64 MiB, gets compiled too. So
    // much takes 10 ms with 64 B, 50 with 64 KB.
    private const int BytesToCompile = 128 * 1024 * 1024;
    private const int FewestToCompile = 64;
    private const int MostToCompile = 100_000;
    private const int RoundTripsToCompile = 100;

    public void Measure<TEnds>(TEnds ends, Func<IEnumerable<string>> describe)
        where TEnds : struct, IPatternEnds
    {
        using var watch = new StallWatch(describe);
        ends.AwaitConnection();
        var measurement = new PatternMeasurement<TEnds>(ends, What.Size, Batch, watch);
        var compilation = new Compilation(TimeSpan.FromMilliseconds(Compile));
        while (compilation.GoesOn)
        {
            measurement.Throughput(Math.Clamp(BytesToCompile / What.Size, FewestToCompile, MostToCompile));
            _ = ends.Ways > 0 ? measurement.Latency(RoundTripsToCompile) : 0;
        }

        measurement.WarmUp(Counts.WarmUp);
        double? latency = ends.Ways > 0 ? measurement.Latency(Counts.RoundTripsOf(What)) : null;
        double throughput = measurement.Throughput(Counts.MessagesOf(What));
        measurement.Check();
        Print(ResultLines.Throughput, throughput);
        if (latency is { } microseconds)
        {
            Print(ResultLines.Latency, microseconds);
        }
    }

    public void MeasureRoundTrips(Func<ValueTask<bool>> roundTrip)
    {
        const int Ways = 2;
        var compilation = new Compilation(TimeSpan.FromMilliseconds(Compile));
        while (compilation.GoesOn)
        {
            _ = TimesAsync(roundTrip, RoundTripsToCompile).GetAwaiter().GetResult();
        }

        double[] microseconds = TimesAsync(roundTrip, Counts.RoundTripsOf(What)).GetAwaiter().GetResult();
        Print(ResultLines.Throughput, microseconds.Length / TimeSpan.FromMicroseconds(microseconds.Sum()).TotalSeconds);
        Print(ResultLines.Latency, Spread.Of(microseconds)!.Value.Median / Ways);
    }

    // Where each completes at once it all runs on the calling thread.
    private static async Task<double[]> TimesAsync(Func<ValueTask<bool>> roundTrip, int count)
    {
        double[] microseconds = new double[count];
        for (int i = 0; i < count; i++)
        {
            long start = Stopwatch.GetTimestamp();
            if (!await roundTrip())
            {
                throw new InvalidOperationException("A reply has other bytes than its request.");
            }

            microseconds[i] = Stopwatch.GetElapsedTime(start).TotalMicroseconds;
        }

        return microseconds;
    }

    private void Print(string figure, double value) =>
        Console.WriteLine(new ResultLine(Stack, What.LineName, What.Transport, What.Size, figure, value).ToString());
}
