using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>What Unbind and Disconnect do to connections, messages and names.</summary>
public sealed class UnbindTests
{
    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task Unbind_ends_the_connections_that_came_in_there_and_leaves_their_unread_messages(string transport)
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(transport));
        string other = server.Bind(Link.Any(Link.Tcp));
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Linger = TimeSpan.Zero });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectRetried);
        client.Connect(endpoint);
        DealerSocket bystander = fixture.Context.CreateDealer();
        bystander.Connect(other);
        client.Say("unread");
        bystander.Say("from the bystander");
        await fixture.UntilAsync(() => server.GetPeers().Sum(static peer => peer.Unread.Messages) == 2);
        server.Unbind(endpoint);
        SocketEvent gone = await monitor.NextAsync();
        Assert.Equal((SocketEventTypes.Disconnected, 4L), (gone.Type, gone.ToNativeValue()));
        Assert.Equal(SocketEventTypes.ConnectRetried, (await monitor.NextAsync()).Type);
        Assert.Equal(1, server.PeerCount);
        string[] heard = [await server.HearOneAsync(), await server.HearOneAsync()];
        Assert.Equal(["from the bystander", "unread"], heard.Order(StringComparer.Ordinal), StringComparer.Ordinal);
        server.HearsNothing();
        Assert.Equal((2, 0), (server.GetStatistics().DeliveredMessages, server.GetStatistics().DroppedUnreadMessages));
        SocketWords.Fails("ENOENT", () => server.Unbind(endpoint));
        client.Dispose();
    }

    [Fact]
    public async Task Unbind_of_an_inproc_name_frees_the_name_and_leaves_the_peers()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Inproc));
        client.Connect(endpoint);
        PairSocket other = fixture.Context.CreatePair();
        SocketWords.Fails("EADDRINUSE", () => other.Bind(endpoint));
        server.Unbind(endpoint);
        other.Bind(endpoint);
        await SocketWords.BounceAsync(server, client);
        SocketWords.Fails("ENOENT", () => server.Unbind(endpoint));
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Disconnect_drops_what_is_unread_and_delivers_what_was_sent(string transport)
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        DealerSocket client = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(transport));
        client.Connect(endpoint);
        client.Say("first");
        Assert.Equal("first", await server.HearOneAsync());
        server.Say("unread");
        await fixture.UntilAsync(() => client.CanReceive);
        client.Say("second");
        client.Disconnect(endpoint);
        Assert.Equal(0, client.PeerCount);
        client.HearsNothing();
        Assert.Equal("second", await server.HearOneAsync());
        SocketWords.Fails("ENOENT", () => client.Disconnect(endpoint));
        await fixture.UntilAsync(() => server.PeerCount == 0);
    }

    [Fact]
    public async Task A_wildcard_is_unbound_by_the_endpoint_that_Bind_returned_and_by_its_text()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        string endpoint = server.Bind("tcp://127.0.0.1:*");
        server.Unbind(endpoint);
        server.Bind("tcp://127.0.0.1:*");
        server.Unbind("tcp://127.0.0.1:*");
        SocketWords.Fails("ENOENT", () => server.Unbind("tcp://127.0.0.1:*"));
        SocketWords.Fails("EINVAL", () => server.Unbind("nonsense"));
    }

    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task A_second_connect_of_the_same_text_changes_nothing(string transport)
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        DealerSocket client = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(transport));
        client.Connect(endpoint);
        client.Connect(endpoint);
        Assert.Equal(1, client.PeerCount);
        client.Say("Hello");
        Assert.Equal("Hello", await server.HearOneAsync());
        Assert.Equal(1, server.PeerCount);
    }
}
