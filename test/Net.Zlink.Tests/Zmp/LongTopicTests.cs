using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A topic that is longer than the publisher's MaxMessageSize.</summary>
public sealed class LongTopicTests
{
    private const int Limit = 100;

    [Theory]
    [InlineData("tcp://127.0.0.1:*", Limit + 1)]
    [InlineData("tcp://127.0.0.1:*", 1_000_000)]
    [InlineData("ws://127.0.0.1:*", 1_000_000)]
    [SlowInlineData("ipc://*", 9_000)]
    public async Task A_topic_over_the_publishers_limit_is_refused_alone_with_an_event_and_the_others_hold(string endpoint, int length)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { MaxMessageSize = Limit });
        SubSocket subscriber = fixture.Context.CreateSub();
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.SubscriptionRefused | SocketEventTypes.Disconnected);
        byte[] longTopic = new byte[length];
        longTopic.AsSpan().Fill((byte)'m');
        subscriber.Subscribe("a");
        subscriber.Subscribe(longTopic);
        subscriber.Subscribe("z");
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.TopicCount == 2);
        SocketEvent refused = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal((SocketEventTypes.SubscriptionRefused, length), (refused.Type, refused.Value));
        Assert.Contains("MaxMessageSize", refused.Detail, StringComparison.Ordinal);

        subscriber.Unsubscribe(longTopic); // Nothing of it was taken, and nothing is told.
        subscriber.Subscribe("y");
        await fixture.UntilAsync(() => publisher.TopicCount == 3);
        publisher.Send("z1");
        publisher.Send(longTopic.AsSpan(0, Limit));
        publisher.Send("a1");
        Assert.Equal("z1", await TextAsync(subscriber));
        Assert.Equal("a1", await TextAsync(subscriber));
        Assert.False(monitor.TryRead(out _));
        Assert.Equal(1, publisher.PeerCount);
    }

    [Fact]
    public async Task A_message_over_the_limit_still_ends_the_connection_of_a_subscriber()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { MaxMessageSize = Limit });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        using EventReader monitor = publisher.ReadEvents(SocketEventTypes.Disconnected);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:*"));
        subscriber.Send(new byte[Limit + 1].Select(static _ => (byte)'x').ToArray());
        Assert.Contains("body too large", (await monitor.ReadAsync(Guard.Token).Guarded()).Detail, StringComparison.Ordinal);
    }

    private static async Task<string> TextAsync(SubSocket subscriber)
    {
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return message.GetString();
    }
}
