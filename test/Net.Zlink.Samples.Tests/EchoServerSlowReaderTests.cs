using System.Net;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Samples;
using Xunit;

namespace Net.Zlink.Samples.Tests;

public class EchoServerSlowReaderTests
{
    /// <summary>Together 96 MB: more than the 64 MiB that the server queues for one peer and what the sockets hold.</summary>
    private const int Messages = 1_500;

    /// <summary>Together 384 MB: in pull mode what the server has received and not yet looked at comes on top.</summary>
    private const int TooManyMessages = 6_000;

    private const int MessageSize = 64_000;

    [Fact]
    public async Task In_push_mode_a_peer_that_does_not_read_is_waited_for_alone_and_loses_nothing()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--shards", "1", "--quiet");
        await using ChildProcess _ = server;
        using WireClient slow = await WireClient.ConnectAsync(endPoint);
        using WireClient other = await WireClient.ConnectAsync(endPoint);
        var queueIsFilling = new TaskCompletionSource();

        Task sending = FloodAsync(slow, Messages, queueIsFilling);
        await queueIsFilling.Task.WaitAsync(TimeSpan.FromSeconds(60), TestContext.Current.CancellationToken);
        await ExchangeAsync(other);

        for (int i = 0; i < Messages; i++)
        {
            Assert.Equal(Message(i), await slow.ReceiveAsync());
        }

        await sending;
    }

    [Fact]
    public async Task In_pull_mode_a_peer_that_does_not_read_is_cut_off_and_the_others_go_on()
    {
        (ChildProcess server, IPEndPoint endPoint) = await Echo.ListenAsync("--mode", "pull", "--quiet");
        await using ChildProcess _ = server;
        using WireClient slow = await WireClient.ConnectAsync(endPoint);
        using WireClient other = await WireClient.ConnectAsync(endPoint);

        await Assert.ThrowsAsync<SocketException>(() => FloodAsync(slow, TooManyMessages, new TaskCompletionSource()));
        await ExchangeAsync(other);

        other.Dispose(); // else the server would give it 5 s to take its leave
        await server.SignalAsync("TERM");
        Assert.Contains("1 cut off for not reading", (await server.EndAsync()).Output, StringComparison.Ordinal);
    }

    private static byte[] Message(int number)
    {
        byte[] message = new byte[MessageSize];
        message.AsSpan().Fill((byte)number);
        return message;
    }

    /// <summary>Sends without reading; tells when two thirds are sent, about what the server takes before it stops reading.</summary>
    private static async Task FloodAsync(WireClient client, int messages, TaskCompletionSource twoThirdsSent)
    {
        for (int i = 0; i < messages; i++)
        {
            await client.SendAsync(Message(i));
            if (i == messages * 2 / 3)
            {
                twoThirdsSent.SetResult();
            }
        }
    }

    private static async Task ExchangeAsync(WireClient client)
    {
        for (int i = 0; i < 100; i++)
        {
            byte[] message = [(byte)i];
            await client.SendAsync(message);
            Assert.Equal(message, await client.ReceiveAsync());
        }
    }
}
