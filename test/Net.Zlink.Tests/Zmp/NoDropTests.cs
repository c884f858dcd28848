using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Publishers that rather wait than drop.</summary>
public sealed class NoDropTests
{
    // HELLO of a SUB without a routing id, READY, and the subscription to everything.
    private static readonly byte[] Subscriber = Convert.FromHexString("5A01020000000003010200" + "5A0102000000000104" + "5A01080000000000");

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_send_that_waits_for_a_subscriber_goes_on_when_that_one_leaves(bool isReset)
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(
            new PubOptions { NoDrop = true, SendHighWaterMark = 1, SendBufferSize = 16 * 1024 });
        RawPeer subscriber = await fixture.ConnectAsync(publisher.Bind("tcp://127.0.0.1:0"), receiveBuffer: 16 * 1024);
        await subscriber.SendAsync(Subscriber);
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        Task sending;
        do
        {
            sending = publisher.SendAsync(Wire.Huge, Guard.Token).AsTask();
        }
        while (sending.IsCompleted);

        Task blocked = Task.Factory.StartNew(() => publisher.Send("behind"u8), Guard.Token, TaskCreationOptions.LongRunning,
            TaskScheduler.Default);
        if (isReset)
        {
            subscriber.Reset();
        }
        else
        {
            subscriber.Dispose();
        }

        await sending.Guarded();
        await blocked.Guarded();
        Assert.Equal(0, publisher.GetStatistics().DroppedAtHighWaterMark);
    }

    [Fact]
    public async Task A_send_that_waits_for_a_subscriber_in_the_process_goes_on_when_that_one_leaves()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { NoDrop = true, SendHighWaterMark = 1 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 });
        publisher.Bind("inproc://nodrop");
        subscriber.Subscribe([]);
        subscriber.Connect("inproc://nodrop");
        Task sending;
        do
        {
            sending = publisher.SendAsync("x"u8.ToArray(), Guard.Token).AsTask();
        }
        while (sending.IsCompleted);

        subscriber.Dispose();
        await sending.Guarded();
    }

    [Fact]
    public async Task A_send_that_waits_for_a_subscriber_goes_on_when_the_application_takes_its_topic_back()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { NoDrop = true, Manual = true, SendHighWaterMark = 1 });
        publisher.Bind("inproc://nodrop");
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 });
        subscriber.Subscribe([]);
        subscriber.Connect("inproc://nodrop");
        using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(publisher.Subscribe(in notice, []));
        Task sending;
        do
        {
            sending = publisher.SendAsync("x"u8.ToArray(), Guard.Token).AsTask();
        }
        while (sending.IsCompleted);

        Assert.True(publisher.Unsubscribe(in notice, []));
        await sending.Guarded();
    }

    [Fact]
    public async Task A_refused_message_does_not_use_up_the_turn_of_the_peer_that_asked_last()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(
            new XPubOptions { NoDrop = true, Manual = true, ManualLastValue = true, SendHighWaterMark = 1 });
        publisher.Bind("inproc://last");
        SubSocket[] subscribers = [.. Enumerable.Range(0, 2)
            .Select(_ => fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 }))];
        async Task AskAsync(SubSocket subscriber, string topic)
        {
            subscriber.Subscribe(Encoding.ASCII.GetBytes(topic));
            using Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded();
            publisher.Subscribe(notice.Span[1..]);
        }

        (SubSocket first, SubSocket second) = (subscribers[0], subscribers[1]);
        second.Connect("inproc://last");
        await AskAsync(second, "t");
        Assert.True(publisher.TrySend("t, for the second alone"u8));
        Assert.True(second.TryReceive(out Message alone));
        alone.Dispose();
        first.Connect("inproc://last");
        await AskAsync(first, "t");
        Assert.True(publisher.TrySend("t1"u8));
        await AskAsync(first, "tt");
        Assert.True(publisher.TrySend("tt2"u8));

        // Now the first one is full, and the next message is its alone.
        await AskAsync(first, "ttt");
        Assert.False(publisher.TrySend("ttt3"u8));
        Assert.True(first.TryReceive(out Message one));
        one.Dispose();
        Assert.True(first.TryReceive(out Message two));
        two.Dispose();
        Assert.True(publisher.TrySend("ttt3"u8));
        Assert.True(first.TryReceive(out Message three));
        Assert.Equal("ttt3"u8, three.Span);
        three.Dispose();
        Assert.False(second.TryReceive(out _));
    }
}
