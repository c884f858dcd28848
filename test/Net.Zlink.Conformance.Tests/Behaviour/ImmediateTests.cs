using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_immediate.</summary>
public sealed class ImmediateTests
{
    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task With_Immediate_nothing_is_accepted_while_the_peer_is_away(string transport)
    {
        await using var fixture = new StreamFixture();
        DealerSocket backend = fixture.Context.CreateDealer();
        DealerSocket frontend = fixture.Context.CreateDealer(
            new DealerOptions { Immediate = true, ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        using EventReader monitor = frontend.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected);
        string endpoint = backend.Bind(transport is Link.Ipc ? $"ipc://@immediate-{Guid.NewGuid():N}" : Link.Any(transport));
        frontend.Connect(endpoint);
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.NextAsync()).Type);
        backend.Say("Hello");
        Assert.Equal("Hello", await frontend.HearOneAsync());
        Assert.True(frontend.TrySay("Hello"));

        backend.Dispose();
        Assert.Equal(SocketEventTypes.Disconnected, (await monitor.NextAsync()).Type);
        await fixture.UntilAsync(() => frontend.PeerCount == 0);
        Assert.False(frontend.TrySay("Hello"));

        DealerSocket successor = fixture.Context.CreateDealer();
        successor.Bind(endpoint);
        successor.Say("Hello again");
        Assert.Equal("Hello again", await frontend.HearOneAsync());
        Assert.True(frontend.TrySay("Hello again"));
        Assert.Equal("Hello again", await successor.HearOneAsync());
    }

    [Fact]
    public async Task With_Immediate_nothing_is_accepted_before_the_first_handshake()
    {
        await using var fixture = new StreamFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { Immediate = true });
        dealer.Connect(RawListener.NobodyListens());
        Assert.False(dealer.TrySay("Hello"));
        Assert.Equal(0, dealer.PeerCount);
    }
}
