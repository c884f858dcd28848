using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Disconnect by the endpoint's text.</summary>
public sealed class DisconnectEndpointTests
{
    private static readonly StreamConnectOptions Reconnecting = new() { Reconnect = true, ReconnectInterval = TimeSpan.FromSeconds(1) };
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public async Task An_endpoint_that_is_down_is_not_tried_again_once_it_is_disconnected()
    {
        await using var fixture = new StreamFixture(time: _time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        await client.ConnectAsync(listener.Endpoint, Reconnecting, Guard.Token).Guarded();
        (await listener.AcceptAsync()).Reset();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0);
        client.Disconnect(listener.Endpoint);
        await fixture.UntilAsync(() => _time.ArmedTimers == 0);
        _time.Advance(TimeSpan.FromMinutes(10));
        await fixture.SettleAsync();
        Assert.False(listener.HasPending);
        AssertUnknown(client, listener.Endpoint);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task Accepted_messages_are_written_before_a_disconnected_endpoint_ends_and_it_does_not_reconnect(bool reconnects)
    {
        await using var fixture = new StreamFixture(time: _time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        StreamConnectOptions options = reconnects ? Reconnecting : new StreamConnectOptions();
        uint id = await client.ConnectAsync(listener.Endpoint, options, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        Assert.Equal(id, await client.NextConnectedAsync());
        client.To(id).Send(Wire.Huge);
        client.Disconnect(listener.Endpoint);
        Assert.Equal(0, client.PeerCount);
        Assert.Equal((id, DisconnectReason.Local), await client.NextDisconnectedAsync());
        Wire.AssertSame(Wire.Frame(Wire.Huge), await peer.ReadToEndAsync());
        peer.Dispose();
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
        _time.Advance(TimeSpan.FromMinutes(10));
        await fixture.SettleAsync();
        Assert.False(listener.HasPending);
        AssertUnknown(client, listener.Endpoint);
    }

    [Fact]
    public async Task Every_connect_of_the_text_is_ended_and_no_other()
    {
        await using var fixture = new StreamFixture(time: _time);
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket other = fixture.Bind(out string stays);
        StreamSocket client = fixture.Context.CreateStream();
        uint first = await client.ConnectAsync(endpoint, Reconnecting, Guard.Token).Guarded();
        uint second = await client.ConnectAsync(endpoint, Guard.Token).Guarded();
        uint third = await client.ConnectAsync(stays, Reconnecting, Guard.Token).Guarded();
        uint atServer = await other.NextConnectedAsync();
        client.Disconnect(endpoint);
        Assert.False(client.To(first).TrySend([1]));
        Assert.False(client.To(second).TrySend([1]));
        client.To(third).Send([7]);
        Assert.Equal([7], await other.NextDataAsync(atServer));
        await fixture.UntilAsync(() => server.PeerCount == 0);
    }

    [Fact]
    public async Task An_endpoint_is_found_by_another_name_of_its_address()
    {
        await using var fixture = new StreamFixture(time: _time);
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        await client.ConnectAsync(endpoint, Reconnecting, Guard.Token).Guarded();
        client.Disconnect(endpoint.Replace("127.0.0.1", "localhost", StringComparison.Ordinal));
        AssertUnknown(client, endpoint);
        await fixture.UntilAsync(() => server.PeerCount == 0);
    }

    [Fact]
    public async Task A_first_attempt_that_is_under_way_fails()
    {
        await using var fixture = new StreamFixture();
        using var full = new FullListener();
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectDelayed);
        Task<uint> connecting = client.ConnectAsync(full.Endpoint, Reconnecting, Guard.Token).AsTask();
        await monitor.NextAsync(SocketEventTypes.ConnectDelayed);
        client.Disconnect(full.Endpoint);
        ZlinkException thrown = await Assert.ThrowsAsync<ZlinkException>(() => connecting.Guarded());
        Assert.Contains("disconnected meanwhile", thrown.Message, StringComparison.Ordinal);
        AssertUnknown(client, full.Endpoint);
    }

    [Fact]
    public async Task An_endpoint_that_was_never_connected_or_is_lost_for_good_is_not_found()
    {
        await using var fixture = new StreamFixture();
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        AssertUnknown(client, listener.Endpoint);
        AssertUnknown(client, "nonsense");
        Assert.Throws<ArgumentNullException>(() => client.Disconnect(null!));
        uint id = await client.ConnectAsync(listener.Endpoint, Guard.Token).Guarded();
        (await listener.AcceptAsync()).Reset();
        Assert.Equal(id, await client.NextConnectedAsync());
        Assert.Equal(id, (await client.NextDisconnectedAsync()).PeerId);
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
        await fixture.Context.WhenIdleAsync().Guarded();
        AssertUnknown(client, listener.Endpoint);
        client.Dispose();
        Assert.Throws<ObjectDisposedException>(() => client.Disconnect(listener.Endpoint));
    }

    private static void AssertUnknown(StreamSocket socket, string endpoint) =>
        Assert.Equal(ZlinkError.NotFound, Assert.Throws<ZlinkException>(() => socket.Disconnect(endpoint)).Error);
}
