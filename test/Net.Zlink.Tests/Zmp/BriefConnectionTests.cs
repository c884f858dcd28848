using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A connecter whose peer ends a connection without a word right behind the handshake: what was written may be lost, and the next
/// connection waits for a word.</summary>
public sealed class BriefConnectionTests
{
    private static readonly byte[] Question = ZmpFixture.Control("02 0000 00");
    private static readonly byte[] Answer = ZmpFixture.Control("03 00");
    private static readonly byte[] PeerGreeting = ZmpFixture.Greeting((byte)ZmpSocketType.Router, "server"u8);
    private static readonly byte[] OwnGreeting = ZmpFixture.DealerGreeting("client"u8);

    [Fact]
    public async Task After_a_brief_connection_no_message_leaves_before_the_peer_has_answered_a_HEARTBEAT()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = Connecting(fixture, out RawListener listener);
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.MessagesUnconfirmed);
        dealer.Send("1");
        dealer.Send("2");
        await ServeBrieflyAsync(listener, "1", "2");
        SocketEvent unconfirmed = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(2, unconfirmed.Value);
        dealer.Send("3");
        using (RawPeer refused = await NextAsync(listener))
        {
            Assert.Equal(Question, await refused.ReadAsync(Question.Length));
            await fixture.SettleAsync();
            Assert.Equal(0, refused.Socket.Available);
        }

        using (RawPeer peer = await NextAsync(listener))
        {
            Assert.Equal(Question, await peer.ReadAsync(Question.Length));
            await peer.SendAsync(Answer);
            Assert.Equal(ZmpFixture.Frame(0, "3"u8), await peer.ReadAsync(9));
            dealer.Send("4");
            Assert.Equal(ZmpFixture.Frame(0, "4"u8), await peer.ReadAsync(9));
        }

        await fixture.UntilAsync(() => dealer.GetStatistics().WrittenMessages == 4); // The peer may have read it before that is counted.
        SocketStatistics counters = dealer.GetStatistics();
        Assert.Equal((4, 4, 0, 2),
            (counters.AcceptedMessages, counters.WrittenMessages, counters.DroppedMessages, counters.UnconfirmedMessages));
        Assert.Equal(2, (await fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded()).UnconfirmedMessages);
    }

    [Fact]
    public async Task The_peer_of_a_brief_connection_gets_a_HEARTBEAT_only_when_a_message_waits()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = Connecting(fixture, out RawListener listener);
        await ServeBrieflyAsync(listener);
        using RawPeer peer = await NextAsync(listener);
        await fixture.UntilAsync(() => dealer.GetPeers()[0].IsConnected);
        await fixture.SettleAsync();
        Assert.Equal(0, peer.Socket.Available);
        dealer.Send("1");
        dealer.Send("2");
        Assert.Equal(Question, await peer.ReadAsync(Question.Length));
        await peer.SendAsync(Answer);
        Assert.Equal((byte[])[.. ZmpFixture.Frame(0, "1"u8), .. ZmpFixture.Frame(0, "2"u8)], await peer.ReadAsync(18));
        Assert.Equal(0, dealer.GetStatistics().UnconfirmedMessages);
    }

    [Fact]
    public async Task A_peer_that_sent_a_frame_or_stayed_for_5_seconds_gets_messages_at_once_on_the_next_connection()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        DealerSocket dealer = Connecting(fixture, out RawListener listener);
        using (RawPeer heard = await NextAsync(listener))
        {
            await heard.SendAsync(ZmpFixture.Frame(0, "hello"u8));
            (await dealer.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        await AgainAsync(fixture, time, listener);
        using (RawPeer lasting = await NextAsync(listener))
        {
            await fixture.UntilAsync(() => dealer.GetPeers()[0].IsConnected);
            time.Advance(TimeSpan.FromSeconds(5));
            dealer.Send("1");
            Assert.Equal(ZmpFixture.Frame(0, "1"u8), await lasting.ReadAsync(9));
        }

        await AgainAsync(fixture, time, listener);
        using RawPeer peer = await NextAsync(listener);
        dealer.Send("2");
        Assert.Equal(ZmpFixture.Frame(0, "2"u8), await peer.ReadAsync(9));
        Assert.Equal(0, dealer.GetStatistics().UnconfirmedMessages);
    }

    [Fact]
    public async Task Messages_written_after_the_last_frame_before_an_ERROR_are_unconfirmed()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = Connecting(fixture, out RawListener listener);
        using (RawPeer peer = await NextAsync(listener))
        {
            dealer.Send("1");
            await peer.ReadAsync(9);
            await peer.SendAsync(ZmpFixture.Frame(0, "got it"u8));
            (await dealer.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            dealer.Send("2");
            dealer.Send("3");
            await peer.ReadAsync(18);
            await peer.SendAsync(ZmpFixture.Control("05 03 0e 626f647920746f6f206c61726765"));
            await fixture.UntilAsync(() => dealer.GetStatistics().UnconfirmedMessages == 2);
        }

        using RawPeer again = await NextAsync(listener); // An ERROR is no reason to give the endpoint up.
        dealer.Send("4");
        Assert.Equal(ZmpFixture.Frame(0, "4"u8), await again.ReadAsync(9));
    }

    [Fact]
    public async Task A_socket_that_is_disposed_delivers_its_queue_without_waiting_for_an_answer()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = Connecting(fixture, out RawListener listener);
        await ServeBrieflyAsync(listener);
        using RawPeer peer = await NextAsync(listener);
        dealer.Send("1"); // Not before: the end of the last connection may not have been noticed.
        Assert.Equal(Question, await peer.ReadAsync(Question.Length));
        dealer.Dispose();
        Assert.Equal(ZmpFixture.Frame(0, "1"u8), await peer.ReadToEndAsync());
    }

    private static DealerSocket Connecting(ContextFixture fixture, out RawListener listener)
    {
        listener = fixture.Listen();
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = "client"u8.ToArray(), ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        dealer.Connect(listener.Endpoint);
        return dealer;
    }

    /// <summary>Accepts the next connection, and exchanges greetings.</summary>
    private static async Task<RawPeer> NextAsync(RawListener listener)
    {
        RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync(PeerGreeting);
        Assert.Equal(OwnGreeting, await peer.ReadAsync(OwnGreeting.Length));
        return peer;
    }

    private static async Task ServeBrieflyAsync(RawListener listener, params string[] texts)
    {
        using RawPeer peer = await NextAsync(listener);
        foreach (string text in texts)
        {
            Assert.Equal(ZmpFixture.Frame(0, System.Text.Encoding.ASCII.GetBytes(text)),
                await peer.ReadAsync(ZmpFrame.HeaderSize + text.Length));
        }
    }

    /// <summary>Lets the pause before the next attempt pass, whenever it begins.</summary>
    private static Task AgainAsync(ContextFixture fixture, ManualTimeProvider time, RawListener listener) => fixture.UntilAsync(() =>
    {
        time.Advance(TimeSpan.FromMilliseconds(1));
        return listener.HasPending;
    });
}
