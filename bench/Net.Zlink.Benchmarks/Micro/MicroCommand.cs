using System.CommandLine;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Reports;
using BenchmarkDotNet.Running;
using Net.Zlink.Benchmarks.Common;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>The micro-benchmarks, one class per unit; also what the program does without a command.</summary>
internal static class MicroCommand
{
    private const string Description =
        "Micro-benchmarks of single units, with memory diagnosis. Options it does not know, such as --filter, go to BenchmarkDotNet.";

    private static readonly string[] Examples =
    [
        "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- --filter '*Pool*'",
        "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- --list flat",
        "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- --anyCategories engine --job short",
        "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- micro --dry          (each once, in this process: does it run?)",
        "dotnet run -c Release --project bench/Net.Zlink.Benchmarks -- alloc --help         (allocation proof; also compare and profile)",
    ];

    public static RootCommand CreateRoot()
    {
        var root = new RootWithExamples("Measures Net.Zlink. Without a command: " + Description, Examples);
        Configure(root);
        return root;
    }

    public static Command Create()
    {
        var command = new ExampleCommand("micro", Description, Examples);
        Configure(command);
        return command;
    }

    private static void Configure(Command command)
    {
        var dry = new Option<bool>("--dry")
        {
            Description =
            "Run each benchmark once, in this process: a test that they run, not a measurement."
        };
        command.Add(dry);
        command.TreatUnmatchedTokensAsErrors = false;
        command.SetAction(request => Run(request.GetValue(dry), [.. request.UnmatchedTokens]));
    }

    private static int Run(bool dry, string[] arguments)
    {
        if (arguments is [var first, ..] && !first.StartsWith('-'))
        {
            throw new RequestException($"There is no command '{first}'. See --help.");
        }

        // Without a choice BenchmarkDotNet asks for one, which a script cannot answer.
        string[] choice = arguments.Any(a => a is "--filter" or "-f" or "--list" or "--help" or "--info" or "--version"
            || a.Contains("ategories", StringComparison.Ordinal)) ? [] : ["--filter", "*"];
        IConfig config = MicroConfig.Create(dry);
        if (!dry && ProjectFolder() is { } project)
        {
            // It looks for the project to build from the working folder upwards, and would find none when called from elsewhere.
            config = config.WithArtifactsPath(Path.GetFullPath("BenchmarkDotNet.Artifacts"));
            Directory.SetCurrentDirectory(project);
        }

        Summary[] summaries = [.. BenchmarkSwitcher.FromAssembly(typeof(MicroCommand).Assembly).Run([.. choice, .. arguments], config)];
        BenchmarkReport[] reports = [.. summaries.SelectMany(summary => summary.Reports)];
        bool failed = summaries.Any(summary => summary.HasCriticalValidationErrors) || reports.Any(report => !report.Success);
        if (reports.Length > 0)
        {
            Console.WriteLine($"{reports.Count(report => report.Success)} of {reports.Length} benchmarks ran");
        }

        bool allocated = false;
        foreach (BenchmarkReport report in dry ? [] : reports)
        {
            allocated |= AllocationCheck.Report(report);
        }

        return failed || allocated ? Commands.Failed : 0;
    }

    /// <summary>Where this program's project is, or null if it was copied away from it.</summary>
    private static string? ProjectFolder()
    {
        string name = typeof(MicroCommand).Assembly.GetName().Name + ".csproj";
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, name)))
        {
            folder = folder.Parent;
        }

        return folder?.FullName;
    }

    private sealed class RootWithExamples(string description, IReadOnlyList<string> examples) : RootCommand(description), IHasExamples
    {
        public IReadOnlyList<string> Examples => examples;
    }
}
