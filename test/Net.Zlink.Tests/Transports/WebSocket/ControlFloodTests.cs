using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A peer that sends nothing but frames that mean nothing, as fast as it can.</summary>
public sealed class ControlFloodTests
{
    [Theory]
    [InlineData(RawWebSocket.Fin | RawWebSocket.Ping, false)]
    [InlineData(RawWebSocket.Fin | RawWebSocket.Pong, false)]
    [InlineData(RawWebSocket.Fin | RawWebSocket.Binary, false)]
    [InlineData(RawWebSocket.Fin | RawWebSocket.Binary, true)]
    public async Task Leaves_the_other_peers_of_its_shard_alone(int frame, bool closesFirst)
    {
        const int Echoes = 20;
        await using var fixture = new StreamFixture(shards: 1, furtherShards: 0);
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { CloseTimeout = TimeSpan.FromHours(1) });
        string endpoint = socket.Bind("ws://127.0.0.1:0", new EchoHandler());
        byte[] message = Wire.Frame([1, 2, 3]);
        using LayeredClient good = await LayeredClient.ConnectAsync(endpoint);
        using RawWebSocket hostile = await RawWebSocket.ConnectAsync(endpoint);
        Socket raw = hostile.Peer.Socket;
        raw.Blocking = true;
        byte[] flood = [.. Enumerable.Repeat(RawWebSocket.Frame(frame, []), 20_000).SelectMany(static one => one)];
        var flooded = new TaskCompletionSource();
        var ended = new TaskCompletionSource();
        var threads = new TestThreads();
        threads.Start(() =>
        {
            // What is read behind a message is read by the shard.
            try
            {
                raw.Send([.. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, message), .. closesFirst
                    ? RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Close, [3, 232]) : [], .. flood]);
                while (true)
                {
                    raw.Send(flood);
                    flooded.TrySetResult();
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // Closed by the test, or had enough of.
                flooded.TrySetResult();
                ended.TrySetResult();
            }
        });
        threads.Start(() =>
        {
            byte[] answers = new byte[65536];
            try
            {
                while (raw.Receive(answers) > 0)
                {
                    // Nobody looks at them.
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // Closed by the test.
            }
        });
        await flooded.Task.Guarded();
        for (int i = 0; i < Echoes; i++)
        {
            await good.SendAsync(message);
            Assert.Equal(message, await good.ReadAsync(message.Length).Guarded());
        }

        if (closesFirst)
        {
            await ended.Task.Guarded(); // Nobody listens to a peer that has closed and sends on for as long as it likes.
        }

        raw.Close();
        await threads.JoinAsync(() => 0);
    }

    private sealed class EchoHandler : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            peer.SendMany(frames, out _);
            return ValueTask.CompletedTask;
        }
    }
}
