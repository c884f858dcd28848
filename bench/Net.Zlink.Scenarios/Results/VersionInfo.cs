using System.Reflection;
using System.Runtime.InteropServices;
using Net.Zlink.Scenarios.Native;

namespace Net.Zlink.Scenarios.Results;

/// <summary>What was measured, and with what.</summary>
internal sealed record VersionInfo
{
    /// <summary>Our version; behind the plus sign the commit it was built from.</summary>
    public required string NetZlink { get; init; }

    public required string Runtime { get; init; }

    public required string AspNetCore { get; init; }

    /// <summary>Null if no native library is named.</summary>
    public string? Native { get; init; }

    /// <summary>Workstation or server, concurrent or not, of every .NET process started here.</summary>
    public required string Collector { get; init; }

    /// <summary>Release, or Debug, which makes every figure void.</summary>
    public required string Build { get; init; }

    public static VersionInfo Collect() => new()
    {
        NetZlink = VersionOf(typeof(ZlinkContext).Assembly),
        Runtime = RuntimeInformation.FrameworkDescription,
        AspNetCore = VersionOf(typeof(Microsoft.AspNetCore.Connections.ConnectionHandler).Assembly),
        Native = NativeZlink.WhyNot() is null ? NativeZlink.LibraryVersion().ToString() : null,
        Collector = $"{(System.Runtime.GCSettings.IsServerGC ? "server" : "workstation")}, "
            + $"{(System.Runtime.GCSettings.LatencyMode == System.Runtime.GCLatencyMode.Batch ? "not concurrent" : "concurrent")}",
        Build = typeof(ZlinkContext).Assembly.GetCustomAttribute<AssemblyConfigurationAttribute>()?.Configuration ?? "not known",
    };

    private static string VersionOf(Assembly assembly) =>
        assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion
            ?? assembly.GetName().Version?.ToString() ?? "not known";
}
