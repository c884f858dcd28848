using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>An XPUB answers one subscriber, by the notice that told of it.</summary>
public sealed class NoticeAnswerTests
{
    public static TheoryData<string> Transports => ["tcp://127.0.0.1:0", "inproc://notices"];

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task Subscribers_whose_notices_came_in_one_batch_each_get_the_topic_that_answers_theirs(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Manual = true });
        string bound = publisher.Bind(endpoint);
        SubSocket[] subscribers = [.. Enumerable.Range(0, 5).Select(i => Subscribed(fixture, bound, $"{i}"))];
        await fixture.UntilAsync(() => publisher.GetStatistics().UnreadMessages == subscribers.Length);
        Message[] notices = new Message[subscribers.Length];
        Assert.Equal(notices.Length, publisher.ReceiveMany(notices));
        publisher.Send("0 nobody has it yet"u8);
        foreach (ref readonly Message notice in notices.AsSpan())
        {
            Assert.True(publisher.Subscribe(in notice, notice.Span[1..]));
        }

        for (int i = 0; i < subscribers.Length; i++)
        {
            publisher.Send(Encoding.ASCII.GetBytes($"{i} is the news"));
        }

        for (int i = 0; i < subscribers.Length; i++)
        {
            Assert.Equal($"{i} is the news", await NextAsync(subscribers[i]));
            Assert.True(publisher.Unsubscribe(in notices[i], notices[i].Span[1..]));
            notices[i].Dispose();
        }

        Assert.Equal(0, publisher.TopicCount);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task A_newcomer_gets_the_last_value_of_each_key_alone_and_then_what_is_published_though_others_publish_meanwhile(
        string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { Manual = true, Notices = SubscriptionNotices.AllSubscriptions });
        string bound = publisher.Bind(endpoint);
        SubSocket old = Subscribed(fixture, bound, "px.");
        using (Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.True(publisher.Subscribe(in notice, "px."u8));
        }

        SubSocket newcomer = Subscribed(fixture, bound, "px.");
        using (Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded())
        using (Message copy = notice.Copy())
        using (var builder = new MessageBuilder(fixture.Pool))
        {
            publisher.Send("px.a 1"u8);
            Assert.True(publisher.To(in copy).TrySend("px.a 1"u8));
            Assert.True(publisher.To(in notice).TrySend(builder.Add("px.b 7"u8).Add("in two parts"u8)));
            Assert.True(publisher.Subscribe(in copy, "px."u8));
        }

        publisher.Send("px.a 2"u8);
        Assert.Equal(["px.a 1", "px.a 2"], [await NextAsync(old), await NextAsync(old)]);
        Assert.Equal(["px.a 1", "px.b 7|in two parts", "px.a 2"],
            [await NextAsync(newcomer), await NextAsync(newcomer), await NextAsync(newcomer)]);
        Assert.False(old.CanReceive);
    }

    [Theory]
    [MemberData(nameof(Transports))]
    public async Task An_answer_to_a_gone_subscriber_is_refused_and_one_to_a_full_subscriber_is_dropped_uncounted(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { Manual = true, SendHighWaterMark = 1, SendBufferSize = 16 * 1024 });
        string bound = publisher.Bind(endpoint);
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1, ReceiveBufferSize = 16 * 1024 });
        subscriber.Subscribe("");
        subscriber.Connect(bound);
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        int sent = 0;
        while (publisher.To(in notice).TrySend(Wire.Huge))
        {
            sent++;
        }

        Assert.NotEqual(0, sent);
        Assert.Equal(0, publisher.GetStatistics().DroppedAtHighWaterMark);
        subscriber.Dispose();
        await fixture.UntilAsync(() => publisher.PeerCount == 0);
        Assert.False(publisher.Subscribe(in notice, "a"u8));
        Assert.False(publisher.Unsubscribe(in notice, "a"u8));
        Assert.False(publisher.To(in notice).TrySend("a"u8));
    }

    [Fact]
    public async Task A_reconnected_subscriber_is_not_answered_by_a_notice_of_its_earlier_connection()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { Manual = true, ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe("a");
        string endpoint = subscriber.Bind("tcp://127.0.0.1:0");
        publisher.Connect(endpoint);
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(publisher.To(in notice).TrySend("a"u8));
        subscriber.Dispose();
        SubSocket next = fixture.Context.CreateSub();
        await fixture.UntilAsync(() => !publisher.GetPeers()[0].IsConnected);
        next.Bind(endpoint);
        await fixture.UntilAsync(() => next.PeerCount == 1 && publisher.GetPeers()[0].IsConnected);
        Assert.False(publisher.Subscribe(in notice, "a"u8));
        Assert.False(publisher.To(in notice).TrySend("a"u8));
        Assert.Equal(0, publisher.TopicCount);
    }

    [Fact]
    public async Task An_answer_to_a_message_that_is_no_notice_or_in_the_wrong_mode_is_refused_with_the_reason()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XPubSocket other = fixture.Context.CreateXPub(new XPubOptions { Manual = true });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("inproc://words"));
        subscriber.Send([1, (byte)'a']);
        subscriber.Send("data"u8);
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        using Message data = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Contains("Options.Manual", Assert.Throws<InvalidOperationException>(() => publisher.Subscribe(in notice, "a"u8)).Message,
            StringComparison.Ordinal);
        Assert.Contains("no notice", Assert.Throws<ArgumentException>(() => publisher.To(in data).TrySend("a"u8)).Message,
            StringComparison.Ordinal);
        Assert.Contains("another socket", Assert.Throws<ArgumentException>(() => other.Subscribe(in notice, "a"u8)).Message,
            StringComparison.Ordinal);
        Assert.Throws<ArgumentException>(() => publisher.To(default).TrySend("a"u8));
        Assert.True(publisher.To(in notice).TrySend("in any mode"u8));
        notice.Dispose();
        Assert.Throws<ObjectDisposedException>(() => publisher.To(in notice).TrySend("a"u8));
    }

    private static SubSocket Subscribed(ContextFixture fixture, string endpoint, string topic)
    {
        SubSocket subscriber = fixture.Context.CreateSub();
        subscriber.Subscribe(topic);
        subscriber.Connect(endpoint);
        return subscriber;
    }

    private static async Task<string> NextAsync(SubSocket subscriber)
    {
        using Message message = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        return string.Join('|', message.ToArrays().Select(Encoding.ASCII.GetString));
    }
}
