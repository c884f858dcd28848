using System.Globalization;
using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What an XSUB tells an XPUB: topics, of which the publisher's application gets notices, and messages.</summary>
public sealed class UpstreamOrderTests
{
    private const int Rounds = 50;

    public static TheoryData<string> Endpoints =>
        [.. SlowTests.Some(["tcp://127.0.0.1:0", "ipc://*", "inproc://upstream"], every: 2)];

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task Topics_and_messages_of_a_peer_are_received_in_the_order_in_which_it_sent_them(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        string[] sent = SendAll(subscriber, 'p');
        Assert.Equal(sent, await ReceiveAllAsync(publisher, sent.Length));
    }

    [Fact]
    public async Task Messages_sent_before_an_inproc_publisher_binds_stay_in_order()
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect("inproc://later");
        string[] messages = [.. Enumerable.Range(0, Rounds).Select(static i => $"m{i}")];
        Array.ForEach(messages, message => subscriber.Send(Encoding.ASCII.GetBytes(message)));
        XPubSocket publisher = fixture.Context.CreateXPub();
        publisher.Bind("inproc://later");
        string[] sent = [.. messages, .. SendAll(subscriber, 'p')];
        Assert.Equal(sent, await ReceiveAllAsync(publisher, sent.Length));
    }

    [Theory]
    [MemberData(nameof(Endpoints))]
    public async Task Of_several_peers_at_once_each_ones_order_is_kept(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        string bound = publisher.Bind(endpoint);
        XSubSocket[] subscribers = [.. "pqrs".Select(_ => fixture.Context.CreateXSub())];
        Array.ForEach(subscribers, subscriber => subscriber.Connect(bound));
        await fixture.UntilAsync(() => publisher.PeerCount == subscribers.Length);
        Task<string[]>[] sent = [.. subscribers.Select((subscriber, i) => Task.Run(() => SendAll(subscriber, "pqrs"[i])))];
        string[] received = await ReceiveAllAsync(publisher, 4 * Rounds * subscribers.Length);
        for (int i = 0; i < subscribers.Length; i++)
        {
            char name = "pqrs"[i];
            Assert.Equal(await sent[i].Guarded(), received.Where(text => text.Contains(name)), StringComparer.Ordinal);
        }
    }

    [Fact]
    public async Task A_publisher_that_does_not_read_stops_the_peers_that_send_and_loses_nothing()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = 5 });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        string[] sent = SendAll(subscriber, 'p');
        await fixture.UntilAsync(() => publisher.GetPeers()[0].IsPaused);
        Assert.Equal(sent, await ReceiveAllAsync(publisher, sent.Length));
    }

    [Fact]
    public async Task A_peer_that_is_not_read_because_of_topics_that_nobody_has_read_is_shown_so()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = 2 });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        for (int i = 0; i < Rounds; i++)
        {
            subscriber.Subscribe(string.Create(CultureInfo.InvariantCulture, $"{i}"));
        }

        await fixture.UntilAsync(() => publisher.PeerCount == 1 && publisher.GetPeers()[0].IsPaused);
        for (int i = 0; i < Rounds; i++)
        {
            (await publisher.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        await fixture.UntilAsync(() => !publisher.GetPeers()[0].IsPaused);
    }

    /// <summary>Subscribes, sends, cancels and sends, again and again. Returns what the publisher's application is to see.</summary>
    private static string[] SendAll(XSubSocket subscriber, char name)
    {
        List<string> sent = [];
        for (int i = 0; i < Rounds; i++)
        {
            string topic = string.Create(CultureInfo.InvariantCulture, $"{name}{i}");
            foreach (string text in (string[])["\x01" + topic, $"m1 {topic}", "\0" + topic, $"m2 {topic}"])
            {
                subscriber.Send(Encoding.ASCII.GetBytes(text));
                sent.Add(text);
            }
        }

        return [.. sent];
    }

    private static async Task<string[]> ReceiveAllAsync(XPubSocket publisher, int count)
    {
        string[] received = new string[count];
        for (int i = 0; i < count; i++)
        {
            using Message message = await publisher.ReceiveAsync(Guard.Token).Guarded();
            received[i] = Encoding.ASCII.GetString(message.Span);
        }

        Assert.False(publisher.CanReceive);
        return received;
    }
}
