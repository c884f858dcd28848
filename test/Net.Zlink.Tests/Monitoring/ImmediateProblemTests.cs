using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>With Immediate a socket has no peer before there is a connection, and says all the same why an endpoint has none.</summary>
public sealed class ImmediateProblemTests
{
    [Fact]
    public async Task Peers_description_and_error_of_a_send_say_why_an_endpoint_is_not_connected()
    {
        await using var fixture = new ContextFixture();
        string dead = RawListener.NobodyListens();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Immediate = true, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        client.Connect(dead);
        SocketEvent retried = await monitor.ReadAsync(Guard.Token).Guarded();
        PeerInfo peer = Assert.Single(client.GetPeers());
        Assert.Equal((dead, false, retried.Detail), (peer.Endpoint, peer.IsConnected, peer.WhyNotConnected));
        Assert.Contains($"not connected: {retried.Detail}", client.Describe(), StringComparison.Ordinal);
        Assert.Contains($"{dead} is not connected: {retried.Detail}", SendError(client), StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => client.Disconnect(peer));
    }

    [Fact]
    public async Task An_endpoint_is_listed_once_while_it_is_connected_and_with_its_reason_after_the_loss()
    {
        await using var fixture = new ContextFixture();
        RouterSocket server = fixture.Context.CreateRouter();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Immediate = true, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        string endpoint = server.Bind("tcp://127.0.0.1:*");
        client.Connect(endpoint);
        await fixture.UntilAsync(() => client.GetPeers() is [{ IsConnected: true, WhyNotConnected: null }]);
        server.Unbind(endpoint);
        await fixture.UntilAsync(() => client.GetPeers() is [{ IsConnected: false, WhyNotConnected: not null, Endpoint: var lost }]
            && string.Equals(lost, endpoint, StringComparison.Ordinal));
        client.Disconnect(endpoint);
        Assert.Empty(client.GetPeers());
    }

    [Fact]
    public async Task Of_several_endpoints_a_send_names_one_and_where_the_others_are_shown()
    {
        await using var fixture = new ContextFixture();
        string dead = RawListener.NobodyListens();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Immediate = true, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        client.Connect(dead);
        client.Connect(RawListener.NobodyListens());
        await fixture.UntilAsync(() => client.GetPeers().All(static peer => peer.WhyNotConnected is not null));
        string error = SendError(client);
        Assert.Contains(" is not connected: no process listens", error, StringComparison.Ordinal);
        Assert.Contains("Describe() shows all endpoints", error, StringComparison.Ordinal);
    }

    private static string SendError(DealerSocket client)
    {
        Exception? thrown = Record.Exception(() => client.Send("x"u8, TimeSpan.FromMilliseconds(1)));
        return Assert.IsType<Exception>(thrown, exactMatch: false).Message;
    }
}
