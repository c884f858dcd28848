using System.Buffers;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Peers that were disconnected, and talk on, or do not read what still waits for them.</summary>
public sealed class OnlyTalkingPeerTests
{
    private const int KernelBuffer = 16 * 1024;
    private const int MaxDiscarded = 16 * 1024 * 1024;

    // What the two ends of a connection on one machine hold, at most, of what is not read.
    private const int Kernel = 12 * 1024 * 1024;

    [Fact]
    public async Task A_disconnected_peer_that_sends_without_reading_is_read_at_16_MiB_a_second_and_gets_the_lingering_data_when_it_reads()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        for (int i = 0; i < 4; i++)
        {
            Assert.True(socket.To(id).TrySend(Wire.Huge));
        }

        Assert.True(socket.Disconnect(id));
        var talk = new Talk();
        Task talking = talk.ToTheEndAsync(peer);
        await AssertReadSlowlyAsync(fixture, time, talk);
        for (int i = 0; i < 4; i++)
        {
            Wire.AssertSame(Wire.Huge, (await peer.ReadFrameAsync())!);
        }

        await EndAsync(fixture, time, socket, peer, talking);
    }

    [Fact]
    public async Task A_disconnected_peer_that_reads_while_it_sends_gets_all_lingering_data()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        const int Messages = 200;
        for (int i = 0; i < Messages; i++)
        {
            Assert.True(socket.To(id).TrySend(Wire.Huge));
        }

        Assert.True(socket.Disconnect(id));
        Task talking = new Talk().ToTheEndAsync(peer);
        for (int i = 0; i < Messages; i++)
        {
            Wire.AssertSame(Wire.Huge, (await peer.ReadFrameAsync())!);
        }

        peer.Dispose();
        await talking;
    }

    [Fact]
    public async Task An_aborted_one_is_gone_at_once_with_what_waits_for_it()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer, MaxConnections = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.To(id).TrySend(Wire.Huge));
        Assert.True(socket.To(id).TrySend(Wire.Huge));
        Assert.True(socket.Disconnect(id, abort: true));
        Assert.False(socket.Disconnect(id, abort: true));
        await fixture.UntilAsync(() => socket.GetStatistics() is { ClosedConnections: 1, DroppedMessages: 2 });
        await socket.NextDisconnectedAsync();
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
    }

    [Fact]
    public async Task A_pipe_that_its_handler_has_disposed_is_read_no_faster_either()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { SendBufferSize = KernelBuffer });
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            pipe.Output.Write(Wire.Huge);
            _ = pipe.Output.FlushAsync(Guard.Token).AsTask(); // Waits for room that does not come.
            await pipe.DisposeAsync();
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        var talk = new Talk();
        Task talking = talk.ToTheEndAsync(peer);
        await AssertReadSlowlyAsync(fixture, time, talk);
        Wire.AssertSame(Wire.Huge, await peer.ReadAsync(Wire.HugeSize));
        await EndAsync(fixture, time, socket, peer, talking);
    }

    [Fact]
    public async Task A_pipe_whose_peer_is_silent_and_does_not_read_ends_behind_its_IdleTimeout()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(
            new StreamOptions
            {
                SendBufferSize = KernelBuffer,
                IdleTimeout = TimeSpan.FromMilliseconds(50),
                CloseTimeout = TimeSpan.FromMilliseconds(50)
            });
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            pipe.Output.Write(Wire.Huge);
            await pipe.Output.FlushAsync(Guard.Token);
            await pipe.Input.ReadAsync(Guard.Token);
        });
        await fixture.ConnectAsync(endpoint, KernelBuffer);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    /// <summary>The peer goes. That is seen when it is read again, or behind our end when the close timeout is over.</summary>
    private static async Task EndAsync(StreamFixture fixture, ManualTimeProvider time, StreamSocket socket, RawPeer peer, Task talking)
    {
        peer.Dispose();
        await talking;
        await fixture.UntilAsync(() =>
        {
            time.Advance(TimeSpan.FromSeconds(1));
            return socket.GetStatistics().ClosedConnections == 1;
        });
    }

    /// <summary>The clock goes on by a second whenever nothing more is read, and each second lets no more be sent than is read in
    /// one.</summary>
    private static async Task AssertReadSlowlyAsync(StreamFixture fixture, ManualTimeProvider time, Talk talk)
    {
        int seconds = 0;
        int looks = 0;
        long seen = 0;
        await fixture.UntilAsync(() =>
        {
            looks = talk.Sent == seen ? looks + 1 : 0;
            seen = talk.Sent;
            if (looks == 200)
            {
                looks = 0;
                seconds++;
                time.Advance(TimeSpan.FromSeconds(1));
            }

            return seen > 4 * MaxDiscarded;
        });
        Assert.InRange(talk.Sent, 4 * MaxDiscarded, ((seconds + 1) * (MaxDiscarded + (1024 * 1024))) + Kernel);
    }

    /// <summary>Sends until the other end has gone.</summary>
    private sealed class Talk
    {
        private long _sent;

        public long Sent => Volatile.Read(ref _sent);

        public async Task ToTheEndAsync(RawPeer peer)
        {
            byte[] talk = Wire.Frames(Enumerable.Repeat(new byte[64 * 1024], 4));
            try
            {
                while (true)
                {
                    await peer.SendAsync(talk);
                    Interlocked.Add(ref _sent, talk.Length);
                }
            }
            catch (Exception e) when (e is SocketException or ObjectDisposedException)
            {
                // There it is.
            }
        }
    }
}
