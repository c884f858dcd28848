using System.Diagnostics;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Settings;
using Net.Zlink.Scenarios.Wire;
using Samples;
using Xunit;

namespace Net.Zlink.Scenarios.Tests.Support;

/// <summary>Short runs of the load, here or as a program.</summary>
internal static class Runs
{
    // Only reached when something is wrong: the longest takes some seconds on an idle machine.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(120);

    /// <summary>Where nothing is missing the drain ends at once, so its limit is only for machines that are busy with something else; the
    /// same holds for connecting.</summary>
    public static readonly ScenarioSettings Short = new()
    {
        Connections = 3,
        InFlight = 4,
        Size = 64,
        WarmupSeconds = 0.05,
        MeasureSeconds = 0.3,
        DrainTimeoutSeconds = 60,
        ConnectTimeoutSeconds = 60,
    };

    /// <summary>Drives a server from this process.</summary>
    public static async Task<LoadReport> LoadAsync(string endpoint, ScenarioSettings settings, Action<LoadProgress>? progress = null)
    {
        using var client = new LoadClient(settings, "test-s2", progress);
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        return await client.RunAsync(Address.Parse(endpoint), cancellation).WaitAsync(Patience, cancellation);
    }

    /// <summary>Runs the program to its end.</summary>
    public static Task<(int Code, string Output, string Errors)> ProgramAsync(params IEnumerable<string> arguments) =>
        ProgramAsync(native: null, arguments);

    /// <param name="native">What ZLINK_NATIVE_LIBRARY is; null for not set.</param>
    /// <param name="arguments">The command line.</param>
    public static async Task<(int Code, string Output, string Errors)> ProgramAsync(string? native, IEnumerable<string> arguments)
    {
        string program = Path.Combine(AppContext.BaseDirectory, "Net.Zlink.Scenarios.dll");
        var info = new ProcessStartInfo(Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [program, .. arguments]);
        info.Environment["ZLINK_NATIVE_LIBRARY"] = native;
        await using var process = ChildProcess.Start(info);
        process.EndInput();
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        Assert.True(await process.WaitForExitAsync(Patience, cancellation), $"{string.Join(' ', info.ArgumentList)} did not end");
        return (process.ExitCode, await process.ReadToEndAsync(cancellation), process.Errors);
    }
}
