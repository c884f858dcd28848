using System.Net;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class EchoServerStartTests
{
    [Fact]
    public async Task Each_endpoint_has_a_ready_line_with_its_real_port()
    {
        await using ChildProcess server = Echo.Start("--endpoint", "tcp://127.0.0.1:0", "-e", "tcp://127.0.0.1:0", "--quiet");
        IPEndPoint first = await server.ReadReadyAsync();
        IPEndPoint second = await server.ReadReadyAsync();

        Assert.NotEqual(first.Port, second.Port);
        foreach (IPEndPoint endPoint in new[] { first, second })
        {
            using WireClient client = await WireClient.ConnectAsync(endPoint);
            await client.SendAsync([1, 2, 3]);
            Assert.Equal([1, 2, 3], await client.ReceiveAsync());
        }
    }

    [Fact]
    public async Task A_busy_port_is_one_line_that_says_what_to_do()
    {
        (ChildProcess first, IPEndPoint endPoint) = await Echo.ListenAsync();
        await using ChildProcess _ = first;
        await using ChildProcess second = Echo.Start("--endpoint", $"tcp://{endPoint}");

        string line = (await second.EndAsync()).TheOneErrorLine();

        Assert.Contains($"tcp://{endPoint}", line, StringComparison.Ordinal);
        Assert.Contains("in use", line, StringComparison.Ordinal);
        Assert.Contains("--endpoint", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task An_address_of_another_machine_is_not_called_in_use()
    {
        await using ChildProcess server = Echo.Start("--endpoint", "tcp://203.0.113.1:5555");

        string line = (await server.EndAsync()).TheOneErrorLine();

        Assert.Contains("not an address of this machine", line, StringComparison.Ordinal);
        Assert.DoesNotContain("Stop the program", line, StringComparison.OrdinalIgnoreCase);
    }

    [Fact]
    public async Task When_one_of_two_endpoints_is_bad_none_is_announced()
    {
        await using ChildProcess server = Echo.Start("-e", "tcp://127.0.0.1:0", "-e", "tcp://127.0.0.1:port");

        string line = (await server.EndAsync()).TheOneErrorLine();

        Assert.Contains("tcp://127.0.0.1:port", line, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("nonsense")]
    [InlineData("")]
    [InlineData("tcp://")]
    [InlineData("tcp://127.0.0.1")]
    [InlineData("tcp://127.0.0.1:")]
    [InlineData("tcp://127.0.0.1:65536")]
    [InlineData("tcp://127.0.0.1:-1")]
    [InlineData("tcp://127.0.0.1:5555x")]
    [InlineData("127.0.0.1:5555")]
    [InlineData("udp://127.0.0.1:5555")]
    [InlineData("tcp://no-such-interface:5555")]
    [InlineData("tcp://203.0.113.1:5555")] // reserved for documentation: no machine has it
    public async Task A_bad_endpoint_is_one_line_that_names_it(string endpoint)
    {
        await using ChildProcess server = Echo.Start("--endpoint", endpoint);

        string line = (await server.EndAsync()).TheOneErrorLine();

        Assert.Contains($"\"{endpoint}\"", line, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("--mode", "pop")]
    [InlineData("--mode")]
    [InlineData("--mode", "push", "--mode", "pull")]
    [InlineData("--shards", "0")]
    [InlineData("--shards", "many")]
    [InlineData("--max-connections", "-1")]
    [InlineData("--max-message-size", "1k")]
    [InlineData("--pool", "huge")]
    [InlineData("--inline-completions", "maybe")]
    [InlineData("--inline-completions")]
    [InlineData("--endpoint")]
    [InlineData("--demo", "soon")]
    [InlineData("--demo", "0")]
    [InlineData("--demo", "--endpoint", "tcp://127.0.0.1:0")]
    [InlineData("--demo", "--max-connections", "10")]
    [InlineData("--demo", "--max-message-size", "10")]
    [InlineData("--cert", "a.pem", "-e", "tcp://127.0.0.1:0")]
    [InlineData("--cert", "a.pem", "-e", "ws://127.0.0.1:0", "-e", "ipc:///tmp/a")]
    [InlineData("--dev-cert")]
    [InlineData("--dev-cert", "--demo")]
    [InlineData("--turbo")]
    [InlineData("5555")]
    public async Task A_bad_option_is_one_line_that_points_at_help(params string[] arguments)
    {
        await using ChildProcess server = Echo.Start(arguments);

        string line = (await server.EndAsync()).TheOneErrorLine();

        Assert.Contains(arguments[0], line, StringComparison.Ordinal);
        Assert.Contains("--help", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Help_lists_every_option_and_examples()
    {
        await using ChildProcess server = Echo.Start("--help");

        ProgramEnd exit = await server.EndAsync();

        Assert.Equal(0, exit.Code);
        Assert.Empty(exit.Errors);
        string[] expected =
        [
            "--endpoint", "--shards", "--mode", "--max-connections", "--max-message-size",
            "--pool", "--inline-completions", "--quiet", "--demo",
            "Examples:", "tcp://127.0.0.1:5555", "ipc://path",
        ];
        Assert.All(expected, word => Assert.Contains(word, exit.Output, StringComparison.Ordinal));
    }
}
