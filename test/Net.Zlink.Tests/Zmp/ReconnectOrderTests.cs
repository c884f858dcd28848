using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER receives what one peer sent over several connections in the order in which they were made.</summary>
public sealed class ReconnectOrderTests
{
    private static readonly byte[] Id = "peer"u8.ToArray();

    [Fact]
    public async Task What_a_peer_left_unread_is_received_before_what_it_sends_after_it_has_connected_again()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        End(fixture, Connect(fixture, endpoint, Id, "1", "2", "3"));
        End(fixture, Connect(fixture, endpoint, Id, "4", "5"));
        End(fixture, Connect(fixture, endpoint, Id));
        MemoryPeer last = Connect(fixture, endpoint, Id, "6");
        Assert.Equal(["1", "2", "3", "4"], Take(router, 4));
        Send(fixture, last, "7");
        Assert.Equal(["5", "6", "7"], Take(router, 3));
        Send(fixture, last, "8", "9");
        Assert.Equal(["8", "9"], Take(router, 2));
        Assert.False(router.CanReceive);
    }

    [Fact]
    public async Task Other_peers_do_not_wait_for_what_one_peer_left_unread()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        End(fixture, Connect(fixture, endpoint, Id, "1", "2", "3"));
        Connect(fixture, endpoint, Id, "4");
        Connect(fixture, endpoint, "other"u8, "a", "b");
        Assert.Equal(["1", "a", "2", "b", "3", "4"], Take(router, 6));
    }

    [Fact]
    public async Task A_receive_that_waits_gets_what_the_new_connection_sends_once_the_old_one_is_read()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        End(fixture, Connect(fixture, endpoint, Id, "1"));
        MemoryPeer second = Connect(fixture, endpoint, Id);
        Assert.Equal(["1"], Take(router, 1));
        ValueTask<Message> waiting = router.ReceiveAsync(Guard.Token);
        Send(fixture, second, "2");
        using Message message = await waiting.Guarded();
        Assert.Equal("2", message.GetString());
    }

    [Fact]
    public async Task A_socket_that_closes_drops_and_counts_all_that_waited_in_line()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        End(fixture, Connect(fixture, endpoint, Id, "1", "2"));
        End(fixture, Connect(fixture, endpoint, Id, "3"));
        Connect(fixture, endpoint, Id, "4");
        Assert.Equal(["1"], Take(router, 1));
        router.Dispose();
        fixture.Settle();
        SocketStatistics counters = router.GetStatistics();
        Assert.Equal((4, 1, 3, 0),
            (counters.ReceivedMessages, counters.DeliveredMessages, counters.DroppedUnreadMessages, counters.UnreadMessages));
    }

    [Fact]
    public async Task Each_of_five_hundred_peers_that_connect_again_is_received_in_its_own_order()
    {
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(MemoryTransport.NewEndpoint());
        for (int round = 0; round < 2; round++)
        {
            for (int i = 0; i < 500; i++)
            {
                End(fixture, Connect(fixture, endpoint, BitConverter.GetBytes(i), $"{round}"));
            }
        }

        Assert.Equal([.. Enumerable.Repeat("0", 500), .. Enumerable.Repeat("1", 500)], Take(router, 1_000));
        Assert.False(router.CanReceive);
    }

    private static MemoryPeer Connect(MemoryFixture fixture, string endpoint, ReadOnlySpan<byte> id, params string[] texts)
    {
        MemoryPeer peer = fixture.Connect(endpoint);
        fixture.Send(peer, ZmpFixture.DealerGreeting(id));
        Send(fixture, peer, texts);
        return peer;
    }

    private static void Send(MemoryFixture fixture, MemoryPeer peer, params string[] texts)
    {
        foreach (string text in texts)
        {
            fixture.Send(peer, ZmpFixture.Frame(0, System.Text.Encoding.ASCII.GetBytes(text)));
        }
    }

    private static void End(MemoryFixture fixture, MemoryPeer peer)
    {
        peer.EndSending();
        fixture.Settle();
    }

    private static string[] Take(RouterSocket router, int count)
    {
        string[] texts = new string[count];
        for (int i = 0; i < count; i++)
        {
            Assert.True(router.TryReceive(out Message message), $"after {i} messages nothing can be received");
            using (message)
            {
                texts[i] = message.GetString();
            }
        }

        return texts;
    }
}
