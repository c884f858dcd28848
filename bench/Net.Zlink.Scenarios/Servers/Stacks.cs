using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Native;
using Net.Zlink.Scenarios.Wire;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>The stacks by name.</summary>
internal static class Stacks
{
    public const string NetZlink = "net-zlink";
    public const string NetZlinkPull = "net-zlink-pull";
    public const string DotNet = "dotnet";
    public const string Kestrel = "kestrel";
    public const string Native = "native";

    /// <summary>An endpoint that someone else serves; no server is started.</summary>
    public const string External = "external";

    /// <summary>All that this program can serve, in the order in which they run by default; the first is what the ratios are to.</summary>
    public static readonly IReadOnlyList<string> Served = [NetZlink, NetZlinkPull, DotNet, Kestrel, Native];

    /// <summary>Null if the stack can serve here, else why not.</summary>
    public static string? WhyNot(string stack) => string.Equals(stack, Native, StringComparison.Ordinal) ? NativeZlink.WhyNot() : null;

    /// <exception cref="RequestException">There is no such stack, or it cannot listen there.</exception>
    public static async Task<IEchoServer> StartAsync(string stack, ServerSettings settings)
    {
        Address address = Address.Parse(settings.Endpoint);
        if (Served.Contains(stack, StringComparer.Ordinal) && WhyNot(stack) is { } why)
        {
            throw new RequestException($"The server {stack} cannot run here. {why}.");
        }

        return stack switch
        {
            NetZlink => new NetZlinkServer(address, settings, isPull: false),
            NetZlinkPull => new NetZlinkServer(address, settings, isPull: true),
            DotNet => await DotNetServer.StartAsync(address, settings),
            Kestrel => await KestrelServer.StartAsync(address, settings),
            Native => new NativeServer(address, settings),
            _ => throw new RequestException($"There is no server {stack}; there are {string.Join(", ", Served)}."),
        };
    }
}
