using System.Diagnostics;
using System.Globalization;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Stops a process and lets it go on.</summary>
internal static class ProcessSignal
{
    public static Task StopAsync(int pid, CancellationToken cancellation) => SendAsync("STOP", pid, cancellation);

    public static Task ResumeAsync(int pid, CancellationToken cancellation) => SendAsync("CONT", pid, cancellation);

    private static async Task SendAsync(string signal, int pid, CancellationToken cancellation)
    {
        using var kill = Process.Start("kill", [$"-{signal}", pid.ToString(CultureInfo.InvariantCulture)]);
        await kill.WaitForExitAsync(cancellation);
    }
}
