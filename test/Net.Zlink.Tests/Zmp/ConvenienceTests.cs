using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Texts, timeouts and dictionaries, as programs use them.</summary>
public sealed class ConvenienceTests
{
    private const string Text = "Grüße, 世界";

    [Fact]
    public async Task A_text_arrives_as_UTF_8_and_is_read_as_a_text()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "d"u8.ToArray() });
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("");
        subscriber.Connect(publisher.Bind("inproc://texts"));
        dealer.Connect(router.Bind("inproc://texts of another"));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        dealer.Send(Text);
        await dealer.SendAsync(Text, Guard.Token);
        router.To("d"u8).Send(Text);
        await router.To("d"u8.ToArray()).SendAsync(Text, Guard.Token);
        publisher.Send(Text);
        await publisher.SendAsync(Text, Guard.Token);
        using (MessageBuilder builder = new MessageBuilder(fixture.Pool).Add("a"u8).Add(Text).Add(""))
        {
            dealer.Send(builder);
        }

        foreach (ReceivingSocket receiver in new ReceivingSocket[] { router, router, dealer, dealer, subscriber, subscriber })
        {
            using Message message = receiver.Receive(Guard.Limit);
            Assert.Equal(Text, message.GetString());
            Assert.Equal(System.Text.Encoding.UTF8.GetByteCount(Text), message.ByteCount);
        }

        using Message parts = router.Receive(Guard.Limit);
        Assert.Equal(["a", Text, ""], Enumerable.Range(0, parts.PartCount).Select(i => parts.GetString(i)), StringComparer.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => parts.GetString(3));
        Assert.Throws<ArgumentNullException>(() => dealer.Send((string)null!));
        Assert.Throws<ArgumentNullException>(() => new MessageBuilder(fixture.Pool).Add((string)null!));
    }

    [Fact]
    public async Task A_receive_that_may_find_nothing_says_so_without_an_exception()
    {
        await using var fixture = new ContextFixture();
        PairSocket sender = fixture.Context.CreatePair();
        PairSocket receiver = fixture.Context.CreatePair();
        receiver.Connect(sender.Bind("inproc://nothing"));
        Assert.False(receiver.TryReceive(out _, TimeSpan.Zero));
        Assert.False(receiver.TryReceive(out _, TimeSpan.FromMilliseconds(5)));
        Assert.Throws<ArgumentOutOfRangeException>(() => receiver.TryReceive(out _, TimeSpan.FromSeconds(-2)));
        sender.Send("x"u8);
        Assert.True(receiver.TryReceive(out Message message, Timeout.InfiniteTimeSpan));
        message.Dispose();
        receiver.Dispose();
        Assert.Throws<ObjectDisposedException>(() => receiver.TryReceive(out _, Guard.Limit));
    }

    [Fact]
    public async Task A_stream_receives_with_and_without_a_timeout_as_other_sockets_do()
    {
        await using var fixture = new ContextFixture();
        StreamSocket server = fixture.Context.CreateStream(new StreamOptions { ReceiveTimeout = TimeSpan.FromMilliseconds(5) });
        StreamSocket client = fixture.Context.CreateStream();
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        Assert.False(server.TryReceive(out _) || server.TryReceive(out _, TimeSpan.FromMilliseconds(5)));
        Assert.Throws<ArgumentOutOfRangeException>(() => server.TryReceive(out _, TimeSpan.FromSeconds(-2)));
        Assert.Throws<TimeoutException>(() => server.Receive());
        await client.ConnectAsync(endpoint, Guard.Token).AsTask().Guarded();
        Assert.True(server.TryReceive(out StreamMessage connected, Guard.Limit));
        Assert.Equal(StreamMessageKind.Connected, connected.Kind);
        connected.Dispose();
    }

    [Fact]
    public async Task A_routing_id_is_the_same_key_on_each_connection()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        var known = new Dictionary<RoutingId, int>();
        for (int i = 0; i < 3; i++)
        {
            using DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = "bob"u8.ToArray() });
            dealer.Connect(endpoint);
            dealer.Send("x"u8);
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            known[message.RoutingId.Copy()] = known.GetValueOrDefault(message.RoutingId) + 1;
            dealer.Dispose();
            await fixture.UntilAsync(() => router.GetPeers().Count == 0);
        }

        Assert.Equal((1, 3), (known.Count, known["bob"u8.ToArray()]));
    }
}
