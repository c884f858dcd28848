using System.Globalization;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Publishing;

/// <summary>A publisher with stored values, seen by its subscribers.</summary>
public sealed class LastValuePublisherTests : IAsyncDisposable
{
    private readonly ContextFixture _fixture = new();

    public static TheoryData<string> Endpoints => ["tcp://127.0.0.1:*", "inproc://last-values"];

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_late_subscriber_gets_the_newest_value_of_each_topic_and_then_every_later_one(string endpoint)
    {
        await using var publisher = new LastValuePublisher(_fixture.Context);
        string bound = publisher.Bind(endpoint);
        publisher.Publish("EUR.a", "1"u8);
        publisher.Publish("EUR.a", "2"u8);
        publisher.Publish("EUR.b", "3"u8);
        publisher.Publish("USD.a", "4"u8);
        SubSocket late = Connect(bound, "EUR.");
        Assert.Equal(["EUR.a 2", "EUR.b 3"], [await NextAsync(late), await NextAsync(late)], StringComparer.Ordinal);
        publisher.Publish("EUR.a", "5"u8);
        Assert.Equal("EUR.a 5", await NextAsync(late));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_subscription_that_another_one_covers_brings_no_value_twice(string endpoint)
    {
        await using var publisher = new LastValuePublisher(_fixture.Context);
        string bound = publisher.Bind(endpoint);
        publisher.Publish("ab", "1"u8);
        publisher.Publish("ac", "2"u8);
        SubSocket subscriber = Connect(bound, "ab");
        Assert.Equal("ab 1", await NextAsync(subscriber));
        subscriber.Subscribe("a");
        Assert.Equal("ac 2", await NextAsync(subscriber));
        subscriber.Subscribe("a");
        subscriber.Subscribe("abc");
        subscriber.Subscribe("~");
        publisher.Publish("~", "end"u8);
        Assert.Equal("~ end", await NextAsync(subscriber));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_subscriber_that_unsubscribes_gets_nothing_more_and_a_fresh_value_when_it_subscribes_again(string endpoint)
    {
        await using var publisher = new LastValuePublisher(_fixture.Context);
        string bound = publisher.Bind(endpoint);
        publisher.Publish("a", "1"u8);
        SubSocket subscriber = Connect(bound, "a");
        Assert.Equal("a 1", await NextAsync(subscriber));
        await _fixture.UntilAsync(() => publisher.Socket.TopicCount == 1);
        subscriber.Unsubscribe("a");
        await _fixture.UntilAsync(() => publisher.Socket.TopicCount == 0);
        publisher.Publish("a", "2"u8);
        publisher.Publish("a", "3"u8);
        subscriber.Subscribe("a");
        Assert.Equal("a 3", await NextAsync(subscriber));
        subscriber.Dispose();
        await _fixture.UntilAsync(() => publisher.Socket.TopicCount == 0);
    }

    [Fact]
    public async Task A_removed_topic_is_not_sent_to_later_subscribers()
    {
        await using var publisher = new LastValuePublisher(_fixture.Context);
        string bound = publisher.Bind("tcp://127.0.0.1:*");
        publisher.Publish("a", "1"u8);
        publisher.Publish("b", "2"u8);
        Assert.True(publisher.Remove("a"));
        Assert.False(publisher.Remove("a"));
        Assert.Equal("b 2", await NextAsync(Connect(bound, "")));
        Assert.Equal((1, 66L), (publisher.TopicCount, publisher.StoredBytes));
    }

    [Fact]
    public async Task A_value_above_the_limits_is_neither_stored_nor_sent()
    {
        await using var publisher = new LastValuePublisher(_fixture.Context, new LastValueOptions { MaxTopics = 2, MaxBytes = 200 });
        SubSocket subscriber = Connect(publisher.Bind("tcp://127.0.0.1:*"), "");
        await _fixture.UntilAsync(() => publisher.Socket.TopicCount == 1);
        publisher.Publish("a", "1"u8);
        publisher.Publish("b", "2"u8);
        Assert.False(publisher.TryPublish("c"u8, "3"u8));
        Assert.False(publisher.TryPublish("a"u8, new byte[100]));
        InvalidOperationException refused = Assert.Throws<InvalidOperationException>(() => publisher.Publish("c", "3"u8));
        Assert.Contains("MaxTopics is 2", refused.Message, StringComparison.Ordinal);
        publisher.Publish("b", "4"u8);
        Assert.Equal(["a 1", "b 2", "b 4"],
            [await NextAsync(subscriber), await NextAsync(subscriber), await NextAsync(subscriber)], StringComparer.Ordinal);
        Assert.Throws<ArgumentOutOfRangeException>(() => new LastValuePublisher(_fixture.Context, new LastValueOptions { MaxTopics = 0 }));
        Assert.Throws<ArgumentOutOfRangeException>(() => new LastValuePublisher(_fixture.Context, new LastValueOptions { MaxBytes = 0 }));
    }

    [Fact]
    public async Task A_subscriber_without_room_for_the_stored_values_is_disconnected_and_counted()
    {
        await using var publisher = new LastValuePublisher(_fixture.Context, new LastValueOptions
        {
            Socket = { SendHighWaterMark = 3 },
        });
        string bound = publisher.Bind("inproc://small");
        for (int topic = 0; topic < 1_000; topic++)
        {
            publisher.Publish(topic.ToString("D4", CultureInfo.InvariantCulture), "x"u8);
        }

        SubSocket subscriber = _fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 3 });
        subscriber.Subscribe("");
        subscriber.Connect(bound);
        await _fixture.UntilAsync(() => publisher.IncompleteJoins > 0);
        Assert.Equal(0, publisher.Socket.TopicCount);
    }

    [Fact]
    public async Task Data_of_an_xsub_is_no_notice_and_disposal_ends_the_answering()
    {
        var publisher = new LastValuePublisher(_fixture.Context);
        XSubSocket subscriber = _fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("inproc://xsub"));
        subscriber.Send("data"u8);
        subscriber.Send([1, (byte)'a']);
        publisher.Publish("a", "1"u8);
        using (Message first = await subscriber.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("a", first.GetString());
        }

        await publisher.DisposeAsync().Guarded();
        await publisher.DisposeAsync().Guarded();
        Assert.Throws<ObjectDisposedException>(() => publisher.Publish("a", "2"u8));
    }

    [Fact]
    public async Task Publishing_a_topic_again_allocates_nothing()
    {
        await using var publisher = new LastValuePublisher(_fixture.Context);
        publisher.Bind("tcp://127.0.0.1:*");
        publisher.Publish("price.EUR", "1.0000"u8);
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int i = 0; i < 10_000; i++)
        {
            publisher.Publish("price.EUR", "1.0001"u8);
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 10_000);
    }

    private SubSocket Connect(string endpoint, string topic)
    {
        SubSocket subscriber = _fixture.Context.CreateSub();
        subscriber.Subscribe(topic);
        subscriber.Connect(endpoint);
        return subscriber;
    }

    private static async Task<string> NextAsync(SubSocket subscriber)
    {
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return $"{message.GetString()} {message.GetString(1)}";
    }
}
