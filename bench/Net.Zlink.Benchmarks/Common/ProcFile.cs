using System.Globalization;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>What the kernel says about a process and the machine (Linux, /proc).</summary>
internal static class ProcFile
{
    // USER_HZ: what /proc counts time in, 100 on every Linux architecture that .NET runs on.
    private const double TicksPerSecond = 100;
    private const double KiBPerMiB = 1024;

    /// <summary>User and system time of a process, all threads, in seconds.</summary>
    public static double CpuSeconds(int pid)
    {
        // Fields 14 and 15 of proc(5).
        string[] fields = StatFields(pid);
        return (Number(fields[11]) + Number(fields[12])) / TicksPerSecond;
    }

    /// <summary>User and system time of this process and of all that it started and that have ended, in seconds.</summary>
    public static double CpuSecondsWithEndedChildren()
    {
        // Fields 14 to 17 of proc(5).
        string[] fields = StatFields(Environment.ProcessId);
        return (Number(fields[11]) + Number(fields[12]) + Number(fields[13]) + Number(fields[14])) / TicksPerSecond;
    }

    /// <summary>Peak resident memory in MiB.</summary>
    public static double PeakMemory(int pid) => StatusKiB(pid, "VmHWM:") / KiBPerMiB;

    /// <summary>Resident memory in MiB.</summary>
    public static double Memory(int pid) => StatusKiB(pid, "VmRSS:") / KiBPerMiB;

    /// <summary>Time that all processors together spent on anything but idling, in seconds since the machine's start.</summary>
    public static double BusySeconds()
    {
        // cpu user nice system idle iowait irq softirq steal ...: everything but idle and iowait.
        string[] fields = File.ReadLines("/proc/stat").First().Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return fields.Skip(1).Take(8).Where((_, index) => index is not 3 and not 4).Sum(Number) / TicksPerSecond;
    }

    /// <summary>The processes that <paramref name="pid"/> started.</summary>
    public static bool HasChildren(int pid) =>
        Directory.EnumerateDirectories(string.Create(CultureInfo.InvariantCulture, $"/proc/{pid}/task"))
            .Any(task => File.Exists(task + "/children") && File.ReadAllText(task + "/children").Length > 0);

    /// <summary>How many files this process, and those it starts, may open.</summary>
    public static int OpenFileLimit()
    {
        string line = File.ReadLines("/proc/self/limits").First(l => l.StartsWith("Max open files", StringComparison.Ordinal));
        string limit = line.Split(' ', StringSplitOptions.RemoveEmptyEntries)[3];
        return int.TryParse(limit, CultureInfo.InvariantCulture, out int number) ? number : int.MaxValue;
    }

    /// <summary>The first port that the system itself hands out for outgoing connections.</summary>
    public static int FirstEphemeralPort() => (int)Number(File.ReadAllText("/proc/sys/net/ipv4/ip_local_port_range").Split('\t', ' ')[0]);

    public static string Processor() =>
        File.ReadLines("/proc/cpuinfo").FirstOrDefault(l => l.StartsWith("model name", StringComparison.Ordinal))?.Split(':')[1].Trim()
            ?? "unknown processor";

    public static string LoadAverage() => File.ReadAllText("/proc/loadavg").Split(' ')[0];

    /// <summary>From the third field of proc(5) on: the name in the second may hold blanks, so it is counted from the bracket that ends
    /// it.</summary>
    private static string[] StatFields(int pid)
    {
        string stat = File.ReadAllText(string.Create(CultureInfo.InvariantCulture, $"/proc/{pid}/stat"));
        return stat[(stat.LastIndexOf(')') + 2)..].Split(' ');
    }

    private static double StatusKiB(int pid, string field)
    {
        string line = File.ReadLines(string.Create(CultureInfo.InvariantCulture, $"/proc/{pid}/status"))
            .First(l => l.StartsWith(field, StringComparison.Ordinal));
        return Number(line.Split(' ', '\t').First(part => part.Length > 0 && char.IsAsciiDigit(part[0])));
    }

    private static double Number(string text) => double.Parse(text, CultureInfo.InvariantCulture);
}
