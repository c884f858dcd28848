using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>What Send accepted arrives, whoever ends the connection on our side, and the end is an orderly one.</summary>
public sealed class OrderlyCloseTests
{
    private const int Megabyte = 1024 * 1024;

    [Theory]
    [InlineData(1)]
    [InlineData(64 * 1024)]
    [InlineData(Megabyte)]
    public async Task A_message_accepted_before_Dispose_arrives_whole(int size)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(size);

        socket.To(id).Send(payload);
        socket.Dispose();

        Wire.AssertSame(Wire.Frame(payload), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Twenty_megabytes_accepted_before_Dispose_reach_a_slow_reader_whole()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint, receiveBuffer: 64 * 1024);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(Megabyte);

        for (int i = 0; i < 20; i++)
        {
            socket.To(id).Send(payload);
        }

        socket.Dispose();
        List<byte[]> read = Wire.Split(await peer.ReadToEndAsync(chunk: 8 * 1024));
        Assert.Equal(20, read.Count);
        Assert.All(read, one => Wire.AssertSame(payload, one));
    }

    [Theory]
    [InlineData("dispose socket")]
    [InlineData("dispose context")]
    [InlineData("disconnect")]
    [InlineData("peer disconnect")]
    [InlineData("unbind")]
    public async Task Unread_input_does_not_turn_the_end_into_a_reset(string how)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { ReceiveHighWaterMark = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(Megabyte);

        // More than one read: we stop reading at the mark, so that input waits in the kernel when we close.
        Task sending = peer.SendAsync(Wire.Frames(Enumerable.Repeat(new byte[1000], 500)));
        await fixture.UntilAsync(() => socket.TryGetPeer(id, out StreamPeer? view) && view.GetStatistics().IsPaused);
        socket.To(id).Send(payload);
        Task disposal = Task.CompletedTask;
        switch (how)
        {
            case "dispose socket":
                socket.Dispose();
                break;
            case "dispose context":
                disposal = fixture.Context.DisposeAsync().AsTask();
                break;
            case "disconnect":
                Assert.True(socket.Disconnect(id));
                break;
            case "peer disconnect":
                Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
                view.Disconnect();
                break;
            default:
                socket.Unbind(endpoint);
                break;
        }

        Wire.AssertSame(Wire.Frame(payload), await peer.ReadToEndAsync());
        await sending;
        peer.Dispose();
        await disposal.Guarded();
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_reads_nothing_before_it_has_written_all_gets_what_was_accepted_too(bool disconnects)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { ReceiveHighWaterMark = 1, SendHighWaterMark = null, Linger = Timeout.InfiniteTimeSpan });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        // Each way more than the system holds between two sockets, and to us less than is thrown away before a pause.
        byte[] payload = Wire.Pattern(20 * Megabyte);
        Task sending = peer.SendAsync(Wire.Frames(Enumerable.Repeat(new byte[1000], 15_000)));
        await fixture.UntilAsync(() => socket.TryGetPeer(id, out StreamPeer? view) && view.GetStatistics().IsPaused);
        socket.To(id).Send(payload);
        if (disconnects)
        {
            Assert.True(socket.Disconnect(id));
        }
        else
        {
            socket.Dispose();
        }

        await sending.Guarded();
        Wire.AssertSame(Wire.Frame(payload), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Accepted_messages_reach_a_peer_that_has_ended_its_own_side()
    {
        await using var fixture = new StreamFixture();
        var handler = new TestHandler
        {
            Received = static (peer, _) =>
            {
                Assert.True(peer.TrySend(Wire.Pattern(Megabyte)));
                return ValueTask.CompletedTask;
            },
        };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        peer.EndSending();
        Wire.AssertSame(Wire.Frame(Wire.Pattern(Megabyte)), await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Abort_resets_and_counts_what_it_dropped()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = 16 * 1024 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        socket.To(id).Send(new byte[10 * Megabyte]);
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));

        view.Disconnect(abort: true);
        view.Disconnect(abort: true);

        await peer.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        SocketStatistics counters = socket.GetStatistics();
        Assert.Equal(1, counters.DroppedMessages);
        Assert.Equal(0, counters.WrittenMessages);
    }

    [Fact]
    public async Task A_peer_that_never_ends_its_side_is_closed_after_CloseTimeout()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(shards: 1, time: time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { CloseTimeout = TimeSpan.FromSeconds(7) });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.Disconnect(id));
        Assert.Empty(await peer.ReadToEndAsync());
        await fixture.UntilAsync(() => time.ArmedTimers > 0);

        time.Advance(TimeSpan.FromSeconds(6.9));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(0, socket.GetStatistics().ClosedConnections);

        time.Advance(TimeSpan.FromSeconds(0.1));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(1, socket.GetStatistics().ClosedConnections);
    }

    [Fact]
    public async Task A_dispose_does_not_lengthen_a_close_that_is_under_way()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(shards: 1, time: time);
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { CloseTimeout = TimeSpan.FromSeconds(7), Linger = Timeout.InfiniteTimeSpan });
        RawPeer peer = await fixture.ConnectAsync(endpoint, receiveBuffer: 4096);
        uint id = await socket.NextConnectedAsync();
        byte[] much = new byte[1 << 20];
        while (socket.To(id).TrySend(much))
        {
        }

        peer.EndSending(); // And reads nothing: what was accepted has the close timeout to leave.
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        socket.Dispose();
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.False(socket.Hub.Parts.AllClosed.IsCompleted);

        time.Advance(TimeSpan.FromSeconds(7));

        await socket.Hub.Parts.AllClosed.Guarded();
    }
}
