using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What all senders to one peer have in common: of a ROUTER by id and by message, of a STREAM, of an XPUB.</summary>
public sealed class PeerSenderTests
{
    private static readonly JsonMessageSerializer Json = new(Numbers.Default);

    [Fact]
    public void The_default_value_names_no_peer_and_says_so()
    {
        PeerSender none = default;
        Assert.Throws<InvalidOperationException>(() => none.TrySend("x"u8));
        Assert.Throws<InvalidOperationException>(() => none.Send("x"u8));
        Assert.Throws<InvalidOperationException>(() => none.TrySend("x"));
        Assert.Equal(SendFailure.NotTried, default(SendResult).Reason);
        Assert.False(default(SendResult));
    }

    [Theory]
    [InlineData("by id")]
    [InlineData("by message")]
    public async Task Bytes_text_values_and_builders_to_a_peer_allocate_nothing(string way)
    {
        // A pool that looks for leaks allocates for each buffer, so this context has none.
        await using var context = new ZlinkContext();
        RouterSocket router = context.CreateRouter(new RouterOptions { Mandatory = true });
        DealerSocket dealer = context.CreateDealer(new DealerOptions { RoutingId = "peer"u8.ToArray() });
        router.Bind("inproc://peers");
        dealer.Connect("inproc://peers");
        dealer.Send("hello"u8);
        using Message hello = router.Receive(Guard.Limit);
        using var builder = new MessageBuilder(context.Pool);
        RoutingId id = RoutingId.FromText("peer");

        PeerSender Peer() => string.Equals(way, "by id", StringComparison.Ordinal) ? router.To(id) : router.To(hello);
        void Take()
        {
            Assert.True(dealer.TryReceive(out Message message));
            message.Dispose();
        }

        (string What, long Bytes)[] allocated =
        [
            ("bytes", Allocations.Of(() =>
            {
                Peer().TrySend("bytes"u8);
                Take();
            })),
            ("text", Allocations.Of(() =>
            {
                Peer().TrySend("text");
                Take();
            })),
            ("value", Allocations.Of(() =>
            {
                Peer().TrySend(42, Json);
                Take();
            })),
            ("builder", Allocations.Of(() =>
            {
                Peer().TrySend(builder.Add("one"u8).Add("two"u8));
                Take();
            })),
        ];
        Assert.DoesNotContain(allocated, static one => one.Bytes > 0);
    }

    [Fact]
    public async Task A_span_names_a_peer_for_longer_than_its_bytes_stay_the_same()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "peer"u8.ToArray() });
        router.Bind("inproc://spans");
        byte[] bytes = "peer"u8.ToArray();
        PeerSender early = router.To(bytes.AsSpan());
        dealer.Connect("inproc://spans");
        PeerSender late = router.To(bytes.AsSpan());
        bytes.AsSpan().Clear();

        Assert.True(early.TrySend("early"u8));
        Assert.True(late.TrySend("late"u8));
        Assert.Equal(["early", "late"], [Take(dealer), Take(dealer)]);
        Assert.Throws<ArgumentException>(() => router.To(default(RoutingId)));
        Assert.Throws<ArgumentException>(() => router.To(new byte[256].AsSpan()));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://gone")]
    public async Task A_connection_outlives_its_message_and_has_no_peer_after_its_end(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind(endpoint));
        dealer.Send("question"u8);
        PeerSender peer;
        using (Message question = router.Receive(Guard.Limit))
        {
            peer = router.To(question);
        }

        peer.Send("answer"u8);
        using MessageBuilder parts = new MessageBuilder(fixture.Pool).Add("in"u8).Add("parts"u8);
        peer.Send(parts);
        Assert.Equal(["answer", "in"], [Take(dealer), Take(dealer)]);

        dealer.Dispose();
        await fixture.UntilAsync(() => router.PeerCount == 0);
        Assert.Equal(SendFailure.NoPeer, peer.TrySend("late"u8).Reason);
        Assert.Equal(SendFailure.NoPeer, peer.TrySend(parts.Add("late"u8)).Reason);
        Assert.Equal(1, parts.Count);
        Assert.Equal(ZlinkError.HostUnreachable, Assert.Throws<ZlinkException>(() => peer.Send("late")).Error);
        Assert.Equal(0, peer.SendMany(new ReadOnlyMemory<byte>[] { new byte[1] }));
    }

    [Fact]
    public async Task A_message_to_a_STREAM_peer_has_one_part_in_every_form()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        PeerSender peer = socket.To(await socket.NextConnectedAsync());
        using var builder = new MessageBuilder(fixture.Pool);

        Assert.True(peer.TrySend("text"));
        Assert.True(peer.TrySend(builder.Add("builder"u8)));
        await peer.SendAsync(builder.Add("builder, awaited"u8), Guard.Token);
        peer.Send(builder.Add("builder, blocking"u8));
        Assert.True(peer.TrySend(Message.Create("message")));
        await peer.SendAsync(Message.Create("message, awaited"), Guard.Token);
        Assert.Equal(2, peer.SendMany([Message.Create("1"), Message.Create("2")]));
        foreach (string expected in (string[])["text", "builder", "builder, awaited", "builder, blocking", "message", "message, awaited",
            "1", "2"])
        {
            Assert.Equal(expected, System.Text.Encoding.UTF8.GetString((await raw.ReadFrameAsync())!));
        }

        builder.Add("a"u8).Add("b"u8);
        Assert.Throws<ArgumentException>(() => peer.TrySend(builder));
        using Message two = builder.ToMessage();
        Assert.Equal(SendFailure.TooManyParts, peer.TrySend(in two).Reason);
        Assert.Equal(2, two.PartCount);
        Assert.Equal(SendFailure.NoPeer, socket.To(77).TrySend("x"u8).Reason);
    }

    [Fact]
    public async Task A_builder_that_waits_for_a_STREAM_peer_is_sent_when_the_peer_reads()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendHighWaterMark = 1, SendBufferSize = 16 * 1024 });
        RawPeer raw = await fixture.ConnectAsync(endpoint, receiveBuffer: 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        int before = socket.Fill(id);
        using MessageBuilder last = new MessageBuilder(fixture.Pool).Add("last"u8);
        Task waiting = socket.To(id).SendAsync(last, Guard.Token).AsTask();
        Assert.False(waiting.IsCompleted);
        for (int i = 0; i < before; i++)
        {
            Assert.NotNull(await raw.ReadFrameAsync());
        }

        Assert.Equal("last"u8.ToArray(), await raw.ReadFrameAsync());
        await waiting.Guarded();
        Assert.Equal(0, last.Count);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://subscriber")]
    public async Task A_send_to_one_subscriber_waits_for_it(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { SendHighWaterMark = 1 });
        string bound = publisher.Bind(endpoint);
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 });
        subscriber.Subscribe([]);
        subscriber.Connect(bound);
        PeerSender peer;
        using (Message notice = publisher.Receive(Guard.Limit))
        {
            peer = publisher.To(notice);
        }

        int sent = 0;
        Task waiting = StalledPeers.FirstThatWaits(() =>
        {
            sent++;
            return peer.SendAsync(Wire.Huge, Guard.Token);
        });
        Assert.Equal(SendFailure.Full, peer.TrySend("later"u8).Reason);
        for (int i = 0; i < sent; i++)
        {
            (await subscriber.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        await waiting.Guarded();
    }

    [Fact]
    public async Task A_send_that_waits_for_one_subscriber_fails_when_its_connection_ends()
    {
        await using var fixture = new MemoryFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { SendHighWaterMark = 1 });
        MemoryPeer subscriber = fixture.Connect(publisher.Bind(MemoryTransport.NewEndpoint()));
        fixture.Send(subscriber, ZmpFixture.Greeting((byte)ZmpSocketType.Sub));
        fixture.Send(subscriber, ZmpFixture.Frame(8, []));
        PeerSender peer;
        using (Message notice = publisher.Receive(Guard.Limit))
        {
            peer = publisher.To(notice);
        }

        subscriber.Room = 0;
        Task waiting = StalledPeers.FirstThatWaits(() => peer.SendAsync("payload"u8.ToArray(), Guard.Token));
        fixture.Settle();
        Assert.False(waiting.IsCompleted);
        subscriber.Reset();
        fixture.Settle();
        Assert.Equal(ZlinkError.HostUnreachable, (await Assert.ThrowsAsync<ZlinkException>(() => waiting.Guarded())).Error);
    }

    private static string Take(DealerSocket dealer)
    {
        using Message message = dealer.Receive(Guard.Limit);
        return message.GetString();
    }
}

[System.Text.Json.Serialization.JsonSerializable(typeof(int))]
internal sealed partial class Numbers : System.Text.Json.Serialization.JsonSerializerContext;
