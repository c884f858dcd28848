using System.Text;
using FsCheck;
using FsCheck.Fluent;
using Xunit;

namespace Net.Zlink.Services.Tests;

/// <summary>The topic index and its filters against a model: a list of (subscriber, text, prefix).</summary>
public class TopicIndexModelTests
{
    private static readonly string[] Texts = ["", "a", "ab", "abc", "b", "ba", "a*", "zone:1", "zone:12"];

    [Fact]
    public void Takers_and_filters_are_those_of_a_list_of_subscriptions() => Check.QuickThrowOnFailure(Prop.ForAll(
        Gen.Choose(0, 2).SelectMany(kind => Gen.Choose(0, 2).SelectMany(subscriber => Gen.Elements(Texts)
            .SelectMany(text => Gen.Elements(false, true).Select(isPrefix => (kind, subscriber, text, isPrefix))))).ListOf().ToArbitrary(),
        static steps =>
        {
            Dictionary<string, int> onWire = new(StringComparer.Ordinal);
            var index = new TopicIndex(
                text => onWire[Encoding.UTF8.GetString(text)] = onWire.GetValueOrDefault(Encoding.UTF8.GetString(text)) + 1,
                text => onWire[Encoding.UTF8.GetString(text)]--);
            SubscriberQueue[] queues = [NewQueue(), NewQueue(), NewQueue()];
            HashSet<(int Subscriber, string Text, bool IsPrefix)> model = [];
            foreach ((int kind, int subscriber, string text, bool isPrefix) in steps)
            {
                if (kind == 2 && text.Length == 0)
                {
                    index.RemoveAll(queues[subscriber]);
                    model.RemoveWhere(held => held.Subscriber == subscriber);
                }
                else if (kind != 0)
                {
                    Assert.Equal(model.Add((subscriber, text, isPrefix)), index.Add(queues[subscriber], Bytes(text), isPrefix));
                }
                else
                {
                    Assert.Equal(model.Remove((subscriber, text, isPrefix)), index.Remove(queues[subscriber], Bytes(text), isPrefix));
                }

                Assert.Equal(model.Select(static held => held.Text).Distinct(StringComparer.Ordinal).Order(StringComparer.Ordinal),
                    onWire.Where(static filter => filter.Value > 0).Select(static filter => filter.Key).Order(StringComparer.Ordinal));
                Assert.All(onWire.Values, static count => Assert.InRange(count, 0, 1)); // Counted: each filter once.
                foreach (string topic in Texts.Append("abcd").Where(static topic => topic.Length > 0))
                {
                    HashSet<int> expected = [.. model.Where(held => held.IsPrefix
                        ? topic.StartsWith(held.Text, StringComparison.Ordinal) : string.Equals(topic, held.Text, StringComparison.Ordinal))
                        .Select(static held => held.Subscriber)];
                    TopicEntry entry = index.Find(Bytes(topic));
                    Assert.Equal(expected.Count, entry.Subscribers.Length); // One copy per subscriber.
                    Assert.Equal(expected, entry.Subscribers.Select(subscriber => Array.IndexOf(queues, subscriber)).ToHashSet());
                    Assert.Equal(topic, entry.Text);
                    Assert.Equal((topic, entry.Subscribers), (index.FindOwn(Bytes(topic)).Text, index.FindOwn(Bytes(topic)).Subscribers));
                }
            }
        }));

    [Fact]
    public void Topics_beyond_those_that_are_remembered_are_found_as_well()
    {
        var index = new TopicIndex(static _ => { }, static _ => { });
        SubscriberQueue queue = NewQueue();
        index.Add(queue, "topic:"u8, isPrefix: true);
        for (int round = 0; round < 2; round++)
        {
            for (int i = 0; i < 25_000; i++)
            {
                Assert.Same(queue, Assert.Single(index.Find(Bytes($"topic:{i}")).Subscribers));
            }
        }

        Assert.Empty(index.Find(Bytes("other")).Subscribers);
        Assert.Single(index.Find(Bytes("topic:" + new string('x', 10_000))).Subscribers);
    }

    [Fact]
    public void More_topics_than_are_remembered_cost_no_allocation_each()
    {
        const int Topics = 50_000;
        var index = new TopicIndex(static _ => { }, static _ => { });
        SubscriberQueue[] queues = [NewQueue(), NewQueue()];
        index.Add(queues[0], "topic:"u8, isPrefix: true);
        index.Add(queues[1], "topic:1"u8, isPrefix: true);
        byte[][] topics = [.. Enumerable.Range(0, Topics).Select(static i => Bytes($"topic:{i}"))];
        long matches = 0;

        // What the runtime allocates of its own on this thread, as with tiered code, comes now and then: one round with little is enough,
        // and an allocation for each topic would be in all of them.
        long least = long.MaxValue;
        int rounds = 0;
        for (; rounds < 20 && least >= Topics; rounds++)
        {
            long before = GC.GetAllocatedBytesForCurrentThread();
            FindAll();
            least = Math.Min(least, GC.GetAllocatedBytesForCurrentThread() - before);
        }

        Assert.InRange(least, 0, Topics - 1);
        Assert.Equal(rounds * (Topics + 11_111), matches);

        void FindAll() => Array.ForEach(topics, topic => matches += index.Find(topic).Subscribers.Length);
    }

    [Fact]
    public void A_topic_that_comes_often_gets_a_place_among_more_topics_than_are_remembered()
    {
        var index = new TopicIndex(static _ => { }, static _ => { });
        for (int i = 0; i < 25_000; i++)
        {
            index.Find(Bytes($"other:{i}"));
        }

        bool isKnown = false;
        for (int i = 0; i < 2_000; i++)
        {
            isKnown |= string.Equals(index.Find("often"u8).Text, "often", StringComparison.Ordinal);
        }

        Assert.True(isKnown);
        Assert.Empty(index.Find("other:24999"u8).Bytes);
    }

    [Fact]
    public void A_subscriber_that_has_ended_takes_no_further_subscription()
    {
        var index = new TopicIndex(static _ => Assert.Fail("no filter"), static _ => { });
        SubscriberQueue queue = NewQueue();
        queue.Close();
        Assert.False(index.Add(queue, "a"u8, isPrefix: false));
        Assert.Equal(0, index.FilterCount);
    }

    private static SubscriberQueue NewQueue() => new(new SpotSubscriberOptions(), static _ => { });

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
