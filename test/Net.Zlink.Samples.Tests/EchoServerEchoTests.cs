using System.Net;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class EchoServerEchoTests
{
    public static TheoryData<string, string> Ways => new()
    {
        { "push", "off" },
        { "push", "on" },
        { "pull", "off" },
        { "pull", "on" },
    };

    [Theory]
    [MemberData(nameof(Ways))]
    public async Task Every_payload_comes_back_as_it_was_sent(string mode, string inlineCompletions)
    {
        (ChildProcess server, IPEndPoint endPoint) =
            await Echo.ListenAsync("--mode", mode, "--inline-completions", inlineCompletions, "--quiet");
        await using ChildProcess _ = server;
        using WireClient client = await WireClient.ConnectAsync(endPoint);

        // 00 and 01 are events in the native shape of the API; on the wire they are payloads like any other.
        byte[][] payloads = [[0x00], [0x01], [], [0xFF], Noise(1), Noise(127), Noise(4096), Noise(65_536), Noise(1 << 20), [], [0x00]];
        foreach (byte[] payload in payloads)
        {
            await client.SendAsync(payload);
            Assert.Equal(payload, await client.ReceiveAsync());
        }
    }

    [Theory]
    [InlineData("push")]
    [InlineData("pull")]
    public async Task Messages_sent_without_waiting_come_back_in_order(string mode)
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--mode", mode, "--quiet");
        await using ChildProcess _ = server;
        using WireClient client = await WireClient.ConnectAsync(endPoint);
        byte[][] payloads = [.. Enumerable.Range(0, 2_000).Select(i => Noise(i % 700, seed: i))];

        // In pieces of 1,009 bytes, a prime: cuts fall everywhere in lengths and payloads.
        byte[] wire = [.. payloads.SelectMany(WireClient.Frame)];
        Task sending = SendInPiecesAsync(client, wire, 1009);

        foreach (byte[] payload in payloads)
        {
            Assert.Equal(payload, await client.ReceiveAsync());
        }

        await sending;
    }

    [Theory]
    [InlineData("push")]
    [InlineData("pull")]
    public async Task Each_connection_gets_its_own_replies(string mode)
    {
        (ChildProcess server, IPEndPoint endPoint) =
            await Echo.ListenAsync("--mode", mode, "--shards", "3", "--pool", "server", "--quiet");
        await using ChildProcess _ = server;

        await Task.WhenAll(Enumerable.Range(0, 20).Select(async number =>
        {
            using WireClient client = await WireClient.ConnectAsync(endPoint);
            for (int i = 0; i < 100; i++)
            {
                byte[] payload = Noise(100, seed: (number * 1000) + i);
                await client.SendAsync(payload);
                Assert.Equal(payload, await client.ReceiveAsync());
            }
        }));
    }

    [Fact]
    public async Task A_connection_that_announces_too_long_a_message_is_closed_and_the_others_go_on()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--max-message-size", "10", "--quiet");
        await using ChildProcess _ = server;
        using WireClient good = await WireClient.ConnectAsync(endPoint);
        using WireClient bad = await WireClient.ConnectAsync(endPoint);

        await bad.SendRawAsync(new byte[] { 0, 0, 0, 11 });
        Assert.True(await bad.IsClosedAsync());

        await good.SendAsync(new byte[10]);
        Assert.Equal(new byte[10], await good.ReceiveAsync());
    }

    [Fact]
    public async Task A_connection_over_the_cap_is_refused_and_the_operator_is_told()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--max-connections", "1", "--quiet");
        await using ChildProcess _ = server;
        using WireClient first = await WireClient.ConnectAsync(endPoint);
        await first.SendAsync([7]);
        Assert.Equal([7], await first.ReceiveAsync());

        using WireClient second = await WireClient.ConnectAsync(endPoint);
        Assert.True(await second.IsClosedAsync());
        await first.SendAsync([8]);
        Assert.Equal([8], await first.ReceiveAsync());

        first.Dispose(); // else the server would give it 5 s to take its leave
        await server.SignalAsync("TERM");
        ProgramEnd exit = await server.EndAsync();
        Assert.Contains("1 served, 1 refused", exit.Output, StringComparison.Ordinal);
        string notice = Assert.Single(exit.Errors.Split('\n', StringSplitOptions.RemoveEmptyEntries));
        Assert.Contains("refused a connection from tcp://127.0.0.1:", notice, StringComparison.Ordinal);
        Assert.Contains("--max-connections", notice, StringComparison.Ordinal);
    }

    private static byte[] Noise(int length, int seed = 1)
    {
        byte[] bytes = new byte[length];
        new Random(seed).NextBytes(bytes);
        return bytes;
    }

    private static async Task SendInPiecesAsync(WireClient client, ReadOnlyMemory<byte> bytes, int piece)
    {
        for (int at = 0; at < bytes.Length; at += piece)
        {
            await client.SendRawAsync(bytes.Slice(at, Math.Min(piece, bytes.Length - at)));
        }
    }
}
