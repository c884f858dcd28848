using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class ShutdownTests
{
    [Fact]
    public async Task Shutdown_delivers_what_was_accepted_and_reports_that_it_did()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var reading = new List<Task<byte[]>>();
        byte[] payload = Wire.Pattern(1_000_000);
        for (int i = 0; i < 5; i++)
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
            uint id = await socket.NextConnectedAsync();
            socket.To(id).Send(payload);
            reading.Add(ReadAndCloseAsync(peer));
        }

        ShutdownReport report = await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        Assert.True(report.Drained);
        Assert.Equal((0L, 0L), (report.UndeliveredMessages, report.UndeliveredBytes));
        Assert.Empty(report.Peers);
        Assert.InRange(report.Elapsed, TimeSpan.Zero, Guard.Limit);
        Assert.All(await Task.WhenAll(reading), bytes => Wire.AssertSame(Wire.Frame(payload), bytes));
    }

    [Fact]
    public async Task At_the_deadline_shutdown_drops_what_is_left_and_names_the_peers()
    {
        var time = new ManualTimeProvider();
        var log = new RecordingLoggers();
        await using var fixture = new StreamFixture(time: time, log: log);
        var options = new StreamOptions { SendHighWaterMark = 4, SendBufferSize = 16 * 1024 };
        StreamSocket socket = fixture.Bind(out string endpoint, options);
        RawPeer stuck = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint stuckId = await socket.NextConnectedAsync();
        RawPeer good = await fixture.ConnectAsync(endpoint);
        uint goodId = await socket.NextConnectedAsync();
        socket.Fill(stuckId);
        socket.To(goodId).Send([1, 2, 3]);

        Task<ShutdownReport> shutdown = fixture.Context.ShutdownAsync(TimeSpan.FromSeconds(10), Guard.Token);
        Assert.Equal(Wire.Frame([1, 2, 3]), await good.ReadToEndAsync());
        good.Dispose();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1 && time.ArmedTimers > 0);
        time.Advance(TimeSpan.FromSeconds(9.9));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.False(shutdown.IsCompleted);
        time.Advance(TimeSpan.FromSeconds(0.2));
        ShutdownReport report = await shutdown.Guarded();

        Assert.False(report.Drained);
        Assert.Equal((4L, 4 * (Wire.HugeSize + 4L)), (report.UndeliveredMessages, report.UndeliveredBytes));
        UndeliveredPeer peer = Assert.Single(report.Peers);
        Assert.Equal((stuckId, endpoint, stuck.LocalAddress, 4, 4 * (Wire.HugeSize + 4)),
            (peer.PeerId, peer.Endpoint, peer.RemoteAddress, peer.Messages, peer.Bytes));
        Assert.Equal($"Peer {stuckId} of {endpoint}: 4 accepted messages ({4 * (Wire.HugeSize + 4)} bytes) were not delivered",
            Assert.Single(log.TextsOf(7)));
        Assert.Same(report, await fixture.Context.ShutdownAsync(TimeSpan.FromHours(1), Guard.Token).Guarded());
    }

    [Fact]
    public async Task A_shutdown_whose_wait_is_cancelled_goes_on()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        using var cancellation = new CancellationTokenSource();
        Task<ShutdownReport> cancelled = fixture.Context.ShutdownAsync(Guard.Limit, cancellation.Token);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.Guarded());
        Assert.Empty(await peer.ReadToEndAsync());
        peer.Dispose();
        Assert.True((await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded()).Drained);
    }

    [Fact]
    public async Task Linger_bounds_how_long_a_disposed_socket_goes_on_delivering()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(shards: 1, time: time);
        var options = new StreamOptions { SendHighWaterMark = 4, SendBufferSize = 16 * 1024, Linger = TimeSpan.FromSeconds(3) };
        StreamSocket socket = fixture.Bind(out string endpoint, options);
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        socket.Fill(id);
        socket.Dispose();
        await fixture.Context.WhenIdleAsync().Guarded();
        time.Advance(TimeSpan.FromSeconds(2.9));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal((0L, 0L), (socket.GetStatistics().ClosedConnections, socket.GetStatistics().DroppedMessages));
        time.Advance(TimeSpan.FromSeconds(0.1));
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal((0L, 3L), (socket.GetStatistics().ClosedConnections, socket.GetStatistics().DroppedMessages));

        // The message that has begun to leave, and the end, have the close timeout.
        time.Advance(options.CloseTimeout);
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal((1L, 4L), (socket.GetStatistics().ClosedConnections, socket.GetStatistics().DroppedMessages));
        await peer.ReadToAnyEndAsync();
    }

    [Fact]
    public async Task A_Linger_of_zero_drops_what_is_not_written_yet()
    {
        await using var fixture = new StreamFixture();
        var options = new StreamOptions { SendHighWaterMark = 4, SendBufferSize = 16 * 1024, Linger = TimeSpan.Zero };
        StreamSocket socket = fixture.Bind(out string endpoint, options);
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        socket.Fill(id);
        socket.Dispose();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        Assert.Equal(4, socket.GetStatistics().DroppedMessages);
        await peer.ReadToAnyEndAsync();
    }

    [Fact]
    public async Task Disposing_the_context_ends_every_socket_and_says_so()
    {
        await using var fixture = new StreamFixture();
        TestHandler handler = TestHandler.Echo();
        StreamSocket first = fixture.Bind(handler, out string endpoint);
        StreamSocket second = fixture.Bind(out string other);
        using EventReader monitor = first.ReadEvents();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await handler.NextConnectedAsync();
        RawPeer peer2 = await fixture.ConnectAsync(other);
        await second.NextConnectedAsync();
        Task disposing = Task.Run(fixture.Context.Dispose, Guard.Token);
        Assert.Empty(await peer.ReadToEndAsync());
        Assert.Empty(await peer2.ReadToEndAsync());
        peer.Dispose();
        peer2.Dispose();
        await disposing.Guarded();
        Assert.Equal(DisconnectReason.ContextTerminated, (await handler.NextDisconnectedAsync()).Reason);
        await monitor.NextAsync(SocketEventTypes.MonitorStopped);
        Assert.Equal((0, 0), (first.PeerCount, second.PeerCount));
        await Assert.ThrowsAsync<System.Net.Sockets.SocketException>(() => RawPeer.ConnectAsync(endpoint));
    }

    private static async Task<byte[]> ReadAndCloseAsync(RawPeer peer)
    {
        byte[] bytes = await peer.ReadToEndAsync(chunk: 8 * 1024);
        peer.Dispose();
        return bytes;
    }
}
