using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>The built Proxy sample as a child process.</summary>
public sealed class ProxySampleTests
{
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
        await using ChildProcess process = Programs.Sample("Proxy", "--requests", "100000000", "--quiet").Start();
        await process.ReadLineAsync("READY ");
        await process.SignalAsync("INT");
        (int code, string output, string errors) = await process.EndAsync();
        Assert.Matches(@"^Stopped after [\d,]+ right replies of 100,000,000\.\s*$", output);
        Assert.Equal((1, "Proxy: stopped before it was done"), (code, errors.TrimEnd()));
    }

    [Fact]
    public async Task Help_shows_examples()
    {
        (int code, string output, _) = await RunAsync("--help");
        Assert.Contains("Examples:", output, StringComparison.Ordinal);
        Assert.Equal(0, code);
    }

    private static Task<ProgramEnd> RunAsync(params string[] arguments) => Programs.Sample("Proxy", arguments).RunAsync();
}
