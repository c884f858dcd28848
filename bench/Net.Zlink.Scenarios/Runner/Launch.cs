using System.Diagnostics;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Samples;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>Starts this program again as a server or a client: on its processors, with its descriptor limit and the runtime's
/// switch.</summary>
internal sealed record Launch(long DescriptorLimit, Pinning Pinning)
{
    public ChildProcess Server(bool inlineCompletions, IReadOnlyList<string> arguments) =>
        Start(Self.StartInfo(inlineCompletions, arguments), Pinning.Server);

    /// <summary>Starts a server that is not this program, by a shell's command.</summary>
    public ChildProcess Foreign(bool inlineCompletions, string command) =>
        Start(Self.StartInfo(inlineCompletions), Pinning.Server, command);

    public ChildProcess Client(IReadOnlyList<string> arguments) =>
        Start(Self.StartInfo(inlineCompletions: true, arguments), Pinning.Client);

    private ChildProcess Start(ProcessStartInfo info, string? processors, string command = "\"$@\"")
    {
        if (OperatingSystem.IsWindows())
        {
            return ChildProcess.Start(info);
        }

        // The shell raises the limit and becomes the program, so that the process id is the program's own.
        string limit = DescriptorLimit == long.MaxValue ? ""
            : string.Create(CultureInfo.InvariantCulture, $"ulimit -n {DescriptorLimit} 2>/dev/null; ");
        string pin = processors is null ? "" : $"taskset -c {processors} ";
        var shell = new ProcessStartInfo("/bin/sh", ["-c", $"{limit}exec {pin}{command}", "sh", info.FileName, .. info.ArgumentList]);
        foreach (KeyValuePair<string, string?> variable in info.Environment)
        {
            shell.Environment[variable.Key] = variable.Value;
        }

        return ChildProcess.Start(shell);
    }
}
