using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A SUB that cancels a topic whose messages it has not read yet.</summary>
public sealed class CancelledTopicTests
{
    public static TheoryData<string> Endpoints =>
        [.. SlowTests.Some(["tcp://127.0.0.1:0", "ipc://*", "inproc://cancelled"], every: 2)];

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task Of_a_topic_that_was_cancelled_nothing_is_received_any_more(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PubSocket publisher, SubSocket subscriber) = await MeetAsync(fixture, endpoint, "a", "b");
        await PublishAsync(fixture, publisher, subscriber, "a1", "b1", "a2", "b2", "a3");
        subscriber.Unsubscribe("a"u8);
        Assert.Equal(["b1", "b2"], ReceiveAll(subscriber));
        SocketStatistics counters = subscriber.GetStatistics();
        Assert.Equal((5, 2, 3, 0), (counters.ReceivedMessages, counters.DeliveredMessages, counters.DroppedUnreadMessages,
            counters.UnreadMessages));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_topic_that_is_held_twice_stays_when_it_is_cancelled_once(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PubSocket publisher, SubSocket subscriber) = await MeetAsync(fixture, endpoint, "a");
        subscriber.Subscribe("a"u8);
        await PublishAsync(fixture, publisher, subscriber, "a1");
        subscriber.Unsubscribe("a"u8);
        Assert.Equal(["a1"], ReceiveAll(subscriber));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task Unread_messages_of_a_cancelled_topic_are_received_if_it_is_subscribed_again_before_the_receive(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PubSocket publisher, SubSocket subscriber) = await MeetAsync(fixture, endpoint, "a");
        await PublishAsync(fixture, publisher, subscriber, "a1");
        subscriber.Unsubscribe("a"u8);
        subscriber.Subscribe("a"u8);
        Assert.Equal(["a1"], ReceiveAll(subscriber));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task With_inverted_matching_nothing_is_received_of_a_topic_that_is_subscribed_to(string endpoint)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { InvertMatching = true });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { InvertMatching = true });
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        await PublishAsync(fixture, publisher, subscriber, "a1", "b1");
        subscriber.Subscribe("a"u8);
        Assert.Equal(["b1"], ReceiveAll(subscriber));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_poller_does_not_wake_for_what_is_not_wanted_any_more(string endpoint)
    {
        await using var fixture = new ContextFixture();
        (PubSocket publisher, SubSocket subscriber) = await MeetAsync(fixture, endpoint, "a");
        await PublishAsync(fixture, publisher, subscriber, "a1", "a2");
        using var poller = new SocketPoller();
        poller.Add(subscriber, PollEvents.In);
        var ready = new PollResult[1];
        Assert.Equal(1, poller.Poll(ready, TimeSpan.Zero));
        subscriber.Unsubscribe("a"u8);
        Assert.Equal(0, poller.Poll(ready, TimeSpan.Zero));
    }

    private static async Task<(PubSocket Publisher, SubSocket Subscriber)> MeetAsync(
        ContextFixture fixture, string endpoint, params string[] topics)
    {
        PubSocket publisher = fixture.Context.CreatePub();
        SubSocket subscriber = fixture.Context.CreateSub();
        Array.ForEach(topics, topic => subscriber.Subscribe(Encoding.ASCII.GetBytes(topic)));
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.TopicCount == topics.Length);
        return (publisher, subscriber);
    }

    /// <summary>Publishes, and waits until all of it lies unread.</summary>
    private static async Task PublishAsync(ContextFixture fixture, PubSocket publisher, SubSocket subscriber, params string[] texts)
    {
        Array.ForEach(texts, text => publisher.Send(Encoding.ASCII.GetBytes(text)));
        await fixture.UntilAsync(() => subscriber.GetStatistics().UnreadMessages == texts.Length);
    }

    private static List<string> ReceiveAll(SubSocket subscriber)
    {
        List<string> texts = [];
        while (subscriber.TryReceive(out Message message))
        {
            texts.Add(Encoding.ASCII.GetString(message.Span));
            message.Dispose();
        }

        return texts;
    }
}
