using System.Globalization;
using Net.Zlink.Scenarios.Load;
using Net.Zlink.Scenarios.Results;
using Spectre.Console;

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

    /// <summary>A table, to be drawn over itself.</summary>
    public static Table Panel(string title, LoadProgress? load, ProcessSample? server)
    {
        Table table = new Table().RoundedBorder().Title(Markup.Escape(load is null ? title : $"{title}: {load.Phase}"))
            .AddColumns("", "connections", "msg/s", "p99 us", "cpu %", "MB", "heap MB", "gc 0/1/2", "paused ms", "remarks");
        foreach (TableColumn column in table.Columns.Skip(1).SkipLast(1))
        {
            column.RightAligned();
        }

        if (load is not null)
        {
            AddRow(table, "client", load.Connections, $"{load.MessagesPerSecond:N0}", $"{load.P99Microseconds:N0}", load.Process,
                $"lost {load.Lost:N0}, wrong {load.Violations:N0}");
        }

        if (server is not null)
        {
            AddRow(table, "server", server.Connections, $"", $"", server, $"{Dropped(server).Trim()}");
        }

        return table;
    }

    private static void AddRow(Table table, string name, long connections, FormattableString rate, FormattableString p99,
        ProcessSample sample, FormattableString remarks)
    {
        FormattableString[] cells = [$"{name}", $"{connections:N0}", rate, p99, $"{sample.CpuPercent:N0}",
            $"{sample.MemoryMegabytes:N0}", $"{sample.GcHeapMegabytes:N0}", $"{sample.Gen0}/{sample.Gen1}/{sample.Gen2}",
            $"{sample.PauseMilliseconds:N0}", remarks];
        table.AddRow([.. cells.Select(static cell => cell.ToString(CultureInfo.InvariantCulture))]);
    }

    private static string Dropped(ProcessSample server) => server.Dropped < 0 ? ""
        : string.Create(CultureInfo.InvariantCulture, $"   dropped {server.Dropped:N0}");

    private static string Process(ProcessSample sample) => string.Create(
        CultureInfo.InvariantCulture,
        $"cpu {sample.CpuPercent,4:N0} %  {sample.MemoryMegabytes,6:N0} MB  heap {sample.GcHeapMegabytes,5:N0} MB  gc "
            + $"{sample.Gen0}/{sample.Gen1}/{sample.Gen2}  paused {sample.PauseMilliseconds:N0} ms");
}
