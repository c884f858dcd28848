using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Measure;
using Net.Zlink.Scenarios.Patterns;
using Net.Zlink.Scenarios.Report;
using Net.Zlink.Scenarios.Results;
using Net.Zlink.Scenarios.Settings;

namespace Net.Zlink.Scenarios.Tests.Report;

/// <summary>Summaries of each kind, without a machine to measure on.</summary>
internal static class Summaries
{
    public static Summary Scenario(string stack = "net-zlink", bool failed = false)
    {
        ResultRow row = new()
        {
            ScenarioId = stack + "-s2",
            Transport = "tcp",
            Ccu = 10,
            InFlight = 30,
            Size = 1024,
            ConnectSuccess = 10,
            Sent = 1000,
            Recv = failed ? 990 : 1000,
            Throughput = 123_456,
            P50 = 100,
            P95 = 200,
            P99 = 300
        };
        return Empty("scenario", row.PassFail) with
        {
            Settings = new ScenarioSettings(),
            Rounds =
            [
                new Round
                {
                    Stack = stack,
                    Number = 1,
                    Started = DateTimeOffset.UnixEpoch,
                    Row = row,
                    Client = new ClientDetail { LatencyCurve =
                        [new LatencyPoint(0, 10), new LatencyPoint(50, 100), new LatencyPoint(99, 300), new LatencyPoint(100, 900)] },
                    Server = new ServerDetail { Samples = [new ProcessSample(1, 50, 80, 5, 1, 0, 0, 2, 10, 0),
                        new ProcessSample(2, 60, 90, 6, 2, 0, 0, 3, 10, 0)] },
                },
            ],
            Stacks = [new StackSummary { Stack = stack, PassFail = row.PassFail, Rounds = 1, Passed = failed ? 0 : 1, Throughput = failed
                ? null : new Spread(123_456, 100_000, 150_000), P50 = failed ? null : new Spread(100, 90, 110), P99 = failed ? null
                : new Spread(300, 250, 400) }],
        };
    }

    public static Summary Patterns() => Empty("patterns", ResultRow.Pass) with
    {
        Patterns =
        [
            .. from stack in new[] { PatternStack.Managed, PatternStack.Native }
               from size in PatternNames.Sizes
               from round in new[] { 1, 2 }
               select new PatternRow
               {
                   Stack = stack,
                   Pattern = PatternNames.Pair,
                   Transport = "tcp",
                   Size = size,
                   Api = PatternNames.SingleApi,
                   Round = round,
                   MessagesPerSecond = (stack is PatternStack.Managed ? 3e6 : 1e6) / size * round,
                   LatencyMicroseconds = 10 + round,
               },
        ],
        Bars = [new PatternVerdict("PAIR/tcp/64", "rate >= 2.5x", "3.00", "met")],
    };

    public static Summary Soak(string verdict = ResultRow.Pass) => Empty("soak", verdict) with
    {
        Soak = new SoakResult
        {
            Seconds = 60,
            Messages = 1_000,
            Connections = 50,
            Samples = [.. Enumerable.Range(1, 60).Select(static second => new SoakSample(second, 100, 20, 50, 12, 1, 5, second * 100L))],
            Slopes = [new SoakSlope("handles", 120, 2, verdict)],
            Faults = verdict is ResultRow.Pass ? [] : ["3 buffers of the pool are still out"],
        },
    };

    public static ReportInput Named(this Summary summary, string name) => new(name, summary);

    private static Summary Empty(string kind, string verdict) => new()
    {
        Kind = kind,
        Command = kind + " --quiet",
        Started = DateTimeOffset.UnixEpoch,
        Finished = DateTimeOffset.UnixEpoch.AddSeconds(90),
        PassFail = verdict,
        Machine = new MachineInfo
        {
            Processor = "a processor",
            Processors = 2,
            Architecture = "X64",
            MemoryGigabytes = 4,
            System = "Linux",
            Kernel = "6",
            Virtual = true,
            LoadAverage = "0.1",
            SoMaxConn = 4096,
            EphemeralPorts = "32768-60999"
        },
        Versions = new VersionInfo
        {
            NetZlink = "0.1.0+0123456789abcdef",
            Runtime = ".NET 10",
            AspNetCore = "10",
            Collector = "workstation",
            Build = "Release"
        },
        Environment = new Dictionary<string, string>(StringComparer.Ordinal),
    };
}
