using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class ReconnectTests
{
    private static readonly StreamConnectOptions Reconnecting = new() { Reconnect = true, ReconnectInterval = TimeSpan.FromSeconds(1) };

    [Fact]
    public async Task A_reconnect_is_a_new_peer_with_a_new_id_announced_behind_the_end_of_the_old_one()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents();
        Assert.Equal(1u, await client.ConnectAsync(listener.Endpoint, Reconnecting, Guard.Token).Guarded());
        (await listener.AcceptAsync()).Reset();
        Assert.Equal(1u, await client.NextConnectedAsync());
        Assert.Equal((1u, DisconnectReason.TransportError), await client.NextDisconnectedAsync());

        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        time.Advance(TimeSpan.FromSeconds(0.9));
        Assert.False(listener.HasPending);
        time.Advance(TimeSpan.FromSeconds(1.1)); // the interval and its random part are over
        RawPeer second = fixture.Own(await listener.AcceptAsync());
        Assert.Equal(2u, await client.NextConnectedAsync());
        Assert.False(client.To(1).TrySend([1]));
        client.To(2).Send([7]);
        Assert.Equal([7], (await second.ReadFrameAsync())!);

        SocketEventTypes[] expected =
        [
            SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected, SocketEventTypes.ConnectionReady, SocketEventTypes.Disconnected,
            SocketEventTypes.ConnectRetried, SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected, SocketEventTypes.ConnectionReady,
        ];
        foreach (SocketEventTypes type in expected)
        {
            SocketEvent one = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Equal(type, one.Type);
            Assert.Equal(listener.Endpoint, one.RemoteAddress);
            if (type == SocketEventTypes.ConnectRetried)
            {
                Assert.InRange(one.Value, 1000, 2000);
            }
        }
    }

    [Fact]
    public async Task Attempts_go_on_until_one_succeeds_with_pauses_that_double_up_to_the_maximum()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = fixture.Bind(out string endpoint);
        StreamSocket client = fixture.Context.CreateStream();
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        var options = new StreamConnectOptions
        {
            Reconnect = true,
            ReconnectInterval = TimeSpan.FromMilliseconds(100),
            ReconnectIntervalMax = TimeSpan.FromMilliseconds(400)
        };
        await client.ConnectAsync(endpoint, options, Guard.Token).Guarded();
        await server.NextConnectedAsync();
        Assert.Equal(1u, await client.NextConnectedAsync());
        server.Dispose();
        await client.NextDisconnectedAsync();

        foreach (long pause in (long[])[100, 200, 400, 400])
        {
            Assert.Equal(pause, (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Value);
            Assert.Contains($"  {endpoint}: not connected: ", client.Describe(), StringComparison.Ordinal);
            await fixture.UntilAsync(() => time.ArmedTimers > 0);
            time.Advance(TimeSpan.FromMilliseconds(pause));
        }

        await monitor.NextAsync(SocketEventTypes.ConnectRetried);
        StreamSocket successor = fixture.Context.CreateStream();
        successor.Bind(endpoint);
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        time.Advance(TimeSpan.FromMilliseconds(400));
        Assert.Equal(2u, await client.NextConnectedAsync());
        Assert.Equal(1u, await successor.NextConnectedAsync());
    }

    [Theory]
    [InlineData("disconnect")]
    [InlineData("handler")]
    [InlineData("oversize")]
    [InlineData("dispose")]
    public async Task A_STREAM_connection_that_this_side_ended_is_not_reconnected(string how)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream(new StreamOptions { MaxMessageSize = 10 });
        var thrower = new TestHandler { Received = static (_, _) => throw new InvalidOperationException("no more") };
        var options = new StreamConnectOptions
        {
            Reconnect = true,
            ReconnectInterval = Reconnecting.ReconnectInterval,
            Handler = how is "handler" ? thrower : null,
        };
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectGivenUp);
        uint id = await client.ConnectAsync(listener.Endpoint, options, Guard.Token).Guarded();
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        switch (how)
        {
            case "disconnect":
                Assert.True(client.Disconnect(id));
                break;
            case "dispose":
                client.Dispose();
                break;
            case "handler":
                await peer.SendFrameAsync(1);
                break;
            default:
                await peer.SendAsync(Wire.Header(11));
                break;
        }

        Assert.Empty(await peer.ReadToEndAsync());
        peer.Dispose();
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
        await fixture.Context.WhenIdleAsync().Guarded();
        time.Advance(TimeSpan.FromHours(1)); // also lets the close deadline, which was cancelled, tick in vain
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.Equal(0, time.ArmedTimers);
        bool isFault = how is "handler" or "oversize";
        Assert.Equal(isFault, monitor.TryRead(out SocketEvent given));
        Assert.Equal(isFault ? SocketEventTypes.ConnectGivenUp : default, given.Type);
        Assert.False(monitor.TryRead(out _));
        Assert.False(listener.HasPending);
    }

    [Fact]
    public async Task Disposing_the_socket_ends_a_reconnect_that_waits()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        RawListener listener = fixture.Listen();
        StreamSocket client = fixture.Context.CreateStream();
        await client.ConnectAsync(listener.Endpoint, Reconnecting, Guard.Token).Guarded();
        (await listener.AcceptAsync()).Reset();
        await fixture.UntilAsync(() => time.ArmedTimers > 0);
        client.Dispose();
        await fixture.UntilAsync(() => time.ArmedTimers == 0);
    }
}
