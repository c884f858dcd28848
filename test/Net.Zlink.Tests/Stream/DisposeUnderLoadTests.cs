using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A socket that is disposed in the middle of everything: no buffer is lost, nobody hangs, and nobody sees another error than
/// those promised.</summary>
public sealed class DisposeUnderLoadTests
{
    private const int Peers = 8;
    private static readonly int Rounds = SlowTests.Rounds(3, all: 8);

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Receivers_and_senders_at_work_survive_a_dispose_and_lose_no_buffer(bool context)
    {
        for (int round = 0; round < Rounds; round++)
        {
            await using var fixture = new StreamFixture();
            StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendHighWaterMark = 50, Linger = TimeSpan.Zero });
            var peers = new RawPeer[Peers];
            for (int i = 0; i < Peers; i++)
            {
                peers[i] = await fixture.ConnectAsync(endpoint);
                await socket.NextConnectedAsync();
            }

            using var started = new CountdownEvent(4);
            Task[] flooding = [.. peers.Select(FloodAsync)];
            Task[] working =
            [
                OnThread(() => ReceiveMany(socket, started)),
                OnThread(() => ReceiveOne(socket, started)),
                OnThread(() => Send(socket, started)),
                Task.Run(() => SendAsync(socket, started), Guard.Token),
            ];
            await OnThread(() => Assert.True(started.Wait(Guard.Limit, Guard.Token))).Guarded();
            if (context)
            {
                // Nobody reads our sends: what is queued is dropped at the deadline.
                await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
            }
            else
            {
                socket.Dispose();
            }

            await Task.WhenAll(working).Guarded();
            foreach (RawPeer peer in peers)
            {
                peer.Reset();
            }

            await Task.WhenAll(flooding).Guarded();
            await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == Peers);
            SocketStatistics counters = socket.GetStatistics();
            Assert.Equal(counters.AcceptedMessages, counters.WrittenMessages + counters.DroppedMessages);
        }
    }

    [Fact]
    public async Task Binding_while_the_socket_is_disposed_either_works_or_throws()
    {
        for (int round = 0; round < 100; round++)
        {
            await using var fixture = new StreamFixture(shards: 1);
            StreamSocket socket = fixture.Context.CreateStream();
            Task disposing = Task.Run(socket.Dispose, Guard.Token);
            try
            {
                Assert.StartsWith("tcp://127.0.0.1:", socket.Bind("tcp://127.0.0.1:0"), StringComparison.Ordinal);
            }
            catch (ObjectDisposedException)
            {
                // Disposed first.
            }

            await disposing.Guarded();
        }
    }

    private static Task OnThread(Action action) =>
        Task.Factory.StartNew(action, Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default);

    private static async Task FloodAsync(RawPeer peer)
    {
        byte[] frames = Wire.Frames(Enumerable.Repeat(Wire.Pattern(100), 20));
        try
        {
            while (true)
            {
                await peer.SendAsync(frames);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The end that the test is about.
        }
    }

    private static void ReceiveMany(StreamSocket socket, CountdownEvent started)
    {
        var capacity = new StreamMessage[64];
        bool first = true;
        UntilClosed(() =>
        {
            int count = socket.ReceiveMany(capacity);
            foreach (StreamMessage message in capacity.AsSpan(0, count))
            {
                message.Dispose();
            }

            first = Signal(first && count > 0, first, started);
        });
    }

    private static void ReceiveOne(StreamSocket socket, CountdownEvent started)
    {
        bool first = true;
        UntilClosed(() =>
        {
            socket.Receive(Guard.Limit).Dispose();
            first = Signal(first, first, started);
        });
    }

    private static void Send(StreamSocket socket, CountdownEvent started)
    {
        bool first = true;
        uint next = 0;
        UntilClosed(() =>
        {
            socket.To(1 + (next++ % Peers)).Send(new byte[next % 2 == 0 ? 30_000 : 10], Guard.Limit);
            first = Signal(first, first, started);
        });
    }

    private static async Task SendAsync(StreamSocket socket, CountdownEvent started)
    {
        bool first = true;
        try
        {
            for (uint next = 0; ; next++)
            {
                await socket.To(1 + (next % Peers)).SendAsync(new byte[next % 2 == 0 ? 30_000 : 10], Guard.Token);
                first = Signal(first, first, started);
            }
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.HostUnreachable)
        {
            // Its peer was closed.
        }
    }

    private static bool Signal(bool now, bool first, CountdownEvent started)
    {
        if (now)
        {
            started.Signal();
            return false;
        }

        return first;
    }

    private static void UntilClosed(Action action)
    {
        try
        {
            while (true)
            {
                action();
            }
        }
        catch (ObjectDisposedException)
        {
            // Closed.
        }
        catch (ZlinkException e) when (e.Error is ZlinkError.ContextTerminated or ZlinkError.HostUnreachable)
        {
            // Closed.
        }
    }
}
