using System.Text.Json.Serialization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>One figure of a run.</summary>
/// <param name="Name">What bars call it.</param>
/// <param name="Title">The column's title, with the unit.</param>
/// <param name="Format">How the figure is written.</param>
/// <param name="Of">The figure of a run, or null where the run has none.</param>
/// <param name="Grain">What it may move by because of how it is measured alone.</param>
internal sealed record Metric(string Name, string Title, string Format, [property: JsonIgnore] Func<Run, double?> Of,
    [property: JsonIgnore] double Grain = 0)
{
    public static Metric Rate { get; } = new(
        "rate", "msg/s", "N0", run => run.Load is { MessagesPerSecond: > 0 } load ? load.MessagesPerSecond : null);

    /// <summary>One way, of messages that wait for each other: half of a round trip. Not <c>p50</c>, which a load generator takes under
    /// load.</summary>
    public static Metric Latency { get; } = new("latency", "latency us", "0.0", run => run.Latency);

    public static Metric Cpu { get; } = new("cpu", "cpu us/msg", "0.00", run => run.Load is { Received: > 0 } load
        ? run.CpuSeconds * 1_000_000 / load.Received : null);

    /// <summary>Seconds until all are connected.</summary>
    public static Metric Connect { get; } = new("connect", "connect s", "0.00", run => run.Load?.ConnectSeconds);

    public static Metric Peak { get; } = new("peak", "peak MB", "N0", run => run.Load is null ? null : run.PeakMemory);

    /// <summary>The kernel counts in hundredths of a second: a tick more or less at both ends of the 10 s of an idle case is 0.2
    /// %.</summary>
    public static Metric Idle { get; } = new("idle", "idle cpu %", "0.00", run => run.Idle?.CpuPercent, Grain: 0.2);

    public static Metric Held { get; } = new("held", "KB/connection", "0.0", run => run.Idle?.KiBPerConnection);

    public static IReadOnlyList<Metric> All { get; } =
    [
        Rate,
        Latency,
        new("p50", "p50 us", "N0", run => run.Load is { P50: > 0 } load ? load.P50 : null),
        new("p99", "p99 us", "N0", run => run.Load is { P99: > 0 } load ? load.P99 : null),
        Connect,
        Cpu,
        Peak,
        Idle,
        Held,
    ];

    public static Metric Parse(string name) =>
        All.FirstOrDefault(metric => string.Equals(metric.Name, name, StringComparison.OrdinalIgnoreCase))
        ?? throw new RequestException($"There is no figure '{name}'; there are {string.Join(", ", All.Select(m => m.Name))}.");
}
