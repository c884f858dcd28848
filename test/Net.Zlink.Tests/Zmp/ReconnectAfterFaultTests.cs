using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Endpoints that are not given up.</summary>
public sealed class ReconnectAfterFaultTests
{
    private const SocketEventTypes Watched = SocketEventTypes.ConnectGivenUp | SocketEventTypes.ConnectRetried
        | SocketEventTypes.ConnectionReady;

    [Theory]
    [InlineData("another protocol")]
    [InlineData("an ERROR of the peer's")]
    [InlineData("a peer of the wrong type")]
    [InlineData("a fault behind the handshake")]
    public async Task A_peer_that_is_wrong_is_tried_again_and_gets_what_waited_once_it_is_right(string what)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer(Options());
        using EventReader monitor = dealer.ReadEvents(Watched);
        RawListener listener = fixture.Listen();
        dealer.Connect(listener.Endpoint);
        bool isReady = what.EndsWith("behind the handshake", StringComparison.Ordinal);
        if (!isReady)
        {
            Assert.True(dealer.TrySend("hello"u8));
        }

        RawPeer wrong = await listener.AcceptAsync();
        await wrong.SendAsync(what switch
        {
            "another protocol" => Encoding.ASCII.GetBytes("HTTP/1.1 503 Service Unavailable\r\n\r\n"),
            "an ERROR of the peer's" => [.. ZmpFixture.Hex(ZmpFixture.Hello), .. ZmpFixture.Control("05 05 00")],
            "a peer of the wrong type" => ZmpFixture.Greeting(type: 1),
            _ => [.. ZmpFixture.Greeting(type: 6), .. ZmpFixture.Control("77")],
        });
        await wrong.ReadToAnyEndAsync();
        wrong.Dispose();
        if (isReady)
        {
            Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
            Assert.True(dealer.TrySend("hello"u8));
        }

        Assert.Equal(SocketEventTypes.ConnectRetried, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        using RawPeer right = await listener.AcceptAsync();
        await right.SendAsync(ZmpFixture.Greeting(type: 6));
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        var seen = new List<byte>();
        while (!seen[Math.Max(0, seen.Count - 5)..].SequenceEqual("hello"u8.ToArray()))
        {
            seen.AddRange(await right.ReadAsync(1)); // Our HELLO and READY before it.
        }

        Assert.Null(Assert.Single(dealer.GetPeers()).WhyNotConnected);
    }

    [Fact]
    public async Task A_message_that_the_peer_finds_too_large_is_lost_and_not_sent_again_and_again()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { MaxMessageSize = 100 });
        DealerSocket dealer = fixture.Context.CreateDealer(Options());
        using EventReader monitor = dealer.ReadEvents(Watched);
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await dealer.SendAsync(new byte[1_000], Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.ConnectRetried, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.Equal(SocketEventTypes.ConnectionReady, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        await dealer.SendAsync("small"u8.ToArray(), Guard.Token).Guarded();
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("small"u8, message.Span);
        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task Pauses_grow_up_to_the_longest()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerOptions options = Options();
        options.ReconnectInterval = TimeSpan.FromMilliseconds(100);
        options.ReconnectIntervalMax = TimeSpan.FromMilliseconds(400);
        options.HandshakeInterval = TimeSpan.Zero;
        DealerSocket dealer = fixture.Context.CreateDealer(options);
        using EventReader monitor = dealer.ReadEvents(Watched);
        RawListener listener = fixture.Listen();
        dealer.Connect(listener.Endpoint);
        foreach (long pause in (long[])[200, 400, 400])
        {
            RawPeer wrong = await listener.AcceptAsync();
            await wrong.SendAsync("HTTP/1.1 503 Service Unavailable\r\n\r\n"u8.ToArray());
            await wrong.ReadToAnyEndAsync();
            wrong.Dispose();
            Assert.Equal(pause, (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Value);
            await fixture.UntilAsync(() => time.ArmedTimers > 0);
            time.Advance(TimeSpan.FromMilliseconds(pause));
        }
    }

    private static DealerOptions Options() =>
        new() { ReconnectAfterFault = true, ReconnectInterval = TimeSpan.FromMilliseconds(1), Linger = TimeSpan.Zero };
}
