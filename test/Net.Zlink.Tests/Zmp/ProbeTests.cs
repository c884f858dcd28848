using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>ProbeRouter: the empty message by which a ROUTER learns of a new peer.</summary>
public sealed class ProbeTests
{
    public static TheoryData<string, bool> Links => new MatrixTheoryData<string,
        bool>(["tcp://127.0.0.1:0", "ipc://*", "inproc://probe"], [false, true]);

    [Theory]
    [MemberData(nameof(Links))]
    public async Task A_probe_comes_ahead_of_sends_that_waited_for_a_peer(string endpoint, bool proberBinds)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket prober = fixture.Context.CreateDealer(new DealerOptions { ProbeRouter = true });
        Task first = prober.SendAsync("first"u8.ToArray(), Guard.Token).AsTask();
        Task second = prober.SendAsync("second"u8.ToArray(), Guard.Token).AsTask();
        Assert.False(first.IsCompleted);
        if (proberBinds)
        {
            router.Connect(prober.Bind(endpoint));
        }
        else
        {
            prober.Connect(router.Bind(endpoint));
        }

        Assert.Equal("", await HearAsync(router));
        Assert.Equal("first", await HearAsync(router));
        Assert.Equal("second", await HearAsync(router));
        await Task.WhenAll(first, second).Guarded();
    }

    [Fact]
    public async Task In_the_process_a_probe_waits_for_the_binder_ahead_of_the_rest_and_comes_once()
    {
        await using var fixture = new ContextFixture();
        DealerSocket prober = fixture.Context.CreateDealer(new DealerOptions { ProbeRouter = true });
        Task sent = prober.SendAsync("first"u8.ToArray(), Guard.Token).AsTask();
        prober.Connect("inproc://later");
        await prober.SendAsync("second"u8.ToArray(), Guard.Token).Guarded();
        RouterSocket router = fixture.Context.CreateRouter();
        router.Bind("inproc://later");
        Assert.Equal("", await HearAsync(router));
        Assert.Equal("first", await HearAsync(router));
        Assert.Equal("second", await HearAsync(router));
        await sent.Guarded();
    }

    [Fact]
    public async Task A_peer_of_the_process_that_a_router_turns_away_is_not_probed()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { ProbeRouter = true });
        router.Bind("inproc://refusing");
        DealerSocket first = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        first.Connect("inproc://refusing");
        DealerSocket second = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        second.Connect("inproc://refusing");
        Assert.Equal((1, 0), (router.PeerCount, second.PeerCount));
        Assert.True(first.TryReceive(out Message probe));
        probe.Dispose();
        Assert.False(second.TryReceive(out _));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://handover")]
    public async Task A_probe_comes_ahead_of_sends_that_waited_for_room_at_the_peer_of_that_routing_id_before(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions
            {
                ProbeRouter = true,
                Mandatory = true,
                OnDuplicateRoutingId = DuplicateRoutingId.Replace,
                SendHighWaterMark = 1
            });
        string bound = router.Bind(endpoint);
        using DealerSocket full = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = "same"u8.ToArray(), ReceiveHighWaterMark = 1 });
        full.Connect(bound);
        Assert.Equal("", await HearAsync(full));

        // The first lies unread there, and stops the second, which is more than kernels hold, on its way: there is no room for a third.
        byte[] large = new byte[16 * 1024 * 1024];
        await router.To("same"u8.ToArray()).SendAsync(large, Guard.Token).Guarded();
        await fixture.UntilAsync(() => full.GetStatistics().UnreadMessages > 0);
        await router.To("same"u8.ToArray()).SendAsync(large, Guard.Token).Guarded();
        Assert.False(router.To("same"u8).TrySend("none"u8));
        Task waiting = router.To("same"u8.ToArray()).SendAsync("waited"u8.ToArray(), Guard.Token).AsTask();
        DealerSocket next = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "same"u8.ToArray() });
        next.Connect(bound);
        Assert.Equal("", await HearAsync(next));
        Assert.Equal("waited", await HearAsync(next));
        await waiting.Guarded();
    }

    private static async Task<string> HearAsync(ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return Encoding.ASCII.GetString(message.Span);
    }
}
