using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_connect_rid: a ROUTER names a peer before it connects.</summary>
public sealed class ConnectRidTests
{
    [Theory]
    [InlineData(Link.Tcp, false)]
    [InlineData(Link.Tcp, true)]
    [InlineData(Link.Ipc, false)]
    [InlineData(Link.Ipc, true)]
    [InlineData(Link.Inproc, false)]
    [InlineData(Link.Inproc, true)]
    public async Task A_named_peer_can_be_sent_to_at_once_and_its_answers_carry_the_name(string transport, bool connecterIsNamed)
    {
        await using var fixture = new StreamFixture();
        RouterSocket binder = fixture.Context.CreateRouter();
        string endpoint = binder.Bind(Link.Any(transport));
        RouterSocket connecter = fixture.Context.CreateRouter();
        if (connecterIsNamed)
        {
            connecter.Options.RoutingId = SocketWords.Bytes("Y");
        }

        connecter.Connect(endpoint, RoutingId.FromText("conn1"));
        connecter.SayTo("conn1", "hi 1");
        (byte[] id, string[] parts) = await binder.HearFromAsync();
        Assert.Equal(["hi 1"], parts);
        if (connecterIsNamed)
        {
            Assert.Equal("Y", SocketWords.Text(id));
        }
        else
        {
            Assert.Equal(16, id.Length);
        }

        binder.SayTo(id, "answer");
        (byte[] from, string[] answer) = await connecter.HearFromAsync();
        Assert.Equal("conn1", SocketWords.Text(from));
        Assert.Equal(["answer"], answer);
        binder.Unbind(endpoint);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Among_routers_a_message_goes_to_the_named_peer_only(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket x = Router(fixture, "X");
        RouterSocket y = Router(fixture, "Y");
        RouterSocket z = Router(fixture, "Z");
        string xEndpoint = x.Bind(Link.Any(transport));
        string zEndpoint = z.Bind(Link.Any(transport));
        y.Connect(xEndpoint, RoutingId.FromText("X"));
        y.SayTo("X", "ready");
        Assert.Equal("Y", SocketWords.Text((await x.HearFromAsync()).Id));
        x.Connect(zEndpoint, RoutingId.FromText("Z"));
        x.SayTo("Z", "Hello Z");
        (byte[] id, string[] parts) = await z.HearFromAsync();
        Assert.Equal("X", SocketWords.Text(id));
        Assert.Equal(["Hello Z"], parts);
        y.HearsNothing();
        x.SayTo("Y", "Hello Y");
        Assert.Equal(["Hello Y"], (await y.HearFromAsync()).Parts);
        z.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_name_in_use_is_refused_and_nothing_changes(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket binder = fixture.Context.CreateRouter();
        RouterSocket other = fixture.Context.CreateRouter();
        RouterSocket connecter = fixture.Context.CreateRouter();
        connecter.Connect(binder.Bind(Link.Any(transport)), RoutingId.FromText("conn1"));
        string second = other.Bind(Link.Any(transport));
        SocketWords.Fails("EADDRINUSE", () => connecter.Connect(second, RoutingId.FromText("conn1")));
        Assert.Equal(1, connecter.PeerCount);
        connecter.SayTo("conn1", "hi");
        Assert.Equal(["hi"], (await binder.HearFromAsync()).Parts);
        Assert.Equal(0, other.PeerCount);
    }

    private static RouterSocket Router(StreamFixture fixture, string id) =>
        fixture.Context.CreateRouter(new RouterOptions { RoutingId = SocketWords.Bytes(id) });
}
