using System.Collections;
using System.Runtime.InteropServices;

namespace Net.Zlink.Benchmarks.Common;

/// <summary>Where and with what a figure was measured: without it the figure says nothing.</summary>
internal sealed record Machine
{
    public string Processor { get; } = ProcFile.Processor();

    public int Processors { get; } = Environment.ProcessorCount;

    public string System { get; } = RuntimeInformation.OSDescription;

    public string Runtime { get; } = RuntimeInformation.FrameworkDescription;

    public string LoadAverageAtStart { get; } = ProcFile.LoadAverage();

    public DateTimeOffset Started { get; } = TimeProvider.System.GetUtcNow();

    /// <summary>The runtime's own switches: they reach every process started from here.</summary>
    public IReadOnlyList<string> Switches { get; } =
        [.. Environment.GetEnvironmentVariables().Cast<DictionaryEntry>().Select(e => $"{e.Key}={e.Value}").Where(IsSwitch)
            .Order(StringComparer.Ordinal)];

    public override string ToString() =>
        $"{Processors} processors ({Processor}), {System}, {Runtime}; load average at start {LoadAverageAtStart}; "
            + $"{Started:yyyy-MM-dd HH:mm}Z" +
        (Switches.Count > 0 ? Environment.NewLine + "runtime switches: " + string.Join(' ', Switches) : "");

    private static bool IsSwitch(string variable) =>
        variable.StartsWith("DOTNET_gc", StringComparison.OrdinalIgnoreCase)
            || variable.StartsWith("DOTNET_Tiered", StringComparison.OrdinalIgnoreCase) ||
        variable.StartsWith("DOTNET_SYSTEM_", StringComparison.OrdinalIgnoreCase)
            || variable.StartsWith("DOTNET_ThreadPool", StringComparison.OrdinalIgnoreCase) ||
        variable.StartsWith("DOTNET_PROCESSOR_COUNT", StringComparison.OrdinalIgnoreCase)
            || variable.StartsWith("DOTNET_ReadyToRun", StringComparison.OrdinalIgnoreCase);
}
