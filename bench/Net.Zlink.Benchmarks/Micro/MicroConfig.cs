using BenchmarkDotNet.Columns;
using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Diagnosers;
using BenchmarkDotNet.Exporters;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Loggers;
using BenchmarkDotNet.Toolchains.InProcess.NoEmit;

namespace Net.Zlink.Benchmarks.Micro;

/// <summary>How the micro-benchmarks run.</summary>
internal static class MicroConfig
{
    // A cold machine that does other things too has been seen to need more than the two minutes that it would get otherwise.
    private static readonly TimeSpan BuildTimeout = TimeSpan.FromMinutes(15);

    public static IConfig Create(bool dry)
    {
        ManualConfig config = ManualConfig.CreateEmpty()
            .AddColumnProvider(DefaultColumnProviders.Instance)
            .AddColumn(CategoriesColumn.Default)
            .AddDiagnoser(MemoryDiagnoser.Default);
        if (dry)
        {
            // No second build, no child processes, nothing left in the working folder.
            return config
                .AddLogger(new FailuresOnly())
                .AddJob(Job.Dry.WithToolchain(InProcessNoEmitToolchain.Instance))
                .WithArtifactsPath(Path.Combine(Path.GetTempPath(), "net-zlink-benchmarks"));
        }

        return config
            .WithBuildTimeout(BuildTimeout)
            .AddLogger(ConsoleLogger.Default)
            .AddExporter(MarkdownExporter.GitHub)
            .AddAnalyser([.. DefaultConfig.Instance.GetAnalysers()])
            .AddValidator([.. DefaultConfig.Instance.GetValidators()]);
    }

    /// <summary>Of a dry run only errors matter.</summary>
    private sealed class FailuresOnly : ILogger
    {
        public string Id => nameof(FailuresOnly);

        public int Priority => 0;

        public void Write(LogKind logKind, string text)
        {
            if (logKind == LogKind.Error)
            {
                Console.Error.Write(text);
            }
        }

        public void WriteLine() => Console.Error.Write("");

        public void WriteLine(LogKind logKind, string text)
        {
            if (logKind == LogKind.Error)
            {
                Console.Error.WriteLine(text);
            }
        }

        public void Flush() => Console.Error.Flush();
    }
}
