using System.CommandLine;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Scenarios.Results;

namespace Net.Zlink.Scenarios.Report;

/// <summary>Makes a page of what was measured.</summary>
internal static class ReportCommand
{
    public static Command Create()
    {
        var inputs = new Argument<string[]>("summaries")
        {
            Description = $"{SummaryFile.Name} files, or folders with some anywhere below.",
            Arity = ArgumentArity.OneOrMore
        };
        var output = new Option<FileInfo>("--output") { Description = "The page.", DefaultValueFactory = _ => new FileInfo("report.html") };
        var markdown = new Option<FileInfo?>("--markdown") { Description = "Also the tables as Markdown, in this file." };
        var command = new ExampleCommand(
            "report",
            "One self-contained HTML page (nothing is fetched when it is read) from any number of summaries: bars with their spread, "
                + "latency curves, throughput against size, memory and collections over time, settings and verdicts. Exit code 1 if a "
                + "run in it failed.",
            "... report artifacts/scenarios --output report.html --markdown tables.md",
            "... report results/s2/summary.json results/patterns results/soak");
        command.Add(inputs);
        command.Add(output);
        command.Add(markdown);
        command.SetAction(request => Run(request.GetValue(inputs)!, request.GetValue(output)!, request.GetValue(markdown)));
        return command;
    }

    private static int Run(string[] paths, FileInfo output, FileInfo? markdown)
    {
        IReadOnlyList<ReportInput> inputs = ReportInput.Read(paths);
        OutputCheck.File(output);
        OutputCheck.File(markdown);
        File.WriteAllText(output.FullName, ReportPage.Write(inputs, TimeProvider.System.GetUtcNow()));
        Console.WriteLine($"{output.FullName}: {inputs.Count} summaries");
        if (markdown is not null)
        {
            File.WriteAllText(markdown.FullName, MarkdownTables.Write(inputs));
            Console.WriteLine(markdown.FullName);
        }

        string[] failed = [.. inputs.Where(static input => input.Summary.PassFail is not ResultRow.Pass)
            .Select(static input => input.Name)];
        foreach (string name in failed)
        {
            Console.WriteLine($"FAIL: {name}");
        }

        return failed.Length == 0 ? 0 : CommandLineProgram.Failed;
    }
}
