using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How long a ZMP socket waits before it connects again.</summary>
public sealed class ReconnectPauseTests
{
    [Fact]
    public async Task With_a_maximum_the_pauses_double_up_to_it_and_a_connection_begins_them_anew()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions
        {
            ReconnectInterval = TimeSpan.FromMilliseconds(100),
            ReconnectIntervalMax = TimeSpan.FromMilliseconds(400),
            HandshakeInterval = TimeSpan.Zero,
            Linger = TimeSpan.Zero,
        });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        RawListener listener = fixture.Listen();
        string endpoint = listener.Endpoint;
        listener.Dispose();
        dealer.Connect(endpoint);
        foreach (long pause in (long[])[100, 200, 400, 400])
        {
            await AssertPauseAsync(pause);
            time.Advance(TimeSpan.FromMilliseconds(pause));
        }

        await AssertPauseAsync(400);
        using RouterSocket router = fixture.Context.CreateRouter();
        router.Bind(endpoint);
        time.Advance(TimeSpan.FromMilliseconds(400));
        await monitor.NextAsync(SocketEventTypes.ConnectionReady);
        router.Dispose();
        await AssertPauseAsync(100);

        async Task AssertPauseAsync(long pause)
        {
            Assert.Equal(pause, (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Value);
            await fixture.UntilAsync(() => time.ArmedTimers > 0);
        }
    }

    [Fact]
    public async Task Without_a_maximum_each_pause_is_the_interval_and_a_random_part_of_it_and_nobody_comes_earlier()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { ReconnectInterval = TimeSpan.FromSeconds(1), HandshakeInterval = TimeSpan.Zero, Linger = TimeSpan.Zero });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.ConnectRetried);
        RawListener listener = fixture.Listen();
        dealer.Connect(listener.Endpoint);
        var pauses = new HashSet<long>();
        for (int i = 0; i < 5; i++)
        {
            RawPeer peer = await listener.AcceptAsync();
            await peer.SendAsync(ZmpFixture.Greeting(type: 6));
            await peer.ReadAsync(1);
            peer.Reset();
            long pause = (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Value;
            Assert.InRange(pause, 1000, 1999);
            pauses.Add(pause);
            await fixture.UntilAsync(() => time.ArmedTimers > 0);
            time.Advance(TimeSpan.FromMilliseconds(pause - 1));
            await fixture.SettleAsync();
            Assert.False(listener.HasPending);
            time.Advance(TimeSpan.FromMilliseconds(2)); // The event's value is rounded down.
        }

        Assert.True(pauses.Count > 1, "all pauses are alike");
    }
}
