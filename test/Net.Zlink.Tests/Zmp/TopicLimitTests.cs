using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How many topics one subscriber may hold at a publisher.</summary>
public sealed class TopicLimitTests
{
    // 640 bytes and twice the topic's four are counted for each: 64 MiB, the default, pay for 103,563.
    private const int ChargeOfOne = 648;
    private const int Many = 110_000;

    [Fact]
    public async Task Without_a_receive_byte_limit_there_is_none()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = null });
        SubSocket subscriber = fixture.Context.CreateSub();
        Subscribe(subscriber, Many);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));

        await fixture.UntilAsync(() => publisher.TopicCount == Many);
    }

    [Fact]
    public async Task In_one_process_there_is_none()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveByteLimit = 1 });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind("inproc://topics"));

        subscriber.Subscribe("a");

        Assert.Equal(1, publisher.TopicCount);
    }

    [Fact]
    public async Task The_limit_may_be_reached_and_not_passed()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 2_000 * ChargeOfOne });
        SubSocket subscriber = fixture.Context.CreateSub();
        Subscribe(subscriber, 2_000);

        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.Disconnected);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => publisher.TopicCount == 2_000 || monitor.TryRead(out _));
        Assert.Equal(2_000, publisher.TopicCount);
        subscriber.Subscribe(BitConverter.GetBytes(2_000));
        Assert.Contains("too many topics", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_small_receive_byte_limit_does_not_end_subscribers_of_some_hundred_topics(bool isExtended)
    {
        // 1 MiB of topics is anybody's.
        const int Topics = 1024 * 1024 / ChargeOfOne;
        await using var fixture = new ContextFixture();
        ZmpSocket publisher = isExtended ? fixture.Context.CreateXPub(new XPubOptions { ReceiveByteLimit = 2_000 })
            : fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 2_000 });
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.Disconnected);
        string endpoint = publisher.Bind("tcp://127.0.0.1:0");
        for (int i = 0; i < 3; i++)
        {
            SubSocket subscriber = fixture.Context.CreateSub();
            Subscribe(subscriber, Topics);
            subscriber.Connect(endpoint);
        }

        int notices = 0;
        while (publisher is XPubSocket xpub && notices < Topics)
        {
            using Message notice = await xpub.ReceiveAsync(Guard.Token).Guarded();
            notices++;
        }

        await fixture.UntilAsync(() => fixture.Context.GetStatistics().SubscriptionBytes == 3L * Topics * ChargeOfOne);
        Assert.False(monitor.TryRead(out _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_subscriber_of_too_many_is_told_why_and_comes_again_once_the_publisher_allows_more(bool isExtended)
    {
        await using var fixture = new ContextFixture();
        ZmpSocket publisher = isExtended ? fixture.Context.CreateXPub(new XPubOptions { ReceiveByteLimit = 1024 * 1024 })
            : fixture.Context.CreatePub(new PubOptions { ReceiveByteLimit = 1024 * 1024 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        Subscribe(subscriber, 2_000);

        using EventReader here = publisher.ReadEvents();
        using EventReader there = subscriber.ReadEvents();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));

        Assert.Contains("too many topics", (await here.NextAsync(SocketEventTypes.Disconnected)).Detail, StringComparison.Ordinal);
        Assert.Contains("ReceiveByteLimit", (await there.NextAsync(SocketEventTypes.Disconnected)).Detail, StringComparison.Ordinal);
        publisher.Options.ReceiveByteLimit = null;
        await fixture.UntilAsync(() => ((publisher as PubSocket)?.TopicCount ?? ((XPubSocket)publisher).TopicCount) == 2_000);
    }

    private static void Subscribe(SubSocket subscriber, int topics)
    {
        for (int i = 0; i < topics; i++)
        {
            subscriber.Subscribe(BitConverter.GetBytes(i));
        }
    }
}
