using System.Diagnostics;
using Net.Zlink.Tests.PublicApi;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Samples;

/// <summary>The built Proxy sample as a child process.</summary>
public sealed class ProxySampleTests
{
    // Only reached when something is wrong: a run takes a second, ten under a heavily loaded machine.
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    [Theory]
    [InlineData("tcp")]
    [InlineData("inproc")]
    public async Task Every_reply_is_checked_and_the_exit_code_says_so(string transport)
    {
        (int code, string output, string errors) =
            await RunAsync("--transport", transport, "--clients", "3", "--workers", "2", "--requests", "5000", "--capture", "--quiet");
        Assert.Equal("", errors);
        Assert.Contains("PASS: 5,000 replies", output, StringComparison.Ordinal);
        Assert.Equal(0, code);
    }

    [Fact]
    public async Task A_bad_option_is_one_line_and_exit_code_2()
    {
        (int code, string output, string errors) = await RunAsync("--clients", "none");
        Assert.Equal("", output);
        Assert.Equal("Proxy: --clients cannot be 'none': use a whole number from 1 to 1000. Run with --help to see the options.",
            errors.TrimEnd());
        Assert.Equal(2, code);
    }

    [Fact]
    public async Task A_transport_that_it_does_not_know_is_one_line_without_tabs()
    {
        (int code, string output, string errors) = await RunAsync("--transport", "ws");
        Assert.Equal((2, ""), (code, output));
        Assert.Equal("Proxy: --transport does not know 'ws': use tcp, ipc or inproc. Run with --help to see the options.",
            errors.TrimEnd());
    }

    [Fact]
    public async Task Ctrl_C_ends_it_in_order()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: there is no kill to send the signal with");
        Assert.SkipWhen(Interrupt.IsIgnored(), Interrupt.WhyNot);
        using Process process = Start("--requests", "100000000", "--quiet");
        try
        {
            Task<string> errors = process.StandardError.ReadToEndAsync(Guard.Token);
            Assert.StartsWith("READY ", await process.StandardOutput.ReadLineAsync(Guard.Token).AsTask().WaitAsync(Patience, Guard.Token),
                StringComparison.Ordinal);
            using Process kill = Process.Start("kill", ["-INT", $"{process.Id}"]);
            string output = await process.StandardOutput.ReadToEndAsync(Guard.Token).WaitAsync(Patience, Guard.Token);
            Assert.Matches(@"^Stopped after [\d,]+ right replies of 100,000,000\.\s*$", output);
            await process.WaitForExitAsync(Guard.Token).WaitAsync(Patience, Guard.Token);
            Assert.Equal((1, ""), (process.ExitCode, await errors));
        }
        finally
        {
            if (!process.HasExited)
            {
                process.Kill(entireProcessTree: true);
            }
        }
    }

    [Fact]
    public async Task Help_shows_examples()
    {
        (int code, string output, _) = await RunAsync("--help");
        Assert.Contains("Examples:", output, StringComparison.Ordinal);
        Assert.Equal(0, code);
    }

    private static Process Start(params string[] arguments)
    {
        // Built beside the tests, in the same configuration: bin/Release/net10.0.
        string here = Path.TrimEndingDirectorySeparator(AppContext.BaseDirectory);
        string framework = Path.GetFileName(here);
        string configuration = Path.GetFileName(Path.GetDirectoryName(here)!);
        string program = Path.Combine(SourceTree.Root, "samples", "Proxy", "bin", configuration, framework, "Proxy.dll");
        Assert.True(File.Exists(program), $"{program} is not built");
        return Process.Start(new ProcessStartInfo(
            Environment.GetEnvironmentVariable("DOTNET_HOST_PATH") ?? "dotnet", [program, .. arguments])
        {
            UseShellExecute = false,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        })!;
    }

    private static async Task<(int Code, string Output, string Errors)> RunAsync(params string[] arguments)
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        using Process process = Start(arguments);
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync(cancellation);
            Task<string> errors = process.StandardError.ReadToEndAsync(cancellation);
            await process.WaitForExitAsync(cancellation).WaitAsync(Patience, cancellation);
            return (process.ExitCode, await output, await errors);
        }
        finally
        {
            if (!process.HasExited)
            {
                process.Kill(entireProcessTree: true);
            }
        }
    }
}
