using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Messages of several parts that an XSUB sends: each part may be a topic.</summary>
public sealed class UpstreamPartsTests
{
    private static readonly byte[][] Parts = [[1, (byte)'a'], [0, (byte)'a'], [1, (byte)'b'], [0, (byte)'b'], [1], [0], "data"u8.ToArray(),
        "more"u8.ToArray(), [], Wire.Pattern(20_000)];

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://parts")]
    public async Task A_message_of_300_000_parts_is_sent_in_time_that_grows_with_their_number(string endpoint)
    {
        // Looked for from the front each time, its parts take a minute and more; one after the other 0.1 s.
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { MaxMessageParts = 300_000 });
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        using var builder = new MessageBuilder(fixture.Pool);
        for (int i = 0; i < 300_000; i++)
        {
            builder.Add("x"u8);
        }

        Assert.True(await Task.Run(() => subscriber.TrySend(builder), Guard.Token).Guarded());
        using Message message = await publisher.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(300_000, message.PartCount);
    }

    [Fact]
    public async Task Data_beside_a_topic_reaches_a_publisher_that_is_gone_for_a_moment_and_is_told_of_all_topics()
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        RawListener listener = fixture.Listen();
        using EventReader monitor = subscriber.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected);
        subscriber.Connect(listener.Endpoint);
        byte[] greeting = ZmpFixture.Greeting((byte)ZmpSocketType.XPub);
        using (RawPeer before = await listener.AcceptAsync())
        {
            await before.SendAsync(greeting);
            await monitor.NextAsync(SocketEventTypes.ConnectionReady);
        }

        await monitor.NextAsync(SocketEventTypes.Disconnected);
        Send(subscriber, [Parts[0], Parts[6], Parts[7]]);
        using RawPeer publisher = await listener.AcceptAsync();
        await publisher.SendAsync(greeting);
        List<string> heard = [];
        while (heard.Count < 5)
        {
            byte[] header = await publisher.ReadAsync(ZmpFrame.HeaderSize);
            heard.Add($"{header[ZmpFrame.FlagsOffset]} {Convert.ToHexString(await publisher.ReadAsync(ZmpFrame.ReadLength(header)))}");
        }

        Assert.Equal(["1 64617461", "0 6D6F7265", "8 61"], heard[2..]); // Behind HELLO and READY.
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://options")]
    public async Task The_publisher_decides_whether_a_part_behind_data_is_a_topic(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { OnlyFirstSubscribe = true });
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        Send(subscriber, [Parts[6], Parts[2], Parts[7]]);
        Send(subscriber, ["end"u8.ToArray()]);
        Assert.Equal(["64617461 0162", "6D6F7265"], await ReceiveToEndAsync(publisher));
        Assert.Equal(1, publisher.TopicCount);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc://apart")]
    public async Task A_topic_before_data_is_a_notice_and_one_behind_data_ends_the_message(string endpoint)
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect(publisher.Bind(endpoint));
        await fixture.UntilAsync(() => publisher.PeerCount == 1);
        Send(subscriber, [Parts[0], Parts[6], Parts[2], Parts[7]]);
        Send(subscriber, ["end"u8.ToArray()]);
        Assert.Equal(["0161", "64617461 0162", "6D6F7265"], await ReceiveToEndAsync(publisher));
        Assert.Equal(2, publisher.TopicCount);
    }

    [Theory]
    [InlineData("tcp://127.0.0.1:0", 1)]
    [InlineData("inproc://cancels", 1)]
    [InlineData("tcp://127.0.0.1:0", 2)]
    [InlineData("inproc://cancels", 2)]
    public async Task Of_a_message_of_several_parts_the_cancels_that_are_not_a_topics_last_are_left_out_and_the_rest_goes(
        string endpoint, int peers)
    {
        await using var fixture = new ContextFixture();
        XPubSocket[] publishers = [.. Enumerable.Range(0, peers)
            .Select(_ => fixture.Context.CreateXPub(new XPubOptions { Notices = SubscriptionNotices.All }))];
        XSubSocket subscriber = fixture.Context.CreateXSub();
        for (int i = 0; i < peers; i++)
        {
            subscriber.Connect(publishers[i].Bind(i == 0 ? endpoint : "ipc://*"));
        }

        await fixture.UntilAsync(() => publishers.All(static publisher => publisher.PeerCount == 1));
        Send(subscriber, [Parts[0], Parts[0]]);
        Send(subscriber, [Parts[6], Parts[1], Parts[7]]);
        Send(subscriber, [Parts[3], Parts[2]]);
        Send(subscriber, [[(byte)'x', .. Parts[9]], Parts[5]]);
        Send(subscriber, [Parts[3], Parts[3], Parts[1]]);
        Send(subscriber, ["end"u8.ToArray()]);
        foreach (XPubSocket publisher in publishers)
        {
            Assert.Equal(["0161", "0161", "64617461 6D6F7265", "0162", "20001", "0062", "0061"], await ReceiveToEndAsync(publisher));
        }
    }

    [Theory]
    [InlineData(true, false)]
    [InlineData(true, true)]
    [InlineData(false, false)]
    [InlineData(false, true)]
    public async Task Messages_of_topics_and_data_come_alike_over_tcp_and_in_the_process(bool isShared, bool onlyFirst)
    {
        for (int seed = 0; seed < 20; seed++)
        {
            await using var fixture = new ContextFixture();
            XPubSocket[] publishers = [.. Enumerable.Range(0, 2)
                .Select(_ => fixture.Context.CreateXPub(new XPubOptions { OnlyFirstSubscribe = onlyFirst }))];
            XSubSocket first = fixture.Context.CreateXSub(new XSubOptions { OnlyFirstSubscribe = onlyFirst });
            XSubSocket second = isShared ? first : fixture.Context.CreateXSub(new XSubOptions { OnlyFirstSubscribe = onlyFirst });
            first.Connect(publishers[0].Bind("tcp://127.0.0.1:0"));
            second.Connect(publishers[1].Bind("inproc://alike"));
            await fixture.UntilAsync(() => publishers.All(static publisher => publisher.PeerCount == 1));
            var random = new Random(seed);
            byte[][][] messages = [.. Enumerable.Range(0, 50).Select(_ => random.GetItems(Parts, random.Next(1, 7))), ["end"u8.ToArray()]];
            foreach (byte[][] message in messages)
            {
                foreach (XSubSocket subscriber in isShared ? [first] : (XSubSocket[])[first, second])
                {
                    Send(subscriber, message);
                }
            }

            Assert.Equal(await ReceiveToEndAsync(publishers[0]), await ReceiveToEndAsync(publishers[1]));
            Assert.Equal(publishers[0].TopicCount, publishers[1].TopicCount);
            Assert.Equal(first.GetStatistics().AcceptedMessages, second.GetStatistics().AcceptedMessages);
        }
    }

    [Fact]
    public async Task Messages_sent_before_an_inproc_publisher_binds_come_without_topic_parts_which_become_subscriptions()
    {
        await using var fixture = new ContextFixture();
        XSubSocket subscriber = fixture.Context.CreateXSub();
        subscriber.Connect("inproc://later");
        Send(subscriber, [Parts[0], Parts[2]]);
        Send(subscriber, [Parts[0], Parts[6], Parts[2], Parts[7]]);
        XPubSocket publisher = fixture.Context.CreateXPub();
        publisher.Bind("inproc://later");
        Send(subscriber, ["end"u8.ToArray()]);
        Assert.Equal(["64617461 6D6F7265", "0161", "0162"], await ReceiveToEndAsync(publisher));
    }

    [Fact]
    public async Task A_message_of_both_that_finds_no_room_in_the_process_is_dropped_whole()
    {
        await using var fixture = new ContextFixture();
        XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = 1 });
        XSubSocket subscriber = fixture.Context.CreateXSub(new XSubOptions { SendHighWaterMark = 1 });
        subscriber.Connect(publisher.Bind("inproc://full"));
        Send(subscriber, [Parts[6]]);
        Send(subscriber, [Parts[6]]);
        Send(subscriber, [Parts[0], Parts[6], Parts[2], Parts[7]]);
        Assert.Equal((0, 1), (publisher.TopicCount, subscriber.GetStatistics().DroppedAtHighWaterMark));
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
        Send(subscriber, [Parts[6]]);
        for (int i = 0; i < 2_000; i++)
        {
            byte[] topic = [1, (byte)'t', (byte)i, (byte)(i >> 8)];
            Send(subscriber, i % 2 == 0 ? [topic] : [topic, [1, (byte)'u', (byte)i, (byte)(i >> 8)]]);
        }

        Send(subscriber, [Parts[6]]);
        SocketStatistics statistics = subscriber.GetStatistics();
        Assert.Equal((2_001 * peers, peers), (statistics.QueuedMessages, statistics.DroppedAtHighWaterMark));
        foreach (string endpoint in endpoints)
        {
            XPubSocket publisher = fixture.Context.CreateXPub(new XPubOptions { ReceiveHighWaterMark = null });
            publisher.Bind(endpoint);
            await fixture.UntilAsync(() => publisher.TopicCount == 3_000);
        }
    }

    private static void Send(XSubSocket subscriber, byte[][] parts)
    {
        using var builder = new MessageBuilder();
        Array.ForEach(parts, part => builder.Add(part));
        subscriber.Send(builder);
    }

    /// <summary>Each message in hexadecimal, a long part by its length, up to the one that says so.</summary>
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

            received.Add(string.Join(' ', message.ToArrays()
                .Select(static part => part.Length > 10 ? $"{part.Length}" : Convert.ToHexString(part))));
        }
    }
}
