using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class ConnectTests
{
    [Fact]
    public async Task ConnectAsync_returns_the_peers_id_and_announces_it_to_the_receive_queue()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        for (uint expected = 1; expected <= 3; expected++)
        {
            Assert.Equal(expected, await client.ConnectAsync(endpoint, Guard.Token).Guarded());
            Assert.Equal(expected, await client.NextConnectedAsync());
            Assert.Equal(expected, await server.NextConnectedAsync());
        }

        Assert.Equal(endpoint, client.LastEndpoint);
        Assert.Equal(3, client.GetStatistics().DialledConnections);
        client.To(2).Send([1, 2]);
        Assert.Equal([1, 2], await server.NextDataAsync(2));
        server.To(3).Send([3, 4]);
        Assert.Equal([3, 4], await client.NextDataAsync(3));
    }

    [Fact]
    public async Task A_connection_with_a_handler_is_pushed_and_not_pulled()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        TestHandler handler = TestHandler.Echo();
        uint id = await client.ConnectAsync(endpoint, new StreamConnectOptions { Handler = handler }, Guard.Token).Guarded();
        Assert.Equal(id, (await handler.NextConnectedAsync()).Id);
        Assert.Equal(1u, await server.NextConnectedAsync());
        server.To(1).Send([5]);
        Assert.Equal([5], await server.NextDataAsync(1));
        Assert.False(client.TryReceive(out _));
        Assert.True(server.Disconnect(1));
        Assert.Equal(DisconnectReason.Remote, (await handler.NextDisconnectedAsync()).Reason);
    }

    [Fact]
    public async Task A_STREAM_socket_binds_and_connects_at_the_same_time()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        uint outgoing = await socket.ConnectAsync(endpoint, Guard.Token).Guarded();
        uint[] ids = [await socket.NextConnectedAsync(), await socket.NextConnectedAsync()];
        uint incoming = Assert.Single(ids, id => id != outgoing);
        socket.To(outgoing).Send([1]);
        Assert.Equal([1], await socket.NextDataAsync(incoming));
        socket.To(incoming).Send([2]);
        Assert.Equal([2], await socket.NextDataAsync(outgoing));
    }

    [Fact]
    public async Task A_refused_connect_says_that_nobody_listens()
    {
        await using var fixture = new StreamFixture();
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents();
        string endpoint = RawListener.NobodyListens();
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => client.ConnectAsync(endpoint, Guard.Token).Guarded());
        Assert.Equal(ZlinkError.ConnectionRefused, thrown.Error);
        Assert.Contains("no process listens", thrown.Message, StringComparison.Ordinal);
        Assert.Contains(endpoint, thrown.Message, StringComparison.Ordinal);
        SocketEvent delayed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.ConnectDelayed, endpoint), (delayed.Type, delayed.RemoteAddress));
        SocketEvent closed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.Closed, endpoint), (closed.Type, closed.RemoteAddress));
        Assert.Equal(0, client.PeerCount);
        Assert.False(client.TryReceive(out _));
    }

    [Fact]
    public async Task A_cancelled_connect_leaves_nothing_behind()
    {
        await using var fixture = new StreamFixture();
        fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        var cancelled = new CancellationToken(canceled: true);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.ConnectAsync(endpoint, cancelled).Guarded());
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => client.ConnectPipeAsync(endpoint, cancelled).Guarded());
        Assert.Equal(0, client.GetStatistics().DialledConnections);
        Assert.Equal(0, client.PeerCount);
    }

    [Fact]
    public async Task A_connect_that_hangs_ends_when_it_is_cancelled_and_when_the_socket_is_disposed()
    {
        await using var fixture = new StreamFixture();
        using var listener = new FullListener();
        StreamSocket client = fixture.Context.CreateStream();
        using var cancellation = new CancellationTokenSource();
        Task<uint> cancelled = client.ConnectAsync(listener.Endpoint, cancellation.Token).AsTask();
        Task<uint> abandoned = client.ConnectAsync(listener.Endpoint, Guard.Token).AsTask();
        Assert.False(cancelled.IsCompleted);
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled.Guarded());
        Assert.False(abandoned.IsCompleted);
        client.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => abandoned.Guarded());
    }

    [Fact]
    public async Task A_connect_that_hangs_ends_at_ConnectTimeout()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        using var listener = new FullListener();
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { ConnectTimeout = TimeSpan.FromSeconds(3) });
        Task<uint> dialling = client.ConnectAsync(listener.Endpoint, Guard.Token).AsTask();
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        for (int second = 0; second < 3; second++)
        {
            time.Advance(TimeSpan.FromSeconds(1));
        }

        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => dialling.Guarded());
        Assert.Equal(ZlinkError.TimedOut, thrown.Error);
    }

    [Fact]
    public async Task A_lost_connection_is_not_made_anew_unless_that_was_asked_for()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        uint id = await client.ConnectAsync(listener.Endpoint, Guard.Token).Guarded();
        (await listener.AcceptAsync()).Reset();
        Assert.Equal(id, await client.NextConnectedAsync());
        Assert.Equal((id, DisconnectReason.TransportError), await client.NextDisconnectedAsync());
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(0, time.ArmedTimers); // nothing is planned
        Assert.Equal(1, client.GetStatistics().DialledConnections);
    }
}
