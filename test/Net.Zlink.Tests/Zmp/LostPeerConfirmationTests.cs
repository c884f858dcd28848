using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A connection that swallows what is written to it, or is reset: what was written after the peer's last frame is counted as
/// unconfirmed, on either side.</summary>
public sealed class LostPeerConfirmationTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private static readonly byte[] Id = "client"u8.ToArray();

    [Theory]
    [InlineData((byte)ZmpSocketType.Dealer)]
    [InlineData((byte)ZmpSocketType.Router)]
    public async Task What_a_swallowing_path_took_until_the_heartbeat_timeout_is_unconfirmed_on_the_side_that_connected(byte peerType)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(Alive(new DealerOptions { RoutingId = Id }));
        dealer.Connect(listener.Endpoint);
        using RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync(ZmpFixture.Greeting(peerType, "server"u8));
        dealer.Send("1");
        await fixture.UntilAsync(() => dealer.GetStatistics().WrittenMessages == 1);
        await peer.SendAsync(ZmpFixture.Frame(0, "answer"u8));
        (await dealer.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        for (int i = 2; i <= 6; i++)
        {
            dealer.Send($"{i}");
        }

        await UntilAsync(fixture, time, () => dealer.GetStatistics() is { UnconfirmedMessages: 5, AcceptedMessages: 6 });
        Assert.Equal(0, dealer.GetStatistics().DroppedMessages);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task What_was_written_to_an_accepted_peer_after_its_last_frame_is_unconfirmed_when_it_falls_silent_or_resets(bool isSilent)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RouterSocket router = fixture.Context.CreateRouter(Alive(new RouterOptions()));
        using RawPeer peer = await fixture.ConnectAsync(router.Bind("tcp://127.0.0.1:*"));
        await peer.SendAsync((byte[])[.. ZmpFixture.DealerGreeting(Id), .. ZmpFixture.Frame(0, "hello"u8)]);
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        for (int i = 0; i < 5; i++)
        {
            router.To(Id).Send("lost"u8);
        }

        await fixture.UntilAsync(() => router.GetStatistics().WrittenMessages == 5);
        if (!isSilent)
        {
            peer.Reset();
        }

        await UntilAsync(fixture, time, () => router.GetStatistics() is { UnconfirmedMessages: 5, Peers: 0 });
    }

    [Fact]
    public async Task A_socket_that_is_closed_counts_what_a_peer_took_that_never_ends_its_side()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RawListener listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = Id });
        dealer.Connect(listener.Endpoint);
        using RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Router, "server"u8));
        dealer.Send("1");
        dealer.Send("2");
        await fixture.UntilAsync(() => dealer.GetStatistics().WrittenMessages == 2);
        dealer.Dispose();
        await UntilAsync(fixture, time, () => dealer.GetStatistics().UnconfirmedMessages == 2);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("ipc://*")]
    [InlineData("tls://127.0.0.1:*")]
    [InlineData("ws://127.0.0.1:*")]
    [InlineData("wss://127.0.0.1:*")]
    public async Task What_was_written_to_a_peer_that_ends_in_order_is_not_unconfirmed(string endpoint)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Linger = TimeSpan.Zero });
        DealerSocket dealer = fixture.Context.CreateDealer();
        router.Options.Tls.CertificateFile = certificates.CertificateFile;
        router.Options.Tls.KeyFile = certificates.KeyFile;
        dealer.Options.Tls.CaFile = certificates.CaFile;
        dealer.Connect(router.Bind(endpoint));
        dealer.Send("1");
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        dealer.Dispose();
        await fixture.UntilAsync(() => router.PeerCount == 0);
        await fixture.SettleAsync();
        Assert.Equal((0, 0), (dealer.GetStatistics().UnconfirmedMessages, router.GetStatistics().UnconfirmedMessages));
    }

    private static T Alive<T>(T options)
        where T : ZmpSocketOptions
    {
        options.HeartbeatInterval = Second;
        options.HeartbeatTimeout = 3 * Second;
        options.Linger = TimeSpan.Zero;
        return options;
    }

    private static async Task UntilAsync(ContextFixture fixture, ManualTimeProvider time, Func<bool> isSo)
    {
        long started = TimeProvider.System.GetTimestamp();
        while (!isSo())
        {
            Assert.True(TimeProvider.System.GetElapsedTime(started) < Guard.Limit, "it is not counted");
            time.Advance(Second);
            await fixture.SettleAsync();
        }
    }
}
