using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Xunit;

namespace Net.Zlink.Tests.Support;

public sealed class MemoryTransportTests
{
    private const int GreetingOfOurs = 8 + 3 + 16 + 9;

    [Fact]
    public async Task Two_sockets_over_memory_hear_of_each_other_what_the_test_carries()
    {
        await using var fixture = new MemoryFixture();
        string endpoint = MemoryTransport.NewEndpoint();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "A"u8.ToArray() });
        Assert.Equal(endpoint, router.Bind(endpoint));
        dealer.Connect(endpoint);
        (MemoryPeer dialling, MemoryPeer accepting) = MemoryTransport.Between(endpoint);
        fixture.Settle();
        Assert.True(dialling.Unread > 0 && accepting.Unread > 0);
        Assert.Empty(router.GetPeers());
        fixture.Carry(dialling, accepting);
        Assert.Equal("A"u8, Assert.Single(router.GetPeers()).RoutingId.Span);

        dealer.Send("question"u8);
        fixture.Settle();
        Assert.False(router.TryReceive(out _));
        fixture.Carry(dialling, accepting);
        Assert.True(router.TryReceive(out Message question));
        using (question)
        {
            router.To(question).Send("answer"u8);
        }

        fixture.Carry(dialling, accepting);
        Assert.True(dealer.TryReceive(out Message answer));
        using (answer)
        {
            Assert.Equal("answer"u8, answer.Span);
        }
    }

    [Fact]
    public async Task A_greeting_and_a_message_are_the_same_however_they_are_cut()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        byte[] bytes = [.. ZmpFixture.DealerGreeting("A"u8), .. ZmpFixture.Frame(0, "message"u8.ToArray())];
        for (int size = 1; size <= bytes.Length; size++)
        {
            MemoryPeer peer = fixture.Connect(endpoint);
            peer.Send(bytes, size);
            fixture.Settle();
            Assert.True(router.TryReceive(out Message message), $"in pieces of {size}");
            using (message)
            {
                Assert.Equal("message"u8, message.Span);
            }

            Assert.Equal(GreetingOfOurs, peer.ReadAll().Length);
            peer.EndSending();
            fixture.Settle();
            Assert.True(peer.HasEnded && peer.IsClosed);
        }
    }

    [Theory]
    [InlineData(true, "ConnectionReset")]
    [InlineData(false, "the peer ended the connection")]
    public async Task A_peer_that_resets_is_lost_and_one_that_ends_has_left(bool resets, string detail)
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        MemoryPeer peer = fixture.Connect(router.Bind(MemoryTransport.NewEndpoint()));
        fixture.Send(peer, ZmpFixture.DealerGreeting("A"u8));
        (resets ? (Action)peer.Reset : peer.EndSending)();
        fixture.Settle();
        Assert.True(monitor.TryRead(out SocketEvent ended));
        Assert.Equal(detail, ended.Detail);
        Assert.Empty(router.GetPeers());
    }

    [Fact]
    public async Task A_socket_that_dials_memory_greets_and_waits_for_an_answer_that_may_never_come()
    {
        await using var fixture = new MemoryFixture();
        string endpoint = MemoryTransport.NewEndpoint();
        using MemoryTransport.MemoryListener listener = MemoryTransport.Listen(endpoint);
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { HandshakeInterval = TimeSpan.FromSeconds(3) });
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        dealer.Connect(endpoint);
        MemoryPeer peer = fixture.Own(listener.Take());
        fixture.Settle();
        Assert.True(peer.Unread > 0);
        fixture.Advance(TimeSpan.FromSeconds(2.9));
        Assert.False(monitor.TryRead(out _));
        fixture.Advance(TimeSpan.FromSeconds(0.2));
        Assert.True(monitor.TryRead(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_connect_and_a_reconnect_over_memory_are_over_when_the_calls_that_cause_them_return(bool isStream)
    {
        await using var fixture = new MemoryFixture();
        string endpoint = MemoryTransport.NewEndpoint();
        using MemoryTransport.MemoryListener listener = MemoryTransport.Listen(endpoint);
        var second = TimeSpan.FromSeconds(1);
        if (isStream)
        {
            var options = new StreamConnectOptions { Reconnect = true, ReconnectInterval = second, ReconnectIntervalMax = second };
            Task<uint> connecting = fixture.Context.CreateStream().ConnectAsync(endpoint, options, Guard.Token).AsTask();
            Assert.True(connecting.IsCompletedSuccessfully);
        }
        else
        {
            fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = second, ReconnectIntervalMax = second }).Connect(endpoint);
        }

        for (int i = 0; i < 3; i++)
        {
            MemoryPeer dialled = listener.Take();
            fixture.Settle();
            dialled.Reset();
            fixture.Settle();
            fixture.Advance(second);
        }
    }
}
