using System.Diagnostics;
using Net.Zlink.Buffers;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>Looks at what this process holds.</summary>
internal sealed class SoakSampler(ZlinkContext context, SoakCounters counters)
{
    private const double BytesPerMegabyte = 1e6;

    private readonly long _start = Stopwatch.GetTimestamp();

    /// <summary>A full collection first: what is left then is held by somebody, and its growth is a leak and not the collector's
    /// patience.</summary>
    public SoakSample Take()
    {
        GC.Collect();
        GC.WaitForPendingFinalizers();
        using var process = Process.GetCurrentProcess();
        BufferPoolStatistics pool = context.Pool.GetStatistics();
        return new SoakSample(
            Stopwatch.GetElapsedTime(_start).TotalSeconds,
            process.WorkingSet64 / BytesPerMegabyte,
            GC.GetTotalMemory(forceFullCollection: false) / BytesPerMegabyte,
            process.HandleCount,
            process.Threads.Count,
            pool.BytesRented / BytesPerMegabyte,
            pool.BytesKept / BytesPerMegabyte,
            counters.Messages);
    }
}
