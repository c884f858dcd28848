using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Samples;

/// <summary>Each small sample runs by itself, checks what it did, and says so by its exit code.</summary>
public sealed class SmallSampleTests
{
    [Theory]
    [InlineData("Pair", "500 of 500", "--rounds", "500")]
    [InlineData("Pair", "100 of 100", "--rounds", "100", "--endpoint", "inproc://ball")]
    [InlineData("DealerRouter", "1,000 of 1,000", "--requests", "1000", "--workers", "3")]
    [InlineData("PubSub", "dropped at its mark of 100", "--messages", "20000", "--mark", "100")]
    [InlineData("Monitor", "ConnectionReady", "--clients", "2")]
    public async Task A_sample_does_what_it_should_and_ends_with_0(string sample, string expected, params string[] arguments)
    {
        (int code, string output, string errors) = await SampleProcess.RunAsync(sample, arguments);
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(expected, output, StringComparison.Ordinal);
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
        (int code, string output, string errors) = await SampleProcess.RunAsync(sample, arguments);
        Assert.Equal((2, ""), (code, output));
        string line = Assert.Single(errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.StartsWith($"{sample}: ", line, StringComparison.Ordinal);
        Assert.Contains(named, line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task A_chat_whose_port_is_in_use_is_one_line_that_names_the_option_and_exit_code_2()
    {
        using var other = new RawListener();
        (int code, string output, string errors) = await SampleProcess.RunAsync("WebSocketChat", "--port", $"{new Uri(other.Endpoint).Port}");
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
        (int code, string output, string errors) = await SampleProcess.RunAsync(sample, "--help");
        Assert.Equal((0, ""), (code, errors));
        Assert.Contains(option, output, StringComparison.Ordinal);
        Assert.Contains("--endpoint", output, StringComparison.Ordinal);
    }
}
