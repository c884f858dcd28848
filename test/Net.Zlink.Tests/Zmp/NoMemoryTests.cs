using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Sends and receives of sockets whose pool cannot allocate. The fixtures check that every buffer came back.</summary>
public sealed class NoMemoryTests : IAsyncDisposable
{
    private const int Size = 3_000_000;
    private const int TooLarge = 1_000_000;

    private readonly ContextFixture _failing = new();
    private readonly ContextFixture _good = new();
    private readonly byte[] _payload = new byte[Size];

    public async ValueTask DisposeAsync()
    {
        _failing.Pool.Allocating = null;
        await _failing.DisposeAsync();
        await _good.DisposeAsync();
    }

    [Theory]
    [InlineData("DEALER", "tcp")]
    [InlineData("DEALER", "inproc")]
    [InlineData("PAIR", "tcp")]
    [InlineData("PUB", "tcp")]
    [InlineData("PUB", "inproc")]
    [InlineData("XPUB", "tcp")]
    public async Task A_send_without_memory_sends_nothing_and_says_so_in_all_its_forms(string type, string transport)
    {
        ZlinkContext context = _failing.Context;
        ZlinkContext other = transport is "tcp" ? _good.Context : context;
        (IMessageSender sender, ReceivingSocket receiver) = type switch
        {
            "DEALER" => ((IMessageSender)context.CreateDealer(), (ReceivingSocket)other.CreateDealer()),
            "PAIR" => (context.CreatePair(), other.CreatePair()),
            "PUB" => (context.CreatePub(), Subscribed(other)),
            _ => (context.CreateXPub(), Subscribed(other)),
        };
        string bound = ((ZmpSocket)sender).Bind(transport is "tcp" ? "tcp://127.0.0.1:*" : "inproc://no-memory");
        receiver.Connect(bound);
        await Guard.UntilAsync(
            () => sender switch
            {
                PubSocket publisher => publisher.TopicCount == 1,
                XPubSocket publisher => publisher.TopicCount == 1,
                _ => ((DuplexSocket)sender).CanSend,
            },
            "they are connected");

        Fail();
        Assert.False(sender.TrySend(_payload));
        AssertNoMemory(() => sender.Send(_payload));
        await AssertNoMemoryAsync(() => sender.SendAsync(_payload, Guard.Token));

        _failing.Pool.Allocating = null;
        sender.Send("after"u8);
        using Message received = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("after"u8.ToArray(), received.Span.ToArray());
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_ROUTER_without_memory_drops_no_message_and_says_so_in_all_forms_of_send(bool mandatory)
    {
        RouterSocket router = _failing.Context.CreateRouter();
        router.Options.Mandatory = mandatory;
        DealerSocket dealer = _good.Context.CreateDealer();
        dealer.Options.RoutingIdText = "peer";
        dealer.Connect(router.Bind("tcp://127.0.0.1:*"));
        await dealer.SendAsync("here"u8.ToArray(), Guard.Token).Guarded();
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        byte[] id = "peer"u8.ToArray();

        Fail();
        Assert.False(router.To(id).TrySend(_payload).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoMemory, error);
        Assert.Equal(0, router.To(id).SendMany(new ReadOnlyMemory<byte>[] { _payload }));
        AssertNoMemory(() => router.To(id).Send(_payload));
        await AssertNoMemoryAsync(() => router.To(id).SendAsync(_payload, Guard.Token));
        Assert.Equal(0, router.GetStatistics().DroppedUnroutable);

        _failing.Pool.Allocating = null;
        router.To(id).Send("after"u8);
        using Message received = await dealer.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("after"u8.ToArray(), received.Span.ToArray());
    }

    [Fact]
    public async Task A_STREAM_without_memory_sends_nothing_and_says_so_in_all_forms_of_send()
    {
        StreamSocket stream = _failing.Context.CreateStream();
        RawPeer peer = await _failing.ConnectAsync(stream.Bind("tcp://127.0.0.1:0"));
        uint id = await stream.NextConnectedAsync();

        Fail();
        Assert.False(stream.To(id).TrySend(_payload).Tell(out SendFailure error));
        Assert.Equal(SendFailure.NoMemory, error);
        Assert.Equal(0, stream.To(id).SendMany(new ReadOnlyMemory<byte>[] { _payload }));
        Assert.Equal(0, stream.Broadcast([id], _payload));
        AssertNoMemory(() => stream.To(id).Send(_payload));
        await AssertNoMemoryAsync(() => stream.To(id).SendAsync(_payload, Guard.Token));

        _failing.Pool.Allocating = null;
        Assert.True(stream.To(id).TrySend("after"u8));
        Assert.Equal("after"u8.ToArray(), await peer.ReadFrameAsync());
    }

    [Fact]
    public async Task A_builder_without_memory_for_a_part_keeps_the_parts_before_it()
    {
        using var message = new MessageBuilder(_failing.Pool);
        message.Add("first"u8);
        Fail();
        AssertNoMemory(() => message.Add(_payload));
        AssertNoMemory(() => message.AddSpace(Size));
        AssertNoMemory(() => message.GetMemory(Size));
        DealerSocket sender = _failing.Context.CreateDealer();
        DealerSocket receiver = _good.Context.CreateDealer();
        receiver.Connect(sender.Bind("tcp://127.0.0.1:*"));
        await sender.SendAsync(message.Add("second"u8), Guard.Token).Guarded();
        using Message received = await receiver.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(2, received.PartCount);
        Assert.Equal("second"u8.ToArray(), received[1].Span.ToArray());
    }

    [Fact]
    public async Task A_publisher_without_memory_for_one_of_several_subscribers_drops_and_counts_its_copy_alone()
    {
        PubSocket publisher = _failing.Context.CreatePub();
        string endpoint = publisher.Bind("tcp://127.0.0.1:*");
        SubSocket[] subscribers = [Subscribed(_good.Context, "a"), Subscribed(_good.Context, "")];
        Array.ForEach(subscribers, one => one.Connect(endpoint));
        await Guard.UntilAsync(() => publisher.TopicCount == 2, "both have subscribed");

        _failing.Pool.AllocateOnly(1);
        byte[] payload = new byte[9_000]; // Copied for each into a segment of its own.
        payload[0] = (byte)'a';
        Assert.True(publisher.TrySend(payload));
        _failing.Pool.Allocating = null;
        Assert.Equal(1, publisher.GetStatistics().DroppedAtContextLimit);
        publisher.Send("after"u8);
        int whole = 0;
        foreach (SubSocket one in subscribers)
        {
            byte[] first = await NextAsync(one);
            whole += first.Length == payload.Length ? 1 : 0;
            Assert.Equal("after"u8.ToArray(), first.Length == payload.Length ? await NextAsync(one) : first);
        }

        Assert.Equal(1, whole);
    }

    [Fact]
    public async Task A_publisher_without_memory_for_what_all_its_subscribers_share_sends_to_none()
    {
        PubSocket publisher = _failing.Context.CreatePub();
        string endpoint = publisher.Bind("tcp://127.0.0.1:*");
        SubSocket[] subscribers = [Subscribed(_good.Context, "a"), Subscribed(_good.Context, "")];
        Array.ForEach(subscribers, one => one.Connect(endpoint));
        await Guard.UntilAsync(() => publisher.TopicCount == 2, "both have subscribed");

        Fail();
        _payload[0] = (byte)'a';
        Assert.False(publisher.TrySend(_payload));
        AssertNoMemory(() => publisher.Send(_payload));
        Assert.Equal(0, publisher.GetStatistics().DroppedAtContextLimit);
        _failing.Pool.Allocating = null;
        publisher.Send("after"u8);
        foreach (SubSocket one in subscribers)
        {
            Assert.Equal("after"u8.ToArray(), await NextAsync(one));
        }
    }

    [Fact]
    public async Task A_message_for_which_a_ROUTER_has_no_memory_ends_that_connection_with_a_reason_and_no_other()
    {
        RouterSocket router = _failing.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandlerFailed);
        string endpoint = router.Bind("tcp://127.0.0.1:*");
        await using DealerSocket honest = _good.Context.CreateDealer();
        honest.Connect(endpoint);
        await honest.SendAsync("here"u8.ToArray(), Guard.Token).Guarded();
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();

        Fail();
        await using DealerSocket large = _good.Context.CreateDealer();
        large.Connect(endpoint);
        await large.SendAsync(_payload, Guard.Token).Guarded();
        AssertIsNoMemory(await monitor.ReadAsync(Guard.Token).Guarded());

        await honest.SendAsync("still here"u8.ToArray(), Guard.Token).Guarded();
        using Message received = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("still here"u8.ToArray(), received.Span.ToArray());
        Assert.Equal(0, honest.GetStatistics().DroppedMessages);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_frame_for_which_a_STREAM_has_no_memory_ends_that_connection_with_a_reason_and_no_other(bool push)
    {
        StreamSocket server = _failing.Context.CreateStream();
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandlerFailed);
        string endpoint = push ? server.Bind("tcp://127.0.0.1:0", TestHandler.Echo()) : server.Bind("tcp://127.0.0.1:0");
        RawPeer honest = await _failing.ConnectAsync(endpoint);
        StreamSocket client = _good.Context.CreateStream();
        uint large = await client.ConnectAsync(endpoint, Guard.Token).Guarded();

        Fail();
        await client.To(large).SendAsync(_payload, Guard.Token).Guarded();
        AssertIsNoMemory(await monitor.ReadAsync(Guard.Token).Guarded());

        await honest.SendFrameAsync(1, 2, 3);
        if (push)
        {
            Assert.Equal([1, 2, 3], await honest.ReadFrameAsync());
        }
        else
        {
            Assert.Equal([1, 2, 3], await NextDataAsync(server));
        }
    }

    private static async Task<byte[]> NextDataAsync(StreamSocket socket)
    {
        while (true)
        {
            using StreamMessage message = await socket.NextAsync();
            if (message.Kind == StreamMessageKind.Data)
            {
                return message.Payload.ToArray();
            }
        }
    }

    private static async Task<byte[]> NextAsync(SubSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return message.Span.ToArray();
    }

    private static void AssertIsNoMemory(SocketEvent told)
    {
        Assert.Equal(SocketEventTypes.Disconnected, told.Type);
        Assert.Equal((long)DisconnectReason.OutOfMemory, told.Value);
        Assert.Contains("no memory for a buffer", told.Detail, StringComparison.Ordinal);
    }

    private static void AssertNoMemory(Action send) => Assert.Equal(ZlinkError.NoMemory, Assert.Throws<ZlinkException>(send).Error);

    private static async Task AssertNoMemoryAsync(Func<ValueTask> send) =>
        Assert.Equal(ZlinkError.NoMemory, (await Assert.ThrowsAsync<ZlinkException>(async () => await send().Guarded())).Error);

    private static SubSocket Subscribed(ZlinkContext context, string topic = "")
    {
        SubSocket socket = context.CreateSub();
        socket.Subscribe(topic);
        return socket;
    }

    private void Fail() => _failing.Pool.AllocateOnly(0, TooLarge);
}
