using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>A PAIR talks to one peer: what becomes of the second, which no native test asks.</summary>
public sealed class PairSecondPeerTests
{
    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task A_second_peer_is_turned_away_and_gets_in_when_the_first_has_left(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        using EventReader monitor = server.ReadEvents(SocketEventTypes.ConnectionRefused | SocketEventTypes.ConnectionReady);
        string endpoint = server.Bind(Link.Any(transport));
        PairSocket first = fixture.Context.CreatePair();
        first.Connect(endpoint);
        await SocketWords.BounceAsync(server, first);
        await monitor.NextAsync(SocketEventTypes.ConnectionReady);
        PairSocket second = fixture.Context.CreatePair(new PairOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        second.Connect(endpoint);
        await monitor.NextAsync(SocketEventTypes.ConnectionRefused);
        await SocketWords.BounceAsync(server, first);

        first.Dispose();
        await monitor.NextAsync(SocketEventTypes.ConnectionReady); // Although the server neither reads nor sends meanwhile.
        await SocketWords.BounceAsync(server, second);
    }

    [Fact]
    public async Task An_inproc_connect_to_a_pair_that_has_a_peer_succeeds_and_leads_nowhere()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Inproc));
        PairSocket first = fixture.Context.CreatePair();
        first.Connect(endpoint);
        PairSocket second = fixture.Context.CreatePair();
        second.Connect(endpoint);
        Assert.Equal(0, second.PeerCount);
        Assert.False(second.TrySay("to nobody"));
        await SocketWords.BounceAsync(server, first);
    }

    [Fact]
    public async Task Of_two_connects_the_first_is_used()
    {
        await using var fixture = new StreamFixture();
        PairSocket first = fixture.Context.CreatePair();
        PairSocket second = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(first.Bind(Link.Any(Link.Tcp)));
        client.Connect(second.Bind(Link.Any(Link.Tcp)));
        await SocketWords.BounceAsync(first, client);
        Assert.Equal(1, client.PeerCount);
        Assert.Equal(0, second.PeerCount);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Messages_of_a_lost_PAIR_peer_are_received_before_the_next_peer_is_accepted(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(transport));
        PairSocket first = fixture.Context.CreatePair();
        first.Connect(endpoint);
        await SocketWords.BounceAsync(server, first);
        first.Say("last words");
        await fixture.UntilAsync(() => server.CanReceive);
        first.Dispose();
        await fixture.UntilAsync(() => server.PeerCount == 0);
        Assert.Equal("last words", await server.HearOneAsync());
        PairSocket second = fixture.Context.CreatePair();
        second.Connect(endpoint);
        await SocketWords.BounceAsync(server, second);
    }
}
