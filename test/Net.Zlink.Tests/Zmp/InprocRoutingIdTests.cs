using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER that meets a routing id over inproc which it knows already.</summary>
public sealed class InprocRoutingIdTests
{
    private static readonly byte[] Id = "D"u8.ToArray();

    [Fact]
    public async Task A_router_that_connects_twice_to_one_dealer_leaves_no_dead_peer_behind()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        dealer.Bind("inproc://twice");
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents();

        router.Connect("inproc://twice");
        router.Connect("inproc://twice");

        Assert.Contains("routing id is in use", (await monitor.NextAsync(SocketEventTypes.ConnectionRefused)).Detail,
            StringComparison.Ordinal);
        Assert.Equal((1, 1), (dealer.PeerCount, router.PeerCount));
        router.Dispose();
        Assert.Equal(0, dealer.PeerCount);
        Assert.False(dealer.TrySend("to nobody"u8));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Of_two_dealers_with_one_id_the_second_is_turned_away_on_both_sides(bool connectsFirst)
    {
        await using var fixture = new ContextFixture();
        DealerSocket one = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        DealerSocket two = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        RouterSocket router = fixture.Context.CreateRouter();
        one.Bind("inproc://one");
        if (!connectsFirst)
        {
            two.Bind("inproc://two");
        }

        router.Connect("inproc://one");
        router.Connect("inproc://two");
        if (connectsFirst)
        {
            two.Bind("inproc://two");
        }

        Assert.Equal((1, 1, 0), (router.PeerCount, one.PeerCount, two.PeerCount));
        Assert.Equal(1, router.GetStatistics().RefusedConnections);
        Assert.False(two.TrySend("x"u8));
        Assert.True(one.TrySend("x"u8));
    }

    [Fact]
    public async Task A_pipe_whose_id_was_taken_over_is_no_endpoint_any_more()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        dealer.Bind("inproc://handed");
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { OnDuplicateRoutingId = DuplicateRoutingId.Replace });
        for (int i = 0; i < 10; i++)
        {
            router.Connect("inproc://handed");
        }

        Assert.Equal((1, 1), (router.PeerCount, dealer.PeerCount));
        Assert.Single(router.ZmpEndpoints.All);
        router.Disconnect("inproc://handed");
        Assert.Equal(0, dealer.PeerCount);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Messages_of_a_peer_that_the_ROUTER_named_come_under_that_name(bool connectsFirst)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        if (!connectsFirst)
        {
            dealer.Bind("inproc://named");
        }

        router.Connect("inproc://named", RoutingId.FromText("name"));
        if (connectsFirst)
        {
            dealer.Bind("inproc://named");
        }

        Assert.True(dealer.TrySend("question"u8));
        Assert.True(router.TryReceive(out Message question));
        using (question)
        {
            Assert.Equal("name"u8, question.RoutingId.Span);
            Assert.True(router.To(question.RoutingId).TrySend("answer"u8));
        }

        Assert.True(dealer.TryReceive(out Message answer));
        answer.Dispose();
    }

    [Fact]
    public async Task Names_and_pipes_that_were_let_go_are_forgotten()
    {
        await using var fixture = new ContextFixture();
        PairSocket binder = fixture.Context.CreatePair();
        PairSocket connecter = fixture.Context.CreatePair();
        for (int i = 0; i < 10; i++)
        {
            binder.Bind($"inproc://name-{i}");
            connecter.Connect($"inproc://name-{i}");
            connecter.Disconnect($"inproc://name-{i}");
            binder.Unbind($"inproc://name-{i}");
        }

        Assert.Equal((0, 0), (binder.ZmpEndpoints.All.Length, connecter.ZmpEndpoints.All.Length));
    }
    [Fact]
    public async Task Rejected_inproc_peers_leave_nothing_behind()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        router.Bind("inproc://crowd");
        DealerSocket first = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        first.Connect("inproc://crowd");
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        for (int i = 0; i < 10; i++)
        {
            second.Connect("inproc://crowd");
        }

        Assert.Single(router.GetPeers());
        Assert.Empty(second.GetPeers());
        Assert.Equal(10, router.GetStatistics().RefusedConnections);
    }
}
