using Net.Zlink.Services;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tool.Tests;

public sealed class ServiceCommandTests
{
    [Fact]
    public async Task A_service_that_registers_is_watched_listed_and_asked()
    {
        (ToolFixture registry, string publisher) = await ToolFixture.ListenAsync(
            "registry", "run", "--publisher", "tcp://127.0.0.1:*", "--router", "tcp://127.0.0.1:*");
        await using ToolFixture running = registry;
        string router = await registry.ListeningAsync();
        await using ToolFixture watch = ToolFixture.Start("registry", "watch", publisher, "-n", "1");

        await using var context = new ZlinkContext();
        await using var receiver = new ServiceReceiver(context);
        string endpoint = receiver.Bind("tcp://127.0.0.1:*");
        receiver.ConnectRegistry(router);
        await receiver.RegisterAsync("quotes", cancellationToken: Guard.Token);
        _ = receiver.ServeAsync(
            static async (request, token) => await request.ReplyAsync("1.17"u8.ToArray(), token), cancellationToken: Guard.Token);

        Assert.Equal($"+ quotes\t{endpoint}\tweight 1", await watch.LineAsync());
        Assert.Contains("Registered", await registry.LineAsync(), StringComparison.Ordinal);
        Assert.Equal((0, $"quotes\t{endpoint}\tweight 1\n", ""), await ToolFixture.RunAsync("registry", "list", publisher));
        Assert.Equal((0, "1.17\n", ""), await ToolFixture.RunAsync("service", "ask", "quotes", "EUR", "--registry", publisher));
        Assert.Equal((0, "1.17\n", ""), await ToolFixture.RunAsync("service", "ask", "quotes", "EUR", "--at", endpoint));
    }

    [Fact]
    public async Task A_service_without_an_answer_says_who_is_missing()
    {
        (int code, _, string errors) = await ToolFixture.RunAsync("registry", "list", "tcp://127.0.0.1:1", "-t", "0.5");
        Assert.Equal(ExitCode.TimeOver, code);
        Assert.Contains("tcp://127.0.0.1:1 is not connected", errors, StringComparison.Ordinal);
        (code, _, errors) = await ToolFixture.RunAsync("service", "ask", "quotes", "EUR", "--at", "tcp://127.0.0.1:1", "-t", "0.5");
        Assert.Equal(ExitCode.TimeOver, code);
        Assert.Contains("'quotes' has no receiver", errors, StringComparison.Ordinal);
        (code, _, errors) = await ToolFixture.RunAsync("service", "ask", "quotes", "EUR");
        Assert.Equal((ExitCode.Usage, "zlink: say where the service is: either --registry or --at\n"), (code, errors));
    }

    [Fact]
    public async Task A_node_prints_what_another_one_publishes()
    {
        (ToolFixture publisher, string endpoint) =
            await ToolFixture.ListenAsync("spot", "pub", "room:1", "hello", "--bind", "tcp://127.0.0.1:*", "-n", "1000", "-r", "100");
        await using (publisher)
        {
            Assert.Equal((0, "room:1\thello\n", ""),
                await ToolFixture.RunAsync("spot", "sub", "room:*", "--connect", endpoint, "-n", "1"));
        }
    }

    [Fact]
    public async Task A_proxy_passes_requests_on_and_counts_them()
    {
        (ToolFixture proxy, string front) = await ToolFixture.ListenAsync("proxy", "tcp://127.0.0.1:*", "tcp://127.0.0.1:*");
        await using (proxy)
        {
            string back = await proxy.ListeningAsync();
            await using var context = new ZlinkContext();
            DealerSocket worker = context.CreateDealer().ConnectedTo(back);
            Task answering = Task.Run(async () =>
            {
                using Message request = await worker.ReceiveAsync(Guard.Token);
                using var reply = new MessageBuilder();
                await worker.SendAsync(reply.Add(request[0].Span).Add("ok"), Guard.Token);
            }, Guard.Token);
            Assert.Equal((0, "ok\n", ""), await ToolFixture.RunAsync("req", front, "hello"));
            await answering.Guarded();
        }

        Assert.Equal("front to back 1 messages, back to front 1", await proxy.LineAsync());
    }

    [Fact]
    public async Task A_bench_measures_an_echo()
    {
        (int code, string output, string errors) = await ToolFixture.RunAsync("bench", "--requests", "200", "--in-flight", "10");
        Assert.Equal((0, ""), (code, errors));
        Assert.Matches("^requests     [0-9,]+ a second\nround trip   median [0-9,]+ us, 99 % [0-9,]+ us, longest [0-9,]+ us\n$", output);
    }

    [Theory]
    [InlineData("bash", "complete -o default -F _zlink zlink")]
    [InlineData("zsh", "compdef _zlink zlink")]
    [InlineData("fish", "complete -f -c zlink")]
    public async Task A_shell_gets_a_script_that_completes(string shell, string expected)
    {
        (int code, string script, _) = await ToolFixture.RunAsync("completion", shell);
        Assert.Equal(0, code);
        Assert.Contains(expected, script, StringComparison.Ordinal);
    }
}
