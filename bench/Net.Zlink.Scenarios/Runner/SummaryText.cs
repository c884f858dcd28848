using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Runner;

/// <summary>A summary for people, in Markdown.</summary>
internal static class SummaryText
{
    public static void Print(Summary summary)
    {
        ScenarioSettings settings = summary.Settings!;
        bool isConnect = settings.Scenario == Scenario.S1;
        Console.WriteLine();
        Console.WriteLine(summary.Machine);
        Console.WriteLine($"{summary.Versions.Runtime}, collector {summary.Versions.Collector}; Net.Zlink "
            + $"{summary.Versions.NetZlink}{(summary.Versions.Native is string native ? $", native {native}" : "")}");
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{settings.Transport}, {settings.Connections:N0} connections, {settings.Size:N0} bytes, {settings.InFlight} in flight, "
            + $"warm-up {settings.WarmupSeconds} s, measured {settings.MeasureSeconds} s, {settings.Shards} shards, inline completions "
            + $"{(settings.InlineCompletions ? "on" : "off")}; {summary.Plan!.Pinning}; medians of {summary.Plan.Rounds} rounds "
            + $"(lowest..highest)"));
        foreach (KeyValuePair<string, string> variable in summary.Environment)
        {
            Console.WriteLine($"{variable.Key}={variable.Value}");
        }

        Console.WriteLine();
        TextTable table = isConnect ? Connecting(summary.Stacks) : Messages(summary.Stacks);
        Console.WriteLine(table);
        foreach (SkippedStack skipped in summary.Skipped)
        {
            Console.WriteLine($"SKIPPED {skipped.Stack}: {skipped.Why}");
        }

        foreach (string unjudged in summary.Unjudged)
        {
            Console.WriteLine($"NOT JUDGED: {unjudged}");
        }

        foreach (string doubt in summary.Doubts)
        {
            Console.WriteLine($"VOID: {doubt}");
        }

        Console.WriteLine(summary.PassFail);
    }

    private static TextTable Messages(IReadOnlyList<StackSummary> stacks)
    {
        var table = new TextTable("stack", "msg/s", "p50 us", "p99 us", "connect s", "server us/msg", "client us/msg", "peak MB", "ratio",
            "p99 ratio", "verdict");
        foreach (StackSummary stack in stacks)
        {
            table.Add(
                stack.Stack,
                Text(stack.Throughput, "N0"),
                Text(stack.P50, "N0"),
                Text(stack.P99, "N0"),
                Text(stack.ConnectSeconds, "0.00"),
                Text(stack.ServerCpuMicrosecondsPerMessage, "0.00"),
                Text(stack.ClientCpuMicrosecondsPerMessage, "0.00"),
                Text(stack.ServerPeakMegabytes, "N0"),
                Text(stack.Ratios?.Throughput, "0.00"),
                Text(stack.Ratios?.P99, "0.00"),
                Verdict(stack));
        }

        return table;
    }

    private static TextTable Connecting(IReadOnlyList<StackSummary> stacks)
    {
        var table = new TextTable("stack", "connections/s", "connect s", "p50 us", "p99 us", "KB/connection", "idle %", "peak MB", "ratio",
            "verdict");
        foreach (StackSummary stack in stacks)
        {
            table.Add(
                stack.Stack,
                Text(stack.Throughput, "N0"),
                Text(stack.ConnectSeconds, "0.00"),
                Text(stack.P50, "N0"),
                Text(stack.P99, "N0"),
                Text(stack.KilobytesPerConnection, "0.0"),
                Text(stack.IdlePercent, "0.0"),
                Text(stack.ServerPeakMegabytes, "N0"),
                Text(stack.Ratios?.Throughput, "0.00"),
                Verdict(stack));
        }

        return table;
    }

    private static string Verdict(StackSummary stack) => stack.Passed == stack.Rounds ? stack.PassFail
        : $"{stack.PassFail} ({stack.Rounds - stack.Passed} of {stack.Rounds})";

    private static string Text(Spread? spread, string format) => spread is Spread figures ? figures.ToString(format) : "-";
}
