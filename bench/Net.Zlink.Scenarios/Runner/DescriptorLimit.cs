using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>How many files and sockets a process may have open, and what to do if that is too few.</summary>
internal static class DescriptorLimit
{
    // Assemblies, pipes to the runner, the diagnostics port, epoll: some 200 were seen in a server.
    private const int Reserve = 500;

    /// <summary>What a process with so many connections needs.</summary>
    public static long NeededFor(int connections) => connections + Reserve;

    /// <summary>This process's hard limit; the runtime has raised the soft one to it at the start. <see cref="long.MaxValue"/> if there is
    /// none or it is not known.</summary>
    public static long OfThisProcess()
    {
        const string Limits = "/proc/self/limits";
        const string Name = "Max open files";
        const int HardField = 1;
        string? line = File.Exists(Limits) ? File.ReadLines(Limits)
            .FirstOrDefault(static line => line.StartsWith(Name, StringComparison.Ordinal)) : null;
        string? hard = line?[Name.Length..].Split(' ', StringSplitOptions.RemoveEmptyEntries)[HardField];
        return long.TryParse(hard, CultureInfo.InvariantCulture, out long limit) ? limit : long.MaxValue;
    }

    /// <summary>The limit to start children with: what they need, if this user may raise it so far.</summary>
    /// <exception cref="RequestException">The limit is too low and cannot be raised.</exception>
    public static long ForChildren(int connections)
    {
        long limit = OfThisProcess();
        long needed = NeededFor(connections);
        if (limit >= needed)
        {
            return limit;
        }

        return CanRaiseTo(needed) ? needed : throw new RequestException(Complaint(connections, limit));
    }

    /// <exception cref="RequestException">This process may not open as many.</exception>
    public static void Check(int connections)
    {
        long limit = OfThisProcess();
        if (limit < NeededFor(connections))
        {
            throw new RequestException(Complaint(connections, limit));
        }
    }

    private static string Complaint(int connections, long limit) => string.Create(
        CultureInfo.InvariantCulture,
        $"{connections:N0} connections need {NeededFor(connections):N0} open files in each process; the hard limit of this shell is "
            + $"{limit:N0} and this user may not raise it. Raise it (limits.conf, systemd's LimitNOFILE, docker run --ulimit "
            + $"nofile={NeededFor(connections)}), or take --ccu {Math.Max(1, limit - Reserve)}.");

    private static bool CanRaiseTo(long limit)
    {
        using Process? shell = OperatingSystem.IsWindows() ? null
            : Process.Start(new ProcessStartInfo("/bin/sh",
            ["-c", $"ulimit -n {limit.ToString(CultureInfo.InvariantCulture)}"])
            { RedirectStandardError = true, UseShellExecute = false });
        shell?.WaitForExit();
        return shell?.ExitCode == 0;
    }
}
