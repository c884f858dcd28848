using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Measure;

/// <summary>What another process uses, as far as the system tells (Linux). Nothing of one that has ended: it may end at any moment, also
/// between a look and the next.</summary>
internal static class OtherProcess
{
    /// <summary>User and system time in seconds.</summary>
    public static double CpuSeconds(int pid) => Ask(ProcFile.CpuSeconds, pid);

    /// <summary>Resident memory in MiB.</summary>
    public static double Memory(int pid) => Ask(ProcFile.Memory, pid);

    /// <summary>The most resident memory so far in MiB.</summary>
    public static double PeakMemory(int pid) => Ask(ProcFile.PeakMemory, pid);

    public static bool HasChildren(int pid) => Ask(static pid => ProcFile.HasChildren(pid) ? 1 : 0, pid) > 0;

    private static double Ask(Func<int, double> question, int pid)
    {
        if (!OperatingSystem.IsLinux())
        {
            return 0;
        }

        try
        {
            return question(pid);
        }
        catch (Exception e) when (e is IOException or InvalidOperationException)
        {
            // No such file, or, of a process that has ended and was not waited for yet, no such line.
            return 0;
        }
    }
}
