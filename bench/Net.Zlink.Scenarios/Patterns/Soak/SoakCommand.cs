using System.CommandLine;
using System.Globalization;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Patterns.Soak;

/// <summary>Minutes to hours of everything at once.</summary>
internal static class SoakCommand
{
    // Enough for a line, and few enough for the file of a run of days.
    private const int SamplesWanted = 120;
    private const double SecondsPerMinute = 60;

    // A year: what timers and spans of time can hold is not far beyond.
    private const double MostMinutes = 365 * 24 * 60;

    public static Command Create()
    {
        var minutes = new Option<double>("--minutes") { Description = "How long.", DefaultValueFactory = _ => 10 };
        Option<string[]> pattern = new Option<string[]>(
            "--pattern")
        { Description = "Which patterns, repeatable.", DefaultValueFactory = _ => PatternNames.All }.Among(
            PatternNames.All);
        Option<string[]> transport = new Option<string[]>(
            "--transport")
        { Description = "Over what, repeatable.", DefaultValueFactory = _ => PatternNames.Transports }.Among(
            PatternNames.Transports);
        var folder = new Option<DirectoryInfo?>("--output") { Description = $"A folder for {SummaryFile.Name}." };
        var quiet = new Option<bool>("--quiet") { Description = "Only the verdict." };
        var command = new ExampleCommand(
            "soak",
            "A mixed load of all patterns over all transports, whose clients come, talk and go, also in the middle of a sentence. "
                + "Memory, handles, threads and the buffer pool are sampled; each must not grow over the second half of the run (least "
                + "squares), every answer must be the right one, and nothing may be left at the end. Exit code 1 if not.",
            "... soak --minutes 2 --quiet",
            "... soak --minutes 480 --transport tcp --transport tls --output results/soak");
        foreach (Option option in new Option[] { minutes, pattern, transport, folder, quiet })
        {
            command.Add(option);
        }

        command.SetAction((request, cancellation) => RunAsync(
            request, request.GetValue(minutes), request.GetValue(pattern)!, request.GetValue(transport)!, request.GetValue(folder),
                request.GetValue(quiet), cancellation));
        return command;
    }

    private static async Task<int> RunAsync(ParseResult request, double minutes, string[] patterns, string[] transports,
        DirectoryInfo? folder, bool quiet, CancellationToken cancellation)
    {
        if (!(minutes is > 0 and <= MostMinutes))
        {
            throw new RequestException(string.Create(
                CultureInfo.InvariantCulture, $"--minutes must be above 0, and at most {MostMinutes:N0}."));
        }

        (string Pattern, string Transport)[] lanes =
        [
            .. from transport in transports.Distinct(StringComparer.Ordinal)
               from pattern in patterns.Distinct(StringComparer.Ordinal)
               where !new PatternCase(pattern, transport, 1).IsImpossible
               select (pattern, transport),
        ];
        if (lanes.Length == 0)
        {
            throw new RequestException("There is nothing to run: STREAM has no inproc.");
        }

        OutputCheck.Folder(folder, SummaryFile.Name);
        DateTimeOffset started = TimeProvider.System.GetUtcNow();
        var machine = MachineInfo.Collect();
        var run = new SoakRun(TimeSpan.FromMinutes(minutes), TimeSpan.FromSeconds(Math.Max(1, minutes * SecondsPerMinute / SamplesWanted)),
            quiet ? null : Say);
        SoakResult result = await run.RunAsync(lanes, cancellation);
        bool passed = result.Faults.Count == 0 && result.Slopes.All(static slope => slope.PassFail is ResultRow.Pass);
        foreach (SoakSlope slope in result.Slopes)
        {
            Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
                $"SLOPE figure=\"{slope.Figure}\" per_hour={slope.PerHour:F2} limit_per_hour={slope.LimitPerHour:F2} "
                + $"pass_fail={slope.PassFail}"));
        }

        foreach (string fault in result.Faults)
        {
            Console.WriteLine($"fault: {fault}");
        }

        string passFail = passed ? ResultRow.Pass : ResultRow.Fail;
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"SOAK seconds={result.Seconds:F0} messages={result.Messages} connections={result.Connections} faults={result.Faults.Count} "
            + $"pass_fail={passFail}"));
        if (folder is not null)
        {
            folder.Create();
            SummaryFile.Write(Path.Combine(folder.FullName, SummaryFile.Name), new Summary
            {
                Kind = "soak",
                Command = string.Join(' ', request.Tokens.Select(static token => token.Value)),
                Started = started,
                Finished = TimeProvider.System.GetUtcNow(),
                PassFail = passFail,
                Machine = machine,
                Versions = VersionInfo.Collect(),
                Environment = EnvironmentVariables.Collect(),
                Soak = result,
            });
        }

        return passed ? 0 : CommandLineProgram.Failed;
    }

    private static void Say(SoakSample sample, double messagesPerSecond) => Console.Error.WriteLine(string.Create(
        CultureInfo.InvariantCulture,
        $"{sample.Second,7:F0} s  {messagesPerSecond,10:N0} msg/s  {sample.MemoryMegabytes,7:F1} MB resident  "
            + $"{sample.GcHeapMegabytes,6:F1} MB heap  {sample.Handles,5} handles  {sample.Threads,4} threads  pool "
            + $"{sample.PoolRentedMegabytes:F1} MB out, {sample.PoolKeptMegabytes:F1} MB kept"));
}
