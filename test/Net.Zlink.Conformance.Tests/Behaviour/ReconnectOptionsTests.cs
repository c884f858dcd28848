using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_reconnect_options, by the fake clock.</summary>
public sealed class ReconnectOptionsTests
{
    private const SocketEventTypes Way = NativeEvents.All;

    [Fact]
    public async Task A_long_interval_keeps_a_subscriber_from_coming_back_at_once()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (SubSocket sub, EventReader monitor, string endpoint) = await LoseAsync(fixture, TimeSpan.FromSeconds(60));
        SocketEvent retried = await monitor.NextAsync();
        Assert.Equal(SocketEventTypes.ConnectRetried, retried.Type);
        Assert.InRange(retried.Value, 60_000, 119_999);
        fixture.Context.CreatePub().Bind(endpoint);
        time.Advance(TimeSpan.FromSeconds(2));
        await fixture.SettleAsync();
        monitor.IsSilent();
        sub.Dispose();
    }

    [Fact]
    public async Task After_the_interval_it_comes_back_and_nothing_more_happens()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (_, EventReader monitor, string endpoint) = await LoseAsync(fixture, TimeSpan.FromSeconds(1));
        SocketEvent retried = await monitor.NextAsync();
        Assert.Equal(SocketEventTypes.ConnectRetried, retried.Type);
        Assert.InRange(retried.Value, 1_000, 1_999);
        PubSocket pub = fixture.Context.CreatePub();
        pub.Bind(endpoint);
        time.Advance(TimeSpan.FromMilliseconds(retried.Value + 1));
        Assert.Equal([SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected, SocketEventTypes.ConnectionReady],
            await monitor.NextAsync(3));
        await fixture.UntilAsync(() => pub.TopicCount == 1); // The subscription came along.
        time.Advance(TimeSpan.FromMilliseconds(300));
        await fixture.SettleAsync();
        monitor.IsSilent();
    }

    /// <summary>A subscriber that has just lost its publisher, with the events up to that read.</summary>
    private static async Task<(SubSocket Sub, EventReader Monitor, string Endpoint)> LoseAsync(StreamFixture fixture, TimeSpan interval)
    {
        PubSocket pub = fixture.Context.CreatePub();
        string endpoint = pub.Bind(Link.Any(Link.Tcp));
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = interval });
        sub.Subscribe("");
        EventReader monitor = fixture.Own(sub.ReadEvents(Way));
        sub.Connect(endpoint);
        Assert.Equal([SocketEventTypes.ConnectDelayed, SocketEventTypes.Connected, SocketEventTypes.ConnectionReady],
            await monitor.NextAsync(3));
        pub.Dispose();
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 4L), (gone.Type, gone.ToNativeValue()));
        return (sub, monitor, endpoint);
    }
}
