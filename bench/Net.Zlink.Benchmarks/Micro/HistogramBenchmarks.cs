using BenchmarkDotNet.Attributes;
using Net.Zlink.Scenarios.Measure;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The recorder of latencies of the scenario runner: what timing a reply costs the client that is measured with.</summary>
[BenchmarkCategory("bench")]
public class HistogramBenchmarks
{
    private const int Values = 1_024;

    private readonly LatencyHistogram _histogram = new();
    private readonly LatencyHistogram _sum = new();
    private readonly long[] _values = new long[Values];

    [GlobalSetup]
    public void Setup()
    {
        var random = new Random(1);
        for (int i = 0; i < Values; i++)
        {
            // From 1 us to 1 s, evenly over the powers of ten: so are the buckets.
            _values[i] = (long)Math.Pow(10, 3 + (6 * random.NextDouble()));
            _histogram.Record(_values[i]);
        }
    }

    [Benchmark(OperationsPerInvoke = Values), BenchmarkCategory(AllocationCheck.Category)]
    public void Record()
    {
        foreach (long value in _values)
        {
            _histogram.Record(value);
        }
    }

    [Benchmark, BenchmarkCategory(AllocationCheck.Category)]
    public long Percentile() => _histogram.Percentile(99);

    [Benchmark, BenchmarkCategory(AllocationCheck.Category)]
    public void Add() => _sum.Add(_histogram);

    [Benchmark]
    public int Curve() => _histogram.Curve().Count;
}
