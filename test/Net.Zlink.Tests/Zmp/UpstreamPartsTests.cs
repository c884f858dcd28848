using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>What an XSUB sends to publishers: topics, each a message of one part, and data.</summary>
public sealed class UpstreamPartsTests
{
    private static readonly byte[] s_wantA = [1, (byte)'a'];
    private static readonly byte[] s_wantB = [1, (byte)'b'];
    private static readonly byte[] s_cancelA = [0, (byte)'a'];
    private static readonly byte[] s_data = "data"u8.ToArray();

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_publisher_over_a_wire_takes_topics_from_any_part_of_a_message(bool onlyFirst)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { OnlyFirstSubscribe = onlyFirst });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:*"));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        Send(subscriber, s_wantA, s_data, s_cancelA, s_data);
        Send(subscriber, s_data, s_wantB);
        Send(subscriber, "end"u8.ToArray());
        Assert.Equal(["0161", "64617461 0061", "64617461", "64617461 0162"], await ReceiveToEndAsync(publisher));
        Assert.Equal((onlyFirst ? 0 : 1, 0), (publisher.TopicCount, subscriber.TopicCount));
    }

    [Fact]
    public async Task A_message_of_several_parts_within_the_process_is_data_whatever_its_parts_begin_with()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect("inproc://parts");
        Send(subscriber, s_wantA);
        Send(subscriber, s_wantA, s_wantB);
        publisher.Bind("inproc://parts");
        Send(subscriber, s_wantB, s_data);
        Send(subscriber, "end"u8.ToArray());
        Assert.Equal(["0161 0162", "0161", "0162 64617461"], await ReceiveToEndAsync(publisher));
        Assert.Equal((1, 1), (publisher.TopicCount, subscriber.TopicCount));
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("inproc://cancels")]
    public async Task A_cancel_that_is_not_its_topics_last_is_not_sent(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { Notices = SubscriptionNotices.All });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        foreach (byte[] update in (byte[][])[s_wantA, s_wantA, s_cancelA, s_wantB, s_cancelA, s_cancelA])
        {
            Send(subscriber, update);
        }

        Send(subscriber, "end"u8.ToArray());
        Assert.Equal(["0161", "0161", "0162", "0061"], await ReceiveToEndAsync(publisher));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    public async Task Topics_reach_publishers_whatever_the_high_water_mark_and_messages_do_not(int peers)
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { SendHighWaterMark = 2 });
        string[] endpoints = [.. Enumerable.Range(0, peers).Select(_ => RawListener.NobodyListens())];
        Array.ForEach(endpoints, subscriber.Connect);
        Send(subscriber, "data"u8.ToArray());
        for (int i = 0; i < 2_000; i++)
        {
            Send(subscriber, [1, (byte)'t', (byte)i, (byte)(i >> 8)]);
        }

        Send(subscriber, "data"u8.ToArray());
        SocketStatistics statistics = subscriber.GetStatistics();
        Assert.Equal((2_001 * peers, peers), (statistics.QueuedMessages, statistics.DroppedAtHighWaterMark));
        foreach (string endpoint in endpoints)
        {
            XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = null });
            publisher.Bind(endpoint);
            await fixture.UntilAsync(() => publisher.TopicCount == 2_000);
        }
    }

    private static void Send(XSubSocket subscriber, params byte[][] parts)
    {
        using var builder = new MessageBuilder();
        Array.ForEach(parts, part => builder.Add(part));
        subscriber.Send(builder);
    }

    /// <summary>Each message in hexadecimal, up to the one that says so.</summary>
    private static async Task<string[]> ReceiveToEndAsync(XPubSocket publisher)
    {
        List<string> received = [];
        while (true)
        {
            using Message message = await publisher.ReceiveAsync(Guard.Token).Guarded();
            if (message.Span.SequenceEqual("end"u8))
            {
                return [.. received];
            }

            received.Add(string.Join(' ', message.ToArrays().Select(Convert.ToHexString)));
        }
    }
}
