using System.Globalization;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>A figure that must not grow.</summary>
/// <param name="Name">With its unit.</param>
/// <param name="Of">Of a sample.</param>
/// <param name="PerHour">What a run of hours may grow by in one: less than would matter in a month.</param>
/// <param name="Noise">What the figure moves by for other reasons, while a short run is judged: its slope over minutes says nothing below
/// that.</param>
internal sealed record SoakFigure(string Name, Func<SoakSample, double> Of, double PerHour, double Noise)
{
    private const double SecondsPerHour = 3600;

    // Fewer points make no line.
    private const int FewestInHalf = 4;

    // The first half of an odd number is the shorter one.
    private const int FewestSamples = (2 * FewestInHalf) - 1;

    // As many seconds, samples being at least one apart, and some more for a machine that is late.
    private const double FewestMinutes = 0.2;

    public static IReadOnlyList<SoakFigure> All { get; } =
    [
        // Resident memory follows the collector's and the kernel's mood by some megabytes; what counts is also in the figures below, which
        // are exact.
        new("resident memory, MB", static sample => sample.MemoryMegabytes, PerHour: 4, Noise: 32),

        // After a full collection: what is left is held by somebody.
        new("managed heap, MB", static sample => sample.GcHeapMegabytes, PerHour: 1, Noise: 8),

        // Connections come and go: at any moment some are between two states.
        new("handles", static sample => sample.Handles, PerHour: 2, Noise: 40),
        new("threads", static sample => sample.Threads, PerHour: 1, Noise: 8),
        new("pool: rented, MB", static sample => sample.PoolRentedMegabytes, PerHour: 0.5, Noise: 16),
        new("pool: kept, MB", static sample => sample.PoolKeptMegabytes, PerHour: 1, Noise: 32),
    ];

    /// <summary>Null if the run was long enough for a verdict on growth, else why not.</summary>
    public static string? WhyNoVerdict(IReadOnlyCollection<SoakSample> samples) => samples.Count >= FewestSamples
        ? null
        : string.Create(CultureInfo.InvariantCulture,
            $"{samples.Count} samples say nothing about growth, {FewestSamples} are needed, a second apart: run at least --minutes "
            + $"{FewestMinutes}");

    /// <summary>Judges the second half of a run: the first is for caches, pools and the compiler to find their size.</summary>
    public SoakSlope Judge(IReadOnlyList<SoakSample> samples)
    {
        SoakSample[] half = [.. samples.Skip(samples.Count / 2)];
        double hours = half.Length == 0 ? 0 : (half[^1].Second - half[0].Second) / SecondsPerHour;
        if (half.Length < FewestInHalf || hours <= 0)
        {
            return new SoakSlope(Name, 0, PerHour, ResultRow.Fail);
        }

        double slope = LeastSquares.Slope([.. half.Select(sample => (sample.Second, Of(sample)))]) * SecondsPerHour;
        double limit = Math.Max(PerHour, Noise / hours);
        return new SoakSlope(Name, slope, limit, slope <= limit ? ResultRow.Pass : ResultRow.Fail);
    }
}
