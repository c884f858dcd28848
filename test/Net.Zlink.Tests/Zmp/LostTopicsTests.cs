using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A subscriber with very many topics leaves an XPUB.</summary>
public sealed class LostTopicsTests
{
    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Cancel_notifications_of_a_lost_subscriber_are_received_one_by_one_and_stored_packed(bool isManual)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Manual = isManual, ReceiveHighWaterMark = null });
        publisher.Bind("inproc://topics");
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect("inproc://topics");

        // In ascending order, as they will be read; some are longer than what others share.
        string[] topics = [.. Enumerable.Range(0, 5_000)
            .Select(static i => string.Create(CultureInfo.InvariantCulture, $"{i:D5}") + new string('x', i % 500 == 0 ? 5_000 : i % 20))];
        foreach (string topic in topics)
        {
            subscriber.Subscribe(Encoding.ASCII.GetBytes(topic));
            using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(1, notice.Span[0]);
        }

        long before = fixture.Pool.GetOutstanding().Count;
        subscriber.Dispose();
        await fixture.UntilAsync(() => publisher.PeerCount == 0);
        Assert.InRange(fixture.Pool.GetOutstanding().Count - before, 1, topics.Length / 20);
        foreach (string topic in topics)
        {
            using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal("\0" + topic, Encoding.ASCII.GetString(notice.Span));
        }

        Assert.False(publisher.TryReceive(out _));
        Assert.Equal(0, publisher.TopicCount);
    }

    [Theory]
    [InlineData("inproc://come and go")]
    [InlineData("tcp://127.0.0.1:0")]
    public async Task While_subscribers_of_the_same_topics_come_and_leave_each_topic_is_told_as_wanted_and_unwanted_in_turn(string endpoint)
    {
        const int Comers = 3;
        const int Times = 10;
        const int Topics = 300;
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = null });
        string bound = publisher.Bind(endpoint);
        SubSocket all = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = null });
        all.Subscribe("");
        all.Connect(bound);
        using (await publisher.ReceiveAsync(Guard.Token).Guarded())
        {
            // of everything
        }

        Task[] coming = [.. Enumerable.Range(0, Comers)
            .Select(seed => Task.Run(() => ComeAndGo(fixture.Context, bound, Times, Topics, seed), Guard.Token))];
        Task over = Task.WhenAll(coming);
        HashSet<string> wanted = new(StringComparer.Ordinal);
        int sent = 0;
        long last = TimeProvider.System.GetTimestamp();
        while (!over.IsCompleted || publisher.PeerCount > 1 || publisher.TopicCount > 1 || publisher.CanReceive || wanted.Count > 0)
        {
            Assert.True(TimeProvider.System.GetElapsedTime(last) < Guard.Limit,
                $"{wanted.Count} topics that nobody has were not told as unwanted");
            publisher.Send(Topic(sent++ % Topics));
            while (publisher.TryReceive(out Message notice))
            {
                last = TimeProvider.System.GetTimestamp();
                using (notice)
                {
                    string topic = Encoding.ASCII.GetString(notice.Span[1..]);
                    Assert.True(notice.Span[0] == 1 ? wanted.Add(topic) : wanted.Remove(topic), $"'{topic}' was told twice");
                }
            }

            await Task.Yield();
        }

        await over.Guarded();
        for (int i = 0; i < sent; i++)
        {
            using Message message = await all.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(Topic(i % Topics), message.Span.ToArray());
        }
    }

    private static byte[] Topic(int i) => Encoding.ASCII.GetBytes(string.Create(CultureInfo.InvariantCulture, $"topic {i}"));

    private static void ComeAndGo(ZlinkContext context, string endpoint, int times, int topics, int seed)
    {
        var random = new Random(seed);
        for (int i = 0; i < times; i++)
        {
            using SubSocket subscriber = context.CreateSub(new SubOptions { Linger = TimeSpan.FromSeconds(random.Next(2)) });
            subscriber.Connect(endpoint);
            for (int topic = random.Next(10); topic < topics; topic += random.Next(1, 4))
            {
                subscriber.Subscribe(Topic(topic));
            }
        }
    }
}
