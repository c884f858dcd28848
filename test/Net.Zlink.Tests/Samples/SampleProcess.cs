using System.Diagnostics;
using Net.Zlink.Tests.PublicApi;
using Xunit;

namespace Net.Zlink.Tests.Samples;

/// <summary>One of the small samples as a child process that runs to its end.</summary>
internal static class SampleProcess
{
    // Only reached when something is wrong: each takes two seconds on an idle machine.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    public static Task<(int Code, string Output, string Errors)> RunAsync(string sample, params string[] arguments) =>
        RunAsync(sample, signal: null, arguments);

    /// <summary>Ends it by a signal, TERM or INT, behind its first line.</summary>
    public static Task<(int Code, string Output, string Errors)> StopAsync(string sample, string signal, params string[] arguments) =>
        RunAsync(sample, signal, arguments);

    private static async Task<(int Code, string Output, string Errors)> RunAsync(string sample, string? signal, string[] arguments)
    {
        // Built with the tests, so it lies beside them: same configuration, same framework.
        var framework = new DirectoryInfo(AppContext.BaseDirectory.TrimEnd(Path.DirectorySeparatorChar));
        string path = Path.Combine(SourceTree.Root, "samples", sample, "bin", framework.Parent!.Name, framework.Name, $"{sample}.dll");
        using Process process = Process.Start(new ProcessStartInfo(
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [path, .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
        try
        {
            CancellationToken cancellation = TestContext.Current.CancellationToken;
            Task<string> errors = process.StandardError.ReadToEndAsync(cancellation);
            if (signal is not null)
            {
                Assert.NotNull(await process.StandardOutput.ReadLineAsync(cancellation).AsTask().WaitAsync(Patience, cancellation));
                using Process kill = Process.Start("kill", [$"-{signal}", $"{process.Id}"]);
                await kill.WaitForExitAsync(cancellation).WaitAsync(Patience, cancellation);
            }

            string output = await process.StandardOutput.ReadToEndAsync(cancellation).WaitAsync(Patience, cancellation);
            await process.WaitForExitAsync(cancellation).WaitAsync(Patience, cancellation);
            return (process.ExitCode, output, await errors.WaitAsync(Patience, cancellation));
        }
        finally
        {
            if (!process.HasExited)
            {
                process.Kill();
            }
        }
    }
}
