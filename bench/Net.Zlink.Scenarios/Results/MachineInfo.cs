using System.Globalization;
using System.Runtime.InteropServices;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Scenarios.Results;

/// <summary>Where figures come from: without it they say nothing.</summary>
internal sealed record MachineInfo
{
    public required string Processor { get; init; }

    public required int Processors { get; init; }

    public required string Architecture { get; init; }

    public required double MemoryGigabytes { get; init; }

    public required string System { get; init; }

    public required string Kernel { get; init; }

    /// <summary>Whether a hypervisor is below: others may then use the processors without a trace here.</summary>
    public required bool Virtual { get; init; }

    public required string LoadAverage { get; init; }

    /// <summary>What the kernel cuts a server's backlog to; 0 if not known.</summary>
    public required int SoMaxConn { get; init; }

    /// <summary>Ports for outgoing connections; empty if not known.</summary>
    public required string EphemeralPorts { get; init; }

    public static MachineInfo Collect()
    {
        const double BytesPerGigabyte = 1e9;
        bool linux = OperatingSystem.IsLinux();
        return new MachineInfo
        {
            Processor = linux ? ProcFile.Processor() : "not known",
            Processors = Environment.ProcessorCount,
            Architecture = RuntimeInformation.ProcessArchitecture.ToString(),
            MemoryGigabytes = Math.Round(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / BytesPerGigabyte, 1),
            System = SystemName(),
            Kernel = Environment.OSVersion.VersionString,
            Virtual = linux && File.ReadLines("/proc/cpuinfo")
                .Any(static line => line.StartsWith("flags", StringComparison.Ordinal)
                && line.Contains(" hypervisor", StringComparison.Ordinal)),
            LoadAverage = linux ? ProcFile.LoadAverage() : "",
            SoMaxConn = int.TryParse(Read("/proc/sys/net/core/somaxconn"), CultureInfo.InvariantCulture, out int most) ? most : 0,
            EphemeralPorts = Read("/proc/sys/net/ipv4/ip_local_port_range").Replace('\t', '-'),
        };
    }

    public override string ToString() =>
        $"{Processors} processors ({Processor}{(Virtual ? ", virtual" : "")}), {MemoryGigabytes} GB, {System}, {Kernel}; load average at "
            + $"start {LoadAverage}";

    private static string SystemName()
    {
        const string Release = "/etc/os-release";
        const string Name = "PRETTY_NAME=";
        return File.Exists(Release)
            ? File.ReadLines(Release).FirstOrDefault(static line => line.StartsWith(Name, StringComparison.Ordinal))?[Name.Length..]
                .Trim('"') ?? RuntimeInformation.RuntimeIdentifier
            : RuntimeInformation.RuntimeIdentifier;
    }

    private static string Read(string file) => File.Exists(file) ? File.ReadAllText(file).Trim() : "";
}
