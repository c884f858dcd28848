using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/patterns.md about subscribers that come late, compiled and run.</summary>
public sealed class FeedPatternSnippets
{
    public static TheoryData<string> Endpoints => ["tcp://127.0.0.1:0", "inproc://feed"];

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_late_subscriber_gets_the_newest_value_of_each_topic_and_then_every_later_one(string endpoint)
    {
        await using var fixture = new ContextFixture();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        (LastValueFeed feed, XPubSocket publisher, Task answering) = Start(fixture, end.Token);
        string bound = publisher.Bind(endpoint);
        feed.Publish("EUR.a", "1"u8.ToArray());
        feed.Publish("EUR.a", "2"u8.ToArray());
        feed.Publish("EUR.b", "3"u8.ToArray());
        feed.Publish("USD.a", "4"u8.ToArray());

        SubSocket late = fixture.Context.CreateSub();
        late.Subscribe("EUR.");
        late.Connect(bound);
        string[] newest = [await NextAsync(late), await NextAsync(late)];
        Assert.Equal("EUR.a 2, EUR.b 3", string.Join(", ", newest.Order(StringComparer.Ordinal)));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        feed.Publish("EUR.a", "5"u8.ToArray());
        Assert.Equal("EUR.a 5", await NextAsync(late));

        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => answering.Guarded());
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task A_subscriber_that_unsubscribes_or_leaves_is_sent_nothing_more(string endpoint)
    {
        await using var fixture = new ContextFixture();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        (LastValueFeed feed, XPubSocket publisher, Task answering) = Start(fixture, end.Token);
        string bound = publisher.Bind(endpoint);
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("EUR.");
        subscriber.Subscribe("USD.");
        subscriber.Connect(bound);
        await fixture.UntilAsync(() => publisher.TopicCount == 2);
        subscriber.Unsubscribe("EUR.");
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        feed.Publish("EUR.a", "1"u8.ToArray());
        feed.Publish("USD.a", "2"u8.ToArray());
        Assert.Equal("USD.a 2", await NextAsync(subscriber));
        Assert.Equal(1, publisher.GetStatistics().UnmatchedMessages);
        subscriber.Dispose();
        await fixture.UntilAsync(() => publisher.TopicCount == 0);

        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => answering.Guarded());
    }

    private static (LastValueFeed Feed, XPubSocket Publisher, Task Answering) Start(ContextFixture fixture, CancellationToken cancellation)
    {
        ZlinkContext context = fixture.Context;
        XPubSocket publisher = context.CreateXPub(new XPubOptions { Manual = true });
        var feed = new LastValueFeed(publisher);
        return (feed, publisher, feed.AnswerSubscribersAsync(cancellation));
    }

    private static async Task<string> NextAsync(SubSocket subscriber)
    {
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return $"{message.GetString()} {message.GetString(1)}";
    }

    public sealed class LastValueFeed(XPubSocket publisher)
    {
        private readonly Lock _publishing = new();
        private readonly Dictionary<string, ReadOnlyMemory<byte>> _newest = [];

        public void Publish(string topic, ReadOnlyMemory<byte> value)
        {
            using var message = new MessageBuilder();
            message.Add(topic).Add(value.Span);
            lock (_publishing)
            {
                _newest[topic] = value;
                publisher.Send(message);
            }
        }

        public async Task AnswerSubscribersAsync(CancellationToken cancellation)
        {
            await foreach (Message notice in publisher.ReceiveAllAsync(cancellation))
            {
                using (notice)
                {
                    Answer(in notice);
                }
            }
        }

        private void Answer(in Message notice)
        {
            if (notice.PartCount != 1 || notice.Span.IsEmpty || notice.Span[0] > 1)
            {
                return; // Not a notice: an XSUB has sent data.
            }

            ReadOnlySpan<byte> prefix = notice.Span[1..];
            lock (_publishing)
            {
                if (notice.Span[0] == 0) // The subscriber has unsubscribed, or has left.
                {
                    publisher.Unsubscribe(in notice, prefix);
                    return;
                }

                foreach ((string topic, ReadOnlyMemory<byte> value) in _newest)
                {
                    if (Encoding.UTF8.GetBytes(topic).AsSpan().StartsWith(prefix))
                    {
                        using var message = new MessageBuilder();
                        message.Add(topic).Add(value.Span);
                        publisher.TrySendTo(in notice, message);
                    }
                }

                publisher.Subscribe(in notice, prefix);
            }
        }
    }
}
