using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_transport_matrix: each pattern over each transport.</summary>
public sealed class TransportMatrixTests
{
    [Theory]
    [MemberData(nameof(Link.Everything), MemberType = typeof(Link))]
    public async Task Pair_to_pair(string transport)
    {
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair();
        PairSocket client = fixture.Context.CreatePair();
        Link.Prepare(transport, fixture, server, client);
        client.Connect(server.Bind(Link.Any(transport)));
        await SocketWords.BounceAsync(server, client);
    }

    [Theory]
    [MemberData(nameof(Link.Everything), MemberType = typeof(Link))]
    public async Task Publisher_to_subscriber(string transport)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        Link.Prepare(transport, fixture, pub, sub);
        sub.Connect(pub.Bind(Link.Any(transport)));
        sub.Subscribe("topic");
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("topic", "data");
        Assert.Equal(["topic", "data"], await sub.HearAsync());
    }

    [Theory]
    [MemberData(nameof(Link.Everything), MemberType = typeof(Link))]
    public async Task Publisher_that_connects_to_a_bound_subscriber(string transport)
    {
        await using var fixture = new StreamFixture();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("topic");
        PubSocket pub = fixture.Context.CreatePub();
        Link.Prepare(transport, fixture, sub, pub);
        pub.Connect(sub.Bind(Link.Any(transport)));
        await fixture.UntilAsync(() => pub.TopicCount == 1); // Without a call of the subscriber's.
        pub.Say("topic", "data");
        Assert.Equal(["topic", "data"], await sub.HearAsync());
    }

    [Theory]
    [MemberData(nameof(Link.Everything), MemberType = typeof(Link))]
    public async Task Dealer_to_router_and_back(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes("D") });
        Link.Prepare(transport, fixture, router, dealer);
        dealer.Connect(router.Bind(Link.Any(transport)));
        dealer.Say("request");
        (byte[] id, string[] parts) = await router.HearFromAsync();
        Assert.Equal(("D", "request"), (SocketWords.Text(id), parts.Single()));
        router.SayTo(id, "reply");
        Assert.Equal("reply", await dealer.HearOneAsync());
    }

    [Theory]
    [MemberData(nameof(Link.Everything), MemberType = typeof(Link))]
    public async Task Router_to_router_and_back(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket server = fixture.Context.CreateRouter(new RouterOptions { RoutingId = SocketWords.Bytes("S"), Mandatory = true });
        RouterSocket client = fixture.Context.CreateRouter(new RouterOptions { RoutingId = SocketWords.Bytes("C"), Mandatory = true });
        Link.Prepare(transport, fixture, server, client);
        client.Connect(server.Bind(Link.Any(transport)));
        await fixture.UntilAsync(() => client.To("S"u8).TrySend("request"u8)); // Its id is known with the handshake.
        (byte[] id, string[] parts) = await server.HearFromAsync();
        Assert.Equal(("C", "request"), (SocketWords.Text(id), parts.Single()));
        server.SayTo(id, "reply");
        (byte[] from, string[] answer) = await client.HearFromAsync();
        Assert.Equal(("S", "reply"), (SocketWords.Text(from), answer.Single()));
    }
}
