using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>How long a closed socket goes on for what it could not deliver, by the fake clock.</summary>
public sealed class LingerTests
{
    [Theory]
    [InlineData(300)]
    [InlineData(5000)]
    public async Task A_closed_socket_waits_for_the_linger_time_and_then_drops(int milliseconds)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        DealerSocket dealer = Undelivered(fixture, TimeSpan.FromMilliseconds(milliseconds));
        dealer.Dispose();
        time.Advance(TimeSpan.FromMilliseconds(milliseconds - 1));
        await fixture.SettleAsync();
        Assert.Equal(1, fixture.Context.GetStatistics().Sockets);
        time.Advance(TimeSpan.FromMilliseconds(1));
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
        Assert.Equal(1, dealer.GetStatistics().DroppedMessages);
    }

    [Fact]
    public async Task Without_linger_a_closed_socket_drops_at_once()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        DealerSocket dealer = Undelivered(fixture, TimeSpan.Zero);
        dealer.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
        Assert.Equal(1, dealer.GetStatistics().DroppedMessages);
    }

    [Fact]
    public async Task A_closed_socket_that_lingers_delivers_when_the_peer_comes()
    {
        await using var fixture = new StreamFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        string endpoint = RawListener.NobodyListens();
        dealer.Connect(endpoint);
        dealer.Say("Hello");
        dealer.Say("and goodbye");
        dealer.Dispose();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Bind(endpoint);
        Assert.Equal("Hello", await server.HearOneAsync());
        Assert.Equal("and goodbye", await server.HearOneAsync());
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 1);
    }

    [Fact]
    public async Task A_socket_with_nothing_unsent_ends_at_once_whatever_its_linger()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(RawListener.NobodyListens());
        dealer.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().Sockets == 0);
    }

    private static DealerSocket Undelivered(StreamFixture fixture, TimeSpan linger)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Linger = linger });
        dealer.Connect(RawListener.NobodyListens());
        dealer.Say("to nobody");
        return dealer;
    }
}
