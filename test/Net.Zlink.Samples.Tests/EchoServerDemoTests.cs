using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class EchoServerDemoTests
{
    [Theory]
    [InlineData("--demo", "1")]
    [InlineData("--demo", "0.2", "--mode", "pull")]
    public async Task The_demo_checks_every_reply_and_prints_the_table(params string[] arguments)
    {
        await using ChildProcess demo = Echo.Start(arguments);

        ProgramEnd exit = await demo.EndAsync();

        Assert.Empty(exit.Errors);
        Assert.Equal(0, exit.Code);
        Assert.StartsWith("READY tcp://127.0.0.1:", exit.Output, StringComparison.Ordinal);
        string[] expected =
        [
            "msg/s", "MB/s", "p50", "p99", "GC 0/1/2", "B/msg",
            "  1 x 1 ", "  1 x 30 ", "  100 x 30 ", "  1,000 x 30 ", "PASS: ", "00", "01",
        ];
        Assert.All(expected, text => Assert.Contains(text, exit.Output, StringComparison.Ordinal));
        Assert.All(exit.Output.Split('\n'), line => Assert.True(line.Length < 80, $"wider than 80 columns: {line}"));
    }

    [Theory]
    [InlineData("TERM")]
    [InlineData("INT")]
    public async Task A_signal_ends_the_demo_with_the_table_of_what_was_measured(string signal)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: there is no kill to send the signal with");
        Assert.SkipWhen(string.Equals(signal, "INT", StringComparison.Ordinal) && Interrupt.IsIgnored(), Interrupt.WhyNot);
        await using ChildProcess demo = Echo.Start("--demo", "2");
        await demo.ReadLineAsync("[2/4]");

        await demo.SignalAsync(signal);

        ProgramEnd exit = await demo.EndAsync();
        Assert.Equal((1, ""), (exit.Code, exit.Errors));
        Assert.Contains("         1 x 1 ", exit.Output, StringComparison.Ordinal);
        Assert.Matches(@"Stopped at [\d,]+ x 30, after [\d,]+ right replies\.", exit.Output);
        Assert.DoesNotContain("PASS", exit.Output, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Too_few_descriptors_for_the_demo_is_one_line_that_says_how_to_raise_them()
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "only Linux tells a process its limits in a file");
        await using ChildProcess demo = Programs.Sample("EchoServer", "--demo").WithDescriptors(1024).Start();

        string line = (await demo.EndAsync()).TheOneErrorLine();

        Assert.Contains("ulimit -n", line, StringComparison.Ordinal);
        Assert.Contains("1,024", line, StringComparison.Ordinal);
    }
}
