using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Publishing;

/// <summary>SendMany of PUB and XPUB with a topic: messages of two parts.</summary>
public sealed class TopicBatchTests : IAsyncLifetime
{
    private readonly ContextFixture _fixture = new();

    public ValueTask InitializeAsync() => ValueTask.CompletedTask;

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Theory]
    [InlineData("tcp://127.0.0.1:*", 1)]
    [InlineData("tcp://127.0.0.1:*", 2)]
    [InlineData("inproc://batch", 1)]
    public async Task A_batch_under_a_topic_arrives_in_order_whatever_the_length_of_its_messages(string endpoint, int subscribers)
    {
        ReadOnlyMemory<byte>[] payloads = [.. Enumerable.Range(0, 200).Select(static i => (ReadOnlyMemory<byte>)Payload(i))];
        XPubSocket publisher = _fixture.Context.CreateXPub(new XPubOptions { Notices = SubscriptionNotices.AllSubscriptions })
            .BoundTo(endpoint);
        SubSocket[] all = [.. Enumerable.Range(0, subscribers).Select(_ => Subscribe(publisher))];
        for (int i = 0; i < subscribers; i++)
        {
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        Assert.Equal(payloads.Length, publisher.SendMany("price"u8, payloads));
        Assert.Equal(2, publisher.SendMany("other"u8, payloads.AsSpan(0, 2)));
        Assert.Equal(2, publisher.GetStatistics().UnmatchedMessages);
        foreach (SubSocket subscriber in all)
        {
            for (int i = 0; i < payloads.Length; i++)
            {
                using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal((2, "price"), (message.PartCount, message.GetString()));
                Assert.True(message[1].Span.SequenceEqual(payloads[i].Span), $"message {i}");
            }
        }
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_batch_for_a_full_subscriber_is_accepted_in_part_with_NoDrop_and_else_dropped_and_counted(bool noDrop)
    {
        PubSocket publisher = _fixture.Context.CreatePub(new PubOptions { NoDrop = noDrop, SendHighWaterMark = 10 });
        publisher.Bind("tcp://127.0.0.1:*");
        SubSocket subscriber = _fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 10 }).ConnectedTo(publisher.LastEndpoint);
        subscriber.Subscribe("price");
        await _fixture.UntilAsync(() => publisher.TopicCount == 1);
        ReadOnlyMemory<byte>[] payloads = new ReadOnlyMemory<byte>[64];
        Array.Fill(payloads, new byte[1000]);
        int sent = 0;
        while (publisher.GetStatistics() is { DroppedAtHighWaterMark: 0 })
        {
            int some = publisher.SendMany("price"u8, payloads);
            sent += some;
            if (some < payloads.Length)
            {
                Assert.True(noDrop);
                break;
            }
        }

        long dropped = publisher.GetStatistics().DroppedAtHighWaterMark;
        Assert.Equal(noDrop, dropped == 0);
        for (long i = dropped; i < sent; i++)
        {
            using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(1000, message[1].Length);
        }
    }

    // Some are empty, and some do not fit into a segment.
    private static byte[] Payload(int number) => Enumerable.Repeat((byte)number, number % 50 == 49 ? 20_000 : number % 7).ToArray();

    private SubSocket Subscribe(XPubSocket publisher)
    {
        SubSocket subscriber = _fixture.Context.CreateSub().ConnectedTo(publisher.LastEndpoint);
        subscriber.Subscribe("price");
        return subscriber;
    }
}
