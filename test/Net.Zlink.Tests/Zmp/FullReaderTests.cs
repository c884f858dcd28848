using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Connections that are made while what they will be read into is full already.</summary>
public sealed class FullReaderTests
{
    [Theory]
    [InlineData("PAIR", 0)]
    [InlineData("DEALER", 5)]
    [InlineData("SUB", 1)]
    public async Task A_reader_that_is_full_when_its_connection_is_lost_is_connected_again_and_then_reads_on(string type, byte peersType)
    {
        await using var fixture = new ContextFixture();
        (ReceivingSocket reader, RawPeer second, Action _) = await FillAndLoseAsync(fixture, type, peersType);
        await second.SendAsync((byte[])[.. ZmpFixture.Greeting(peersType), .. Data(3), .. Data(4)]);
        await fixture.UntilAsync(() => reader.GetPeers()[0].IsConnected);
        await fixture.SettleAsync();

        // What came with the handshake is not let in: a peer that is lost again and again would bring as much each time.
        Assert.Equal(2, reader.GetPeers()[0].Unread.Messages);
        await AssertNextAsync(reader, [1], [2], [3], [4]);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Of_a_peer_that_goes_what_it_had_sent_is_taken_in_if_it_ever_found_room_and_nothing_if_not(bool everFoundRoom)
    {
        await using var fixture = new ContextFixture();
        (ReceivingSocket reader, RawPeer second, Action write) = await FillAndLoseAsync(fixture, "PAIR", peersType: 0);
        second.Socket.NoDelay = true; // Or its system still has the last of it when it goes.
        await second.SendAsync((byte[])[.. ZmpFixture.Greeting(0), .. Data(3), .. Data(4)]);
        await fixture.UntilAsync(() => reader.GetPeers()[0].IsConnected);
        await fixture.SettleAsync();
        byte[][] rest = [[1], [2]];
        if (everFoundRoom)
        {
            await AssertNextAsync(reader, [1], [2], [3], [4]);
            await second.SendAsync((byte[])[.. Data(5), .. Data(6)]);
            await fixture.UntilAsync(() => reader.GetPeers()[0] is { IsPaused: true, Unread.Messages: 2 });
            await second.SendAsync((byte[])[.. Data(7), .. Data(8)]);
            rest = [[5], [6], [7], [8]];
        }

        second.Reset();
        write();
        await fixture.UntilAsync(() => !reader.GetPeers()[0].IsConnected);
        await AssertNextAsync(reader, rest);
        Assert.False(reader.CanReceive);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(7)]
    [InlineData(15)]
    public async Task A_handshake_that_comes_in_pieces_is_read_as_far_as_it_goes_and_no_further(int piece)
    {
        await using var fixture = new ContextFixture();
        (ReceivingSocket reader, RawPeer second, Action _) = await FillAndLoseAsync(fixture, "PAIR", peersType: 0);
        second.Socket.NoDelay = true; // Or the system puts pieces together again.
        foreach (byte[] bytes in ((byte[])[.. ZmpFixture.Greeting(0), .. Data(3)]).Chunk(piece))
        {
            await second.SendAsync(bytes);
            await fixture.SettleAsync();
        }

        await fixture.UntilAsync(() => reader.GetPeers()[0].IsConnected);
        await fixture.SettleAsync();
        Assert.Equal(2, reader.GetPeers()[0].Unread.Messages);
        await AssertNextAsync(reader, [1], [2], [3]);
    }

    [Fact]
    public async Task A_peer_that_brings_more_than_the_mark_with_its_handshake_is_read_on_when_waiting_consumers_have_made_room()
    {
        await using var fixture = new ContextFixture();
        PairSocket reader = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 4 });
        string endpoint = reader.Bind("tcp://127.0.0.1:0");
        Task<Message>[] waiting = [.. Enumerable.Range(0, 3).Select(_ => reader.ReceiveAsync(Guard.Token).AsTask())];
        RawPeer peer = fixture.Own(await fixture.ConnectAsync(endpoint));
        await peer.SendAsync((byte[])[.. ZmpFixture.Greeting(0), .. Data(1), .. Data(2), .. Data(3), .. Data(4), .. Data(5)]);
        foreach (Task<Message> one in waiting)
        {
            (await one.Guarded()).Dispose();
        }

        await peer.SendAsync(Data(6));
        await AssertNextAsync(reader, [4], [5], [6]);
    }

    [Fact]
    public async Task A_subscriber_that_connects_while_notices_are_unread_is_welcomed_hears_that_it_waits_and_is_read_when_they_are()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { ReceiveHighWaterMark = 1, HeartbeatInterval = TimeSpan.FromSeconds(10) });
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        RawPeer first = fixture.Own(await fixture.ConnectAsync(endpoint));
        await first.SendAsync((byte[])[.. ZmpFixture.Greeting(2), .. Subscription(1)]);
        await fixture.UntilAsync(() => publisher.CanReceive);
        RawPeer second = fixture.Own(await fixture.ConnectAsync(endpoint));
        await second.SendAsync(ZmpFixture.Greeting(2));
        await fixture.UntilAsync(() => publisher.PeerCount == 2);
        await second.SendAsync(Subscription(2));
        await fixture.SettleAsync();

        // It goes by heartbeats, as we do, for all we know, and we don't see them.
        clock.Advance(TimeSpan.FromMilliseconds(500));
        // HELLO, READY, HEARTBEAT_ACK
        Assert.Equal<byte[]>([1, 4, 3], [await ReadControlAsync(second), await ReadControlAsync(second), await ReadControlAsync(second)]);
        await AssertNextAsync(publisher, [1, 1], [1, 2]);
    }

    /// <summary>A reader with two unread messages, which is as many as it takes, whose connection was lost then; the peer of its next one,
    /// which has said nothing yet; and what has the reader write.</summary>
    private static async Task<(ReceivingSocket Reader, RawPeer Next, Action Write)> FillAndLoseAsync(
        ContextFixture fixture, string type, byte peersType)
    {
        RawListener listener = fixture.Listen();
        (ReceivingSocket reader, Action write) = Create(fixture, type);
        reader.Connect(listener.Endpoint);
        RawPeer first = fixture.Own(await listener.AcceptAsync());
        await first.SendAsync((byte[])[.. ZmpFixture.Greeting(peersType), .. Data(1), .. Data(2)]);
        await fixture.UntilAsync(() => reader.GetPeers()[0] is { IsPaused: true, Unread.Messages: 2 });
        first.Reset();
        write(); // It does not read, so this is how it learns of the loss.
        return (reader, fixture.Own(await listener.AcceptAsync()), write);
    }

    private static async Task AssertNextAsync(ReceivingSocket reader, params byte[][] payloads)
    {
        foreach (byte[] payload in payloads)
        {
            using Message message = await reader.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(payload, message.Span.ToArray());
        }
    }

    private static (ReceivingSocket Reader, Action Write) Create(ContextFixture fixture, string type)
    {
        switch (type)
        {
            case "PAIR":
                PairSocket pair = fixture.Context.CreatePair(Low(new PairOptions()));
                return (pair, () => pair.Send("x"u8));
            case "DEALER":
                DealerSocket dealer = fixture.Context.CreateDealer(Low(new DealerOptions()));
                return (dealer, () => dealer.Send("x"u8));
            default:
                SubSocket sub = fixture.Context.CreateSub(Low(new SubOptions()));
                sub.Subscribe([]);
                return (sub, () => sub.Subscribe("more"u8));
        }
    }

    private static T Low<T>(T options)
        where T : ZmpSocketOptions
    {
        options.ReceiveHighWaterMark = 2;
        options.ReconnectInterval = TimeSpan.FromMilliseconds(1);
        options.Linger = TimeSpan.Zero;
        return options;
    }

    /// <summary>Which control frame comes next.</summary>
    private static async Task<byte> ReadControlAsync(RawPeer peer)
    {
        byte[] header = await peer.ReadAsync(8);
        Assert.Equal([0x5A, 0x01, 0x02], header[..3]);
        return (await peer.ReadAsync(header[^1]))[0];
    }

    /// <summary>HELLO without a routing id, and READY.</summary>
    private static byte[] Data(byte content) => ZmpFixture.Frame(0, [content]);

    private static byte[] Subscription(byte topic) => ZmpFixture.Frame(8, [topic]);
}
