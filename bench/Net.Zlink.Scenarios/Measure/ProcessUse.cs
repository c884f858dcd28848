using System.Diagnostics;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Measure;

/// <summary>What this process uses.</summary>
internal static class ProcessUse
{
    /// <summary>User and system time of all threads.</summary>
    public static TimeSpan Cpu()
    {
        using var self = Process.GetCurrentProcess();
        return self.TotalProcessorTime;
    }

    /// <summary>The most resident memory so far, in MiB.</summary>
    public static double PeakMegabytes()
    {
        const double BytesPerMebibyte = 1024 * 1024;
        if (OperatingSystem.IsLinux())
        {
            return ProcFile.PeakMemory(Environment.ProcessId);
        }

        using var self = Process.GetCurrentProcess();
        return self.PeakWorkingSet64 / BytesPerMebibyte;
    }
}

/// <summary>Samples this process now and then.</summary>
internal sealed class ProcessSampler
{
    private const double BytesPerMebibyte = 1024 * 1024;

    private readonly long _start = Stopwatch.GetTimestamp();
    private TimeSpan _cpu = ProcessUse.Cpu();
    private TimeSpan _at = TimeSpan.Zero;

    public ProcessSample Take(long connections, long dropped)
    {
        TimeSpan now = Stopwatch.GetElapsedTime(_start);
        TimeSpan cpu = ProcessUse.Cpu();
        double percent = now > _at ? (cpu - _cpu) / (now - _at) * 100 : 0;
        (_cpu, _at) = (cpu, now);
        return new ProcessSample(
            Math.Round(now.TotalSeconds, 2),
            Math.Round(percent, 1),
            Math.Round(Environment.WorkingSet / BytesPerMebibyte, 1),
            Math.Round(GC.GetTotalMemory(forceFullCollection: false) / BytesPerMebibyte, 1),
            GC.CollectionCount(0),
            GC.CollectionCount(1),
            GC.CollectionCount(2),
            Math.Round(GC.GetTotalPauseDuration().TotalMilliseconds, 2),
            connections,
            dropped);
    }
}
