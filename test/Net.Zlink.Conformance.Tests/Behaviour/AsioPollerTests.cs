using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_asio_poller: contexts, sockets and their threads come up and go down.</summary>
public sealed class AsioPollerTests
{
    [Fact]
    public async Task A_context_without_sockets_ends_at_once()
    {
        var context = new ZlinkContext();
        ShutdownReport report = await context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        Assert.True(report.Drained);
    }

    [Theory]
    [MemberData(nameof(Link.TcpAndInproc), MemberType = typeof(Link))]
    public async Task A_pair_exchanges_messages(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(transport)));
        await SocketWords.BounceAsync(server, client);
    }

    [Fact]
    public async Task Five_sockets_of_one_context_work_side_by_side()
    {
        await using var fixture = new StreamFixture();
        var pairs = new List<(PairSocket Server, PairSocket Client)>();
        for (int i = 0; i < 5; i++)
        {
            PairSocket server = fixture.Context.CreatePair();
            PairSocket client = fixture.Context.CreatePair();
            client.Connect(server.Bind(Link.Any(Link.Tcp)));
            pairs.Add((server, client));
        }

        foreach ((PairSocket server, PairSocket client) in pairs)
        {
            await SocketWords.BounceAsync(server, client);
        }
    }

    [Fact]
    public async Task A_subscriber_gets_its_topic()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("");
        sub.Connect(pub.Bind(Link.Any(Link.Tcp)));
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("Hello");
        Assert.Equal("Hello", await sub.HearOneAsync());
    }

    [Fact]
    public async Task A_router_answers_the_dealer_that_asked()
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind(Link.Any(Link.Tcp)));
        dealer.Say("request");
        (byte[] id, string[] parts) = await router.HearFromAsync();
        Assert.Equal(["request"], parts);
        router.SayTo(id, "reply");
        Assert.Equal("reply", await dealer.HearOneAsync());
    }

    [Fact]
    public async Task A_socket_closes_while_its_peer_lives()
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        await SocketWords.BounceAsync(server, client);
        client.Dispose();
        await fixture.UntilAsync(() => server.PeerCount == 0);
        Assert.False(server.TrySay("to nobody"));
    }

    [Fact]
    public async Task Four_shards_carry_one_pair()
    {
        await using var fixture = new StreamFixture(shards: 4);
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        client.Connect(server.Bind(Link.Any(Link.Tcp)));
        await SocketWords.BounceAsync(server, client);
    }
}
