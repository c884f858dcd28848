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

    [Fact]
    public async Task Eight_peers_that_flood_PONGs_do_not_stop_the_round_trips_of_a_tcp_peer()
    {
        const int Attackers = 8;
        const int Echoes = 30; // With all pool threads held, each took seconds.
        await using var fixture = new StreamFixture();
        string endpoint = fixture.Context.CreateStream().Bind("ws://127.0.0.1:0", new EchoHandler());
        string plain = fixture.Context.CreateStream().Bind("tcp://127.0.0.1:0", new EchoHandler());
        byte[] flood = [.. Enumerable.Repeat(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Pong, []), 20_000)
            .SelectMany(static one => one)];
        var threads = new TestThreads();
        var hostile = new List<RawWebSocket>();
        using var flooded = new CountdownEvent(Attackers);
        for (int i = 0; i < Attackers; i++)
        {
            RawWebSocket one = fixture.Own(await RawWebSocket.ConnectAsync(endpoint));
            one.Peer.Socket.Blocking = true;
            hostile.Add(one);
            threads.Start(() => Flood(one.Peer.Socket, flood, flooded));
        }

        RawPeer good = await fixture.ConnectAsync(plain);
        Assert.True(await Task.Factory.StartNew(
            () => flooded.Wait(Guard.Limit), Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default).Guarded());
        await EchoAsync(good, Echoes).Guarded();
        hostile.ForEach(static one => one.Peer.Socket.Close());
        await threads.JoinAsync(() => 0);
    }

    private static void Flood(Socket socket, byte[] flood, CountdownEvent flooded)
    {
        try
        {
            socket.Send(flood);
            flooded.Signal();
            while (true)
            {
                socket.Send(flood);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // Closed by the test.
        }
    }

    private static async Task EchoAsync(RawPeer peer, int count)
    {
        byte[] message = Wire.Frame([1, 2, 3]);
        for (int i = 0; i < count; i++)
        {
            await peer.SendAsync(message);
            Assert.Equal(message, await peer.ReadAsync(message.Length));
        }
    }

    private sealed class EchoHandler : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            peer.SendMany(frames);
            return ValueTask.CompletedTask;
        }
    }
}
