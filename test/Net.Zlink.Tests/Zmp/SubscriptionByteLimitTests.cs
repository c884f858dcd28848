using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What the topics of all subscribers may take up together.</summary>
public sealed class SubscriptionByteLimitTests
{
    private const int Limit = 1024 * 1024;

    // 640 and twice its four bytes.
    private const int ChargeOfOne = 648;

    // More than the 16 KiB that nobody counts, and far less than an equal part of the limit.
    private const int Few = 100;

    private static readonly byte[] s_id = "P"u8.ToArray();

    [Fact]
    public void SubscriptionByteLimit_is_a_quarter_of_the_memory_unless_it_is_set()
    {
        Assert.Equal(GC.GetGCMemoryInfo().TotalAvailableMemoryBytes / 4, new ZlinkContextOptions().SubscriptionByteLimit);
        Assert.Null(new ZlinkContextOptions { SubscriptionByteLimit = null }.SubscriptionByteLimit);
        Assert.Throws<ArgumentOutOfRangeException>(new ZlinkContextOptions { SubscriptionByteLimit = 0 }.Validate);
    }

    [Theory]
    [InlineData("PUB")]
    [InlineData("XPUB")]
    [InlineData("XPUB, manual")]
    public async Task A_subscriber_of_far_too_many_loses_its_connection_at_the_limit_and_nobody_else_does(string type)
    {
        await using var fixture = new ContextFixture(subscriptionByteLimit: Limit);
        ZmpSocket publisher = type.StartsWith('X')
            ? fixture.Context.CreateXPub(new XPubOptions { RoutingId = s_id, Manual = type.EndsWith("manual", StringComparison.Ordinal) })
            : fixture.Context.CreatePub(new PubOptions { RoutingId = s_id });
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        RawPeer honest = await GreetAsync(fixture, endpoint);
        await honest.SendAsync(Topics(0, Few));
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == Few * ChargeOfOne);
        RawPeer greedy = await GreetAsync(fixture, endpoint);
        await greedy.SendAsync(Topics(0, 3 * Limit / ChargeOfOne));
        Task drained = publisher is XPubSocket notices ? TakeAllAsync(notices, Guard.Token) : Task.CompletedTask;

        SocketEvent told = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(4, told.ToNativeValue());
        Assert.Contains("topics exceed its share", told.Detail, StringComparison.Ordinal);
        Assert.Contains("SubscriptionByteLimit", told.Detail, StringComparison.Ordinal);
        // Nothing behind it: after an ERROR a native peer would not come again.
        Assert.Equal(ZmpFixture.Greeting((byte)(publisher is PubSocket ? ZmpSocketType.Pub : ZmpSocketType.XPub), s_id),
            await greedy.ReadToEndAsync());
        greedy.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == Few * ChargeOfOne);
        await honest.SendAsync(Topics(Few, 1));
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == (Few + 1) * ChargeOfOne);
        honest.Dispose();
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == 0);
        publisher.Dispose();
        await drained;
    }

    [Fact]
    public async Task A_send_that_waits_for_a_subscribers_room_goes_on_when_that_loses_its_topics()
    {
        // Its connection's end takes as long as the peer likes.
        await using var fixture = new ContextFixture(time: new ManualTimeProvider(), subscriptionByteLimit: Limit);
        PubSocket publisher = fixture.Context.CreatePub(
            new PubOptions { NoDrop = true, SendHighWaterMark = 1, Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromHours(1) });
        RawListener listener = fixture.Listen();
        publisher.Connect(listener.Endpoint);
        RawPeer peer = fixture.Own(await listener.AcceptAsync());
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Sub, []));
        await peer.SendAsync(ZmpFixture.Frame((byte)ZmpFlags.Subscribe, []));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        byte[] large = new byte[1024 * 1024];
        while (publisher.TrySend(large))
        {
            await fixture.SettleAsync(); // Until the systems take no more either.
        }

        Task waiting = publisher.SendAsync(large, Guard.Token).AsTask();
        Assert.False(waiting.IsCompleted);
        await peer.SendAsync(Topics(0, (Limit / ChargeOfOne) + 1));
        await waiting.Guarded();
        Assert.Equal(0, publisher.TopicCount);
    }

    [Fact]
    public async Task A_topic_subscribed_twice_is_charged_once_and_a_cancelled_one_no_more()
    {
        await using var fixture = new ContextFixture(subscriptionByteLimit: Limit);
        PubSocket publisher = fixture.Context.CreatePub();
        RawPeer peer = await GreetAsync(fixture, publisher.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(Topics(0, Few));
        await peer.SendAsync(Topics(0, Few));
        await peer.SendAsync(Topics(Few, Few));
        await fixture.UntilAsync(() => publisher.TopicCount == 2 * Few);
        Assert.Equal(2 * Few * ChargeOfOne, fixture.Context.GetStatistics().SubscriptionBytes);
        await peer.SendAsync(Topics(0, Few, ZmpFlags.Cancel));
        await fixture.UntilAsync(() => publisher.TopicCount == Few);
        Assert.Equal(Few * ChargeOfOne, fixture.Context.GetStatistics().SubscriptionBytes);
    }

    [Fact]
    public async Task A_subscriber_that_repeats_its_topics_at_the_limit_stays_connected()
    {
        const int Most = (Limit / ChargeOfOne) - 1;
        await using var fixture = new ContextFixture(subscriptionByteLimit: Limit);
        PubSocket publisher = fixture.Context.CreatePub();
        RawPeer peer = await GreetAsync(fixture, publisher.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(Topics(0, Most));
        await peer.SendAsync(Topics(Most, 1));
        await peer.SendAsync(Topics(0, Most + 1));
        await peer.SendAsync(Topics(1, 1, ZmpFlags.Cancel)); // Behind them.
        await fixture.UntilAsync(() => publisher.TopicCount == Most);
        Assert.Equal((long)Most * ChargeOfOne, fixture.Context.GetStatistics().SubscriptionBytes);
        await peer.SendAsync(Topics(Most + 1, 1)); // One in its place.
        await fixture.UntilAsync(() => publisher.TopicCount == Most + 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_subscriber_of_too_many_comes_again_and_is_served_once_it_has_cancelled_some(bool publisherConnects)
    {
        await using var fixture = new ContextFixture(subscriptionByteLimit: Limit);
        await using var far = new ContextFixture();
        var options = new PubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) };
        PubSocket publisher = fixture.Context.CreatePub(options);
        SubSocket subscriber = far.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        const int Many = (Limit / ChargeOfOne) + 100;
        for (int i = 0; i < Many; i++)
        {
            subscriber.Subscribe(BitConverter.GetBytes(i));
        }

        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.Disconnected);
        if (publisherConnects)
        {
            publisher.Connect(subscriber.Bind("tcp://127.0.0.1:0"));
        }
        else
        {
            subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        }

        Assert.Contains("SubscriptionByteLimit", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
        for (int i = Few; i < Many; i++)
        {
            subscriber.Unsubscribe(BitConverter.GetBytes(i));
        }

        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == Few * ChargeOfOne
            && publisher.TopicCount == Few);
        publisher.Send(BitConverter.GetBytes(1));
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(BitConverter.GetBytes(1), message.Span);
    }

    private static byte[] Topics(int first, int count, ZmpFlags kind = ZmpFlags.Subscribe) =>
        [.. Enumerable.Range(first, count).SelectMany(i => ZmpFixture.Frame((byte)kind, BitConverter.GetBytes(i)))];

    private static async Task<RawPeer> GreetAsync(ContextFixture fixture, string endpoint)
    {
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(ZmpFixture.Greeting((byte)ZmpSocketType.Sub, []));
        return peer;
    }

    /// <summary>The notices are not to be what stops the peer.</summary>
    private static async Task TakeAllAsync(XPubSocket socket, CancellationToken cancellation)
    {
        try
        {
            while (true)
            {
                using Message notice = await socket.ReceiveAsync(cancellation);
            }
        }
        catch (ObjectDisposedException)
        {
            // The test is over.
        }
    }
}
