using System.Globalization;
using System.Net;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class EchoServerStatusTests
{
    [Fact]
    public async Task Every_second_has_a_row_of_numbers_under_the_heading()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync();
        await using ChildProcess _ = server;
        using WireClient client = await WireClient.ConnectAsync(endPoint);
        await client.SendAsync(new byte[500]);
        Assert.Equal(new byte[500], await client.ReceiveAsync());

        string heading = await server.ReadUntilAsync(line => line.Contains("conns", StringComparison.Ordinal));
        string[] rows = [await server.ReadLineAsync(), await server.ReadLineAsync()];

        string[] expected = ["in msg/s", "out msg/s", "MB/s", "p50", "p99", "GC 0/1/2", "pool MB"];
        Assert.All(expected, word => Assert.Contains(word, heading, StringComparison.Ordinal));
        Assert.All(rows, row => Assert.True(row.Length < 80, "a row must fit 80 columns"));
        Assert.All(rows, row => Assert.Equal("1", FirstColumn(row)));
    }

    [Fact]
    public async Task Without_inline_completions_there_is_a_shard_per_processor() =>
        Assert.Contains($" {Environment.ProcessorCount} shard", await SettingsAsync("--inline-completions", "off"),
            StringComparison.Ordinal);

    [Theory]
    [InlineData(true, "--inline-completions", "off")]
    [InlineData(false, "--inline-completions", "off", "--shards", "3")]
    [InlineData(false, "--inline-completions", "on")]
    public async Task Connections_over_websocket_have_further_shards_unless_a_number_is_asked_for_or_completions_are_inline(
        bool areThere, params string[] arguments)
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "no switch");
        await using ChildProcess server = Echo.Start(["--endpoint", "ws://127.0.0.1:0", .. arguments]);
        string settings = await server.ReadUntilAsync(static line => line.Contains("Ctrl-C", StringComparison.Ordinal));
        Assert.Equal(areThere, settings.Contains(
            $" and {new ZlinkContextOptions().TlsAndWebSocketShardCount} for tls/ws,", StringComparison.Ordinal));
    }

    [Fact]
    public async Task With_inline_completions_there_are_half_as_many_shards_as_processors_and_a_polling_thread_for_each()
    {
        Assert.SkipWhen(Environment.ProcessorCount < 2 || OperatingSystem.IsWindows(), "nothing to halve, or no switch");
        int half = Environment.ProcessorCount / 2;

        string settings = await SettingsAsync("--inline-completions", "on");

        Assert.Contains($" {half} shard", settings, StringComparison.Ordinal);
        Assert.Contains($" {half} polling thread", settings, StringComparison.Ordinal);
    }

    [Fact]
    public async Task With_inline_completions_there_are_as_many_polling_threads_as_shards_but_no_more_than_processors()
    {
        Assert.SkipWhen(OperatingSystem.IsWindows(), "no switch");
        Assert.Contains(" 1 polling thread", await SettingsAsync("--inline-completions", "on", "--shards", "1"), StringComparison.Ordinal);
        string many = await SettingsAsync("--inline-completions", "on", "--shards", "100");
        Assert.Contains(" 100 shards", many, StringComparison.Ordinal);
        Assert.Contains($" {Math.Min(100, Environment.ProcessorCount)} polling thread", many, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Quiet_prints_nothing_between_ready_and_the_summary()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--quiet");
        await using ChildProcess _ = server;
        using WireClient client = await WireClient.ConnectAsync(endPoint);
        await client.SendAsync([1]);
        Assert.Equal([1], await client.ReceiveAsync());

        client.Dispose(); // else the server would give it 5 s to take its leave
        await server.SignalAsync("TERM");

        Assert.StartsWith("Stopped after ", await server.ReadLineAsync(), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("TERM", "push")]
    [InlineData("TERM", "pull")]
    [InlineData("INT", "push")]
    public async Task A_signal_delivers_what_is_queued_then_sums_up_and_exits_with_0(string signal, string mode)
    {
        Assert.SkipWhen(signal is "INT" && Interrupt.IsIgnored(), Interrupt.WhyNot);
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--mode", mode);
        await using ChildProcess _ = server;
        using WireClient client = await WireClient.ConnectAsync(endPoint);

        // More than the two sockets' buffers hold, and nothing is read: the answers queue up in the server.
        const int Messages = 500;
        byte[] payload = new byte[32_768];
        for (int i = 0; i < Messages; i++)
        {
            payload[0] = (byte)i;
            await client.SendAsync(payload);
        }

        // The server has read it all once a second with messages was followed by two without.
        int silentSeconds = -1;
        await server.ReadUntilAsync(line =>
        {
            silentSeconds = SecondColumn(line) switch
            {
                > 0 => 0,
                0 when silentSeconds >= 0 => silentSeconds + 1,
                _ => silentSeconds,
            };
            return silentSeconds == 2;
        });
        await server.SignalAsync(signal);

        for (int i = 0; i < Messages; i++)
        {
            payload[0] = (byte)i;
            Assert.Equal(payload, await client.ReceiveAsync());
        }

        Assert.Null(await client.ReceiveAsync()); // an end in order, not a reset
        client.Dispose();
        ProgramEnd exit = await server.EndAsync();
        Assert.Equal(0, exit.Code);
        Assert.Empty(exit.Errors);
        string[] expected =
        [
            "Stopped after", "1 served, 0 refused", "received     500 messages, 16.4 MB", "sent         500 messages, 16.4 MB",
            "undelivered  nothing",
        ];
        Assert.All(expected, text => Assert.Contains(text, exit.Output, StringComparison.Ordinal));
    }

    private static async Task<string> SettingsAsync(params string[] arguments)
    {
        (ChildProcess server, _) = await Echo.ListenAsync(arguments);
        await using ChildProcess _1 = server;
        return await server.ReadUntilAsync(static line => line.Contains("Ctrl-C", StringComparison.Ordinal));
    }

    private static string FirstColumn(string row) => row.Split(' ', StringSplitOptions.RemoveEmptyEntries)[0];

    /// <summary>Messages in, of a row of numbers; -1 for any other line.</summary>
    private static int SecondColumn(string line)
    {
        string[] columns = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return columns.Length > 1 && int.TryParse(columns[1], NumberStyles.AllowThousands, CultureInfo.InvariantCulture, out int messages)
            ? messages
            : -1;
    }
}
