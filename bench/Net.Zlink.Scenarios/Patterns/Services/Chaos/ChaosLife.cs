using System.Diagnostics;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>One process from its start to its end.</summary>
internal sealed record ChaosLife(ChaosRole Role, int Number, int Life)
{
    /// <summary>Not killed: it had the time to end what it had begun.</summary>
    public bool EndedInOrder { get; set; }

    /// <summary>It was there when the load stopped.</summary>
    public bool IsLast { get; set; }

    public List<(long From, long To)> Pauses { get; init; } = [];

    public IReadOnlyList<ChaosRecord> Records { get; set; } = [];

    public long Key => ChaosId.LifeOf(ChaosId.Of(Number, Life, 0));

    public string Name => FormattableString.Invariant($"{Role.ToString().ToLowerInvariant()}-{Number}, life {Life}");

    /// <summary>How long it ran between two times; while it is paused nothing runs.</summary>
    public TimeSpan Ran(long from, long to)
    {
        long ran = to - from;
        foreach ((long start, long end) in Pauses)
        {
            ran -= Math.Max(0, Math.Min(to, end) - Math.Max(from, start));
        }

        return TimeSpan.FromSeconds((double)ran / Stopwatch.Frequency);
    }
}
