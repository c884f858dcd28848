using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Deadlines per peer, on a clock that only the test moves.</summary>
public sealed class TimeoutTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Nearly = TimeSpan.FromSeconds(9);
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public async Task A_peer_that_sends_nothing_for_IdleTimeout_is_ended()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit });
        using SocketMonitor monitor = socket.OpenMonitor();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0);
        for (byte i = 0; i < 3; i++)
        {
            await AdvanceAsync(fixture, Nearly);
            await peer.SendFrameAsync(i); // starts the time anew
            Assert.Equal([i], await socket.NextDataAsync(id));
        }

        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit - Nearly);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((id, 4L), (ended.PeerId, ended.Value));
    }

    [Fact]
    public async Task Without_timeouts_a_silent_peer_stays_for_ever_and_no_timer_runs()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        Assert.Equal([1], (await peer.ReadFrameAsync())!);
        await AdvanceAsync(fixture, TimeSpan.FromDays(30));
        Assert.Equal(0, _time.ArmedTimers);
        await peer.SendFrameAsync(2);
        Assert.Equal([2], (await peer.ReadFrameAsync())!);
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_peer_that_we_do_not_read_is_not_counted_as_silent()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit, ReceiveHighWaterMark = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
        await fixture.UntilAsync(() => view.GetStatistics().IsParked);
        for (int i = 0; i < 5; i++)
        {
            await AdvanceAsync(fixture, Limit);
        }

        Assert.Equal([1], await socket.NextDataAsync(id));
        await fixture.UntilAsync(() => !view.GetStatistics().IsParked);
        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
    }

    [Fact]
    public async Task A_handler_that_is_busy_does_not_make_its_peer_silent()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler { Received = (_, _) => new ValueTask(release.Task) };
        StreamSocket socket = fixture.Bind(handler, out string endpoint, new StreamOptions { IdleTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        StreamPeer view = await handler.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        await fixture.UntilAsync(() => view.GetStatistics().IsParked);
        await AdvanceAsync(fixture, Limit * 3);
        Assert.Equal(1, socket.PeerCount);
        release.SetResult();
        await fixture.UntilAsync(() => !view.GetStatistics().IsParked);
        await AdvanceAsync(fixture, Limit * 2);
        Assert.Equal(DisconnectReason.IdleTimeout, (await handler.NextDisconnectedAsync()).Reason);
    }

    [Fact]
    public async Task A_peer_that_takes_nothing_for_WriteTimeout_is_cut_off_and_its_messages_counted()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { WriteTimeout = Limit, SendHighWaterMark = 5, SendBufferSize = 16 * 1024 });
        using SocketMonitor monitor = socket.OpenMonitor();
        await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        await AdvanceAsync(fixture, Limit * 2); // nothing waits to be written: no deadline
        int accepted = socket.Fill(id);
        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit);
        Assert.Equal((id, DisconnectReason.WriteTimeout), await socket.NextDisconnectedAsync());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((id, 4L), (ended.PeerId, ended.Value));
        SocketEvent dropped = await monitor.NextAsync(SocketEventTypes.MessagesDropped);
        Assert.Equal((id, 5L), (dropped.PeerId, dropped.Value));
        StreamStatistics books = socket.GetStatistics();
        Assert.Equal((accepted, 5), (books.SentMessages, books.DroppedMessages));
    }

    [Fact]
    public async Task A_slow_but_reading_peer_outlives_WriteTimeout()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { WriteTimeout = Limit, SendBufferSize = 16 * 1024 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(4_000_000);
        socket.Send(id, payload);
        byte[] frame = Wire.Frame(payload);
        byte[] read = [];
        while (read.Length < frame.Length)
        {
            // More than one pending send's worth (256 KiB), so that there is progress in every span.
            read = [.. read, .. await peer.ReadAsync(Math.Min(800_000, frame.Length - read.Length))];
            await AdvanceAsync(fixture, Nearly);
            Assert.Equal(1, socket.PeerCount);
        }

        Wire.AssertSame(frame, read);
    }

    private async Task AdvanceAsync(StreamFixture fixture, TimeSpan by)
    {
        await fixture.Context.WhenIdleAsync().Guarded();
        _time.Advance(by);
        await fixture.Context.WhenIdleAsync().Guarded();
    }
}
