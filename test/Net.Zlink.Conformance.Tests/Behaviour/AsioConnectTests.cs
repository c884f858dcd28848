using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_asio_connect: connecting over tcp, early, often, and with options.</summary>
public sealed class AsioConnectTests
{
    [Fact]
    public async Task A_pair_connects_exchanges_messages_and_disconnects()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client);
        client.Disconnect(endpoint);
        Assert.Equal(0, client.PeerCount);
        await fixture.UntilAsync(() => server.PeerCount == 0);
    }

    [Fact]
    public async Task Twenty_clients_come_and_go_one_after_the_other()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        for (int i = 0; i < 20; i++)
        {
            using DealerSocket client = fixture.Context.CreateDealer();
            client.Connect(endpoint);
            client.Say($"message {i}");
            Assert.Equal($"message {i}", await server.HearOneAsync());
        }

        await fixture.UntilAsync(() => server.PeerCount == 0);
    }

    [Fact]
    public async Task Twenty_clients_that_close_while_they_connect_disturb_nobody()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        for (int i = 0; i < 20; i++)
        {
            DealerSocket fleeting = fixture.Context.CreateDealer();
            fleeting.Connect(endpoint);
            fleeting.Dispose();
        }

        DealerSocket client = fixture.Context.CreateDealer();
        client.Connect(endpoint);
        client.Say("still there?");
        Assert.Equal("still there?", await server.HearOneAsync());
    }

    [Fact]
    public async Task A_message_sent_before_the_peer_binds_arrives_once_it_binds()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(100) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        string endpoint = RawListener.NobodyListens();
        client.Connect(endpoint);
        client.Say("early");
        await monitor.NextAsync();
        DealerSocket server = fixture.Context.CreateDealer();
        server.Bind(endpoint);
        Assert.Equal("early", await server.HearOneAsync());
    }

    [Fact]
    public async Task Five_dealers_reach_one()
    {
        await using var fixture = new StreamFixture();
        DealerSocket server = fixture.Context.CreateDealer();
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        for (int i = 0; i < 5; i++)
        {
            DealerSocket client = fixture.Context.CreateDealer();
            client.Connect(endpoint);
            client.Say($"client {i}");
        }

        var heard = new List<string>();
        for (int i = 0; i < 5; i++)
        {
            heard.Add(await server.HearOneAsync());
        }

        Assert.Equal(["client 0", "client 1", "client 2", "client 3", "client 4"], heard.Order(StringComparer.Ordinal).ToArray());
    }

    [Fact]
    public async Task The_loopback_address_of_IPv6_works_with_the_option()
    {
        Assert.SkipUnless(System.Net.Sockets.Socket.OSSupportsIPv6, "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair(new PairOptions { IPv6 = true });
        PairSocket client = fixture.Context.CreatePair(new PairOptions { IPv6 = true });
        string endpoint = server.Bind("tcp://[::1]:0");
        Assert.StartsWith("tcp://[::1]:", endpoint, StringComparison.Ordinal);
        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task With_Immediate_messages_go_to_completed_connections_only()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair(new PairOptions { Immediate = true });
        string endpoint = server.Bind(Link.Any(Link.Tcp));
        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client); // The first send waits for the handshake.
    }

    [Fact]
    public async Task A_wildcard_port_is_resolved_in_the_last_endpoint()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        server.Bind("tcp://127.0.0.1:*");
        Assert.StartsWith("tcp://127.0.0.1:", server.LastEndpoint, StringComparison.Ordinal);
        Assert.InRange(RawPeer.AddressOf(server.LastEndpoint).Port, 1, 65535);
        client.Connect(server.LastEndpoint);
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task Keepalive_options_read_back_and_traffic_flows()
    {
        await using var fixture = new StreamFixture();
        PairOptions Options() => new()
        {
            KeepAlive = true,
            KeepAliveIdle = TimeSpan.FromSeconds(60),
            KeepAliveCount = 5,
            KeepAliveInterval = TimeSpan.FromSeconds(10)
        };
        PairSocket server = fixture.Context.CreatePair(Options());
        PairSocket client = fixture.Context.CreatePair(Options());
        Assert.Equal((true, TimeSpan.FromSeconds(60), 5, TimeSpan.FromSeconds(10)),
            (client.Options.KeepAlive, client.Options.KeepAliveIdle, client.Options.KeepAliveCount, client.Options.KeepAliveInterval));
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        await SocketWords.BounceAsync(server, client);
    }
}
