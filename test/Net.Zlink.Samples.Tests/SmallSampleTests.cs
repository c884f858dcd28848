using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

/// <summary>Each small sample runs by itself, checks what it did, and says so by its exit code.</summary>
public sealed class SmallSampleTests
{
    [Theory]
    [InlineData("Pair", "500 of 500", "--rounds", "500")]
    [InlineData("Pair", "100 of 100", "--rounds", "100", "--endpoint", "inproc://ball")]
    [InlineData("DealerRouter", "1,000 of 1,000", "--requests", "1000", "--workers", "3")]
    [InlineData("PubSub", "dropped at its mark of 100", "--messages", "20000", "--mark", "100")]
    [InlineData("PubSub", "eur 2,000, usd 2,000 of 2,000 each", "--messages", "4000", "--mark", "1")]
    [InlineData("PubSub", "eur 2,000, usd 2,000 of 2,000 each", "--messages", "4000", "--mark", "3")]
    [InlineData("Monitor", "ConnectionReady", "--clients", "2")]
    public async Task A_sample_does_what_it_should_and_ends_with_0(string sample, string expected, params string[] arguments)
    {
        (int code, string output, string errors) = await Programs.Sample(sample, arguments).RunAsync();
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(expected, output, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("Pair", "TERM", @"[\d,]+ of 100,000,000 balls came back", "--rounds", "100000000")]
    [InlineData("Pair", "INT", @"[\d,]+ of 100,000,000 balls came back", "--rounds", "100000000")]
    [InlineData("DealerRouter", "TERM", @"worker 1: +[\d,]+ requests answered\s+[\d,]+ of 100,000,000 answers right",
        "--requests", "100000000", "--workers", "2")]
    [InlineData("DealerRouter", "INT", @"worker 1: +[\d,]+ requests answered\s+[\d,]+ of 100,000,000 answers right",
        "--requests", "100000000", "--workers", "2")]
    [InlineData("PubSub", "TERM", @"^eur [\d,]+, usd [\d,]+ of 50,000,000 each; [\d,]+ dropped", "--messages", "100000000")]
    [InlineData("PubSub", "INT", @"^eur [\d,]+, usd [\d,]+ of 50,000,000 each; [\d,]+ dropped", "--messages", "100000000")]
    public async Task A_sample_that_is_stopped_says_what_it_has_done(
        string sample, string signal, string expected, params string[] arguments)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "NOT TESTED HERE: there is no kill to send the signal with");
        Assert.SkipWhen(string.Equals(signal, "INT", StringComparison.Ordinal) && Interrupt.IsIgnored(), Interrupt.WhyNot);
        await using ChildProcess process = Programs.Sample(sample, arguments).Start();
        await process.ReadLineAsync();
        await process.SignalAsync(signal);
        (int code, string output, string errors) = await process.EndAsync();
        Assert.Equal((1, $"{sample}: stopped before it was done"), (code, errors.TrimEnd()));
        Assert.Matches(expected, output);
    }

    [Theory]
    [InlineData("Pair", "--rounds", "--rounds", "0")]
    [InlineData("DealerRouter", "--workers", "--workers", "many")]
    [InlineData("PubSub", "--turbo", "--turbo")]
    [InlineData("DealerRouter", "* names no host to connect to", "--endpoint", "ws://*:0/a")]
    [InlineData("Monitor", "nonsense", "--endpoint", "nonsense")]
    [InlineData("Monitor", "udp://127.0.0.1:1", "--endpoint", "udp://127.0.0.1:1")]
    public async Task A_start_that_cannot_succeed_is_one_line_and_exit_code_2(string sample, string named, params string[] arguments)
    {
        (int code, string output, string errors) = await Programs.Sample(sample, arguments).RunAsync();
        Assert.Equal((2, ""), (code, output));
        string line = Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.StartsWith($"{sample}: ", line, StringComparison.Ordinal);
        Assert.Contains(named, line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_chat_whose_port_is_in_use_is_one_line_that_names_the_option_and_exit_code_2()
    {
        using var other = new RawListener();
        (int code, string output, string errors) =
            await Programs.Sample("WebSocketChat", "--port", $"{new Uri(other.Endpoint).Port}").RunAsync();
        Assert.Equal((2, ""), (code, output));
        string line = Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.StartsWith("WebSocketChat: ", line, StringComparison.Ordinal);
        Assert.Contains("in use; choose another port with --port", line, StringComparison.OrdinalIgnoreCase);
    }

    [Theory]
    [InlineData("Pair", "--rounds")]
    [InlineData("DealerRouter", "--workers")]
    [InlineData("PubSub", "--mark")]
    [InlineData("Monitor", "--clients")]
    public async Task Help_names_the_options(string sample, string option)
    {
        (int code, string output, string errors) = await Programs.Sample(sample, "--help").RunAsync();
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(option, output, StringComparison.Ordinal);
        Assert.Contains("--endpoint", output, StringComparison.Ordinal);
        Assert.Contains("[default: tcp://127.0.0.1:0]", output, StringComparison.Ordinal);
        Assert.DoesNotContain("Default:", output, StringComparison.Ordinal); // It would stand there twice.
    }
}
