using System.Globalization;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Live;

/// <summary>How a run looks while it goes on.</summary>
internal static class LiveText
{
    /// <summary>One line, for logs.</summary>
    public static string Line(LoadProgress load, ProcessSample? server = null)
    {
        string line = string.Create(
            CultureInfo.InvariantCulture,
            $"{load.Phase.ToString().ToUpperInvariant(),-8} {load.Connections,7:N0} connections {load.MessagesPerSecond,12:N0} msg/s  "
                + $"p99 {load.P99Microseconds,10:N0} us  lost {load.Lost} wrong {load.Violations} | client {Process(load.Process)}");
        return server is null ? line : line + string.Create(CultureInfo.InvariantCulture, $" | server {Process(server)}{Dropped(server)}");
    }

    /// <summary>A few lines, to be drawn over each other.</summary>
    public static IReadOnlyList<string> Panel(string title, LoadProgress? load, ProcessSample? server)
    {
        var lines = new List<string> { title };
        if (load is not null)
        {
            lines.Add(string.Create(CultureInfo.InvariantCulture,
                $"  {load.Phase,-8}  {load.Connections:N0} connections   {load.MessagesPerSecond:N0} msg/s   p99 "
                + $"{load.P99Microseconds:N0} us   lost {load.Lost:N0}   wrong {load.Violations:N0}"));
            lines.Add($"  client    {Process(load.Process)}");
        }

        if (server is not null)
        {
            lines.Add(string.Create(CultureInfo.InvariantCulture,
                $"  server    {Process(server)}   {server.Connections:N0} connections{Dropped(server)}"));
        }

        return lines;
    }

    private static string Dropped(ProcessSample server) => server.Dropped < 0 ? ""
        : string.Create(CultureInfo.InvariantCulture, $"   dropped {server.Dropped:N0}");

    private static string Process(ProcessSample sample) => string.Create(
        CultureInfo.InvariantCulture,
        $"cpu {sample.CpuPercent,4:N0} %  {sample.MemoryMegabytes,6:N0} MB  heap {sample.GcHeapMegabytes,5:N0} MB  gc "
            + $"{sample.Gen0}/{sample.Gen1}/{sample.Gen2}  paused {sample.PauseMilliseconds:N0} ms");
}
