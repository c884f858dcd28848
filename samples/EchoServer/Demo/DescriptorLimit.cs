using System.Globalization;

namespace EchoServer.Demo;

/// <summary>
/// How many files and sockets this process may open: the demo holds both ends of 1,000 connections, so it needs over 2,000.
/// </summary>
internal static class DescriptorLimit
{
    /// <summary>The assemblies, pipes and timers that the process still opens while it runs: about 50 were seen.</summary>
    private const int Spare = 128;

    /// <summary>
    /// A sentence that says what to do when the limit is too low, else null. Where the limit can't be read (only Linux tells), null.
    /// </summary>
    public static string? Complaint(int connections)
    {
        const string Limits = "/proc/self/limits";
        const string Name = "Max open files";
        if (!File.Exists(Limits))
        {
            return null;
        }

        string? line = File.ReadLines(Limits).FirstOrDefault(line => line.StartsWith(Name, StringComparison.Ordinal));
        string? soft = line?[Name.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[0];
        if (!int.TryParse(soft, NumberStyles.None, CultureInfo.InvariantCulture, out int limit)) // or "unlimited"
        {
            return null;
        }

        int needed = Directory.GetFileSystemEntries("/proc/self/fd").Length + (2 * connections) + Spare;
        return limit >= needed
            ? null
            : $"--demo opens {connections:N0} connections, both ends in this process, and needs {needed:N0} file descriptors; "
                + $"the limit is {limit:N0}. Raise it (ulimit -n {2 * needed}) and run again.";
    }
}
