using System.Text;
using Net.Zlink.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>What a ZMP socket does about a peer that is gone, be it in the handshake.</summary>
public sealed class LostPeerTests
{
    private static readonly byte[] Hi = Convert.FromHexString("5A010000000000026869");

    [Fact]
    public async Task With_Immediate_a_socket_can_send_after_a_handshake_that_failed()
    {
        using var listener = new RawListener();
        await using var context = new ZlinkContext();
        using DealerSocket dealer = context.CreateDealer(
            new DealerOptions { Immediate = true, ReconnectInterval = TimeSpan.FromMilliseconds(1), Linger = TimeSpan.Zero });
        dealer.Connect(listener.Endpoint);
        using (RawPeer first = await listener.AcceptAsync())
        {
            await first.ReadAsync(1); // Its HELLO is coming: the connection was noticed.
            first.Reset();
        }

        using RawPeer second = await listener.AcceptAsync();
        await second.SendAsync(ZmpFixture.DealerGreeting("A"u8));
        await dealer.SendAsync("hi"u8.ToArray(), Guard.Token).Guarded();
        const int Greeting = 8 + 3 + 16 + 9; // HELLO with a routing id of 16 bytes, READY
        byte[] all = await second.ReadAsync(Greeting + Hi.Length);
        Assert.Equal(Hi, all[Greeting..]);
    }

    [Fact]
    public async Task Unread_messages_of_a_peer_that_left_go_back_to_the_pool_with_the_socket()
    {
        using var pool = new BufferPool(new BufferPoolOptions { LeakCheck = true });
        await using (var context = new ZlinkContext(new ZlinkContextOptions { Pool = pool }))
        {
            using DealerSocket dealer = context.CreateDealer();
            using EventReader monitor = dealer.ReadEvents(SocketEventTypes.Disconnected);
            using RawPeer peer = await RawPeer.ConnectAsync(dealer.Bind("tcp://127.0.0.1:0"));
            await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8).Concat(Hi).ToArray());
            peer.EndSending();
            await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.True(dealer.CanReceive);
        }

        Assert.Empty(pool.GetOutstanding());
    }

    [Fact]
    public async Task The_unread_messages_of_a_peer_that_left_and_those_of_its_next_connection_take_turns_with_all_others()
    {
        await using var context = new ZlinkContext();
        using DealerSocket dealer = context.CreateDealer();
        using EventReader monitor = dealer.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectionReady);
        string endpoint = dealer.Bind("tcp://127.0.0.1:0");
        using (RawPeer first = await RawPeer.ConnectAsync(endpoint))
        {
            await first.SendAsync(Saying("A", "a1", "a2", "a3", "a4"));
            first.EndSending();
            await Until(monitor, SocketEventTypes.Disconnected);
        }

        using RawPeer other = await RawPeer.ConnectAsync(endpoint);
        await other.SendAsync(Saying("B", "b1", "b2"));
        await Until(monitor, SocketEventTypes.ConnectionReady);
        using RawPeer again = await RawPeer.ConnectAsync(endpoint);
        await again.SendAsync(Saying("A", "a5"));
        await Until(monitor, SocketEventTypes.ConnectionReady);
        await Guard.UntilAsync(() => dealer.GetStatistics().UnreadMessages == 7, "all seven are there");
        var texts = new List<string>();
        while (texts.Count < 7)
        {
            using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
            texts.Add(message.GetString());
        }

        Assert.Equal(["a1", "a2", "a3", "a4"], texts.Where(static text => text[0] == 'a' && text is not "a5"), StringComparer.Ordinal);
        Assert.True(texts.IndexOf("b2") < texts.IndexOf("a4") && texts.IndexOf("a5") < texts.IndexOf("a4"), string.Join(' ', texts));
    }

    /// <summary>A DEALER's greeting, and messages.</summary>
    private static byte[] Saying(string routingId, params string[] texts) =>
        [.. ZmpFixture.DealerGreeting(Encoding.ASCII.GetBytes(routingId)),
            .. texts.SelectMany(static text => (byte[])[0x5A, 1, 0, 0, 0, 0, 0, (byte)text.Length, .. Encoding.ASCII.GetBytes(text)])];

    private static async Task Until(EventReader monitor, SocketEventTypes type)
    {
        while ((await monitor.ReadAsync(Guard.Token).Guarded()).Type != type)
        {
        }
    }
}
