using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Own;

/// <summary>CONFLATE: the newest message of each pipe, and no other.</summary>
public sealed class ConflateTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_receiver_that_conflates_reads_the_newest_message_only(string transport)
    {
        await using var fixture = new StreamFixture();
        SubSocket sub = fixture.Context.CreateSub(new SubOptions { Conflate = true, ReceiveHighWaterMark = 1 });
        PubSocket pub = fixture.Context.CreatePub();
        sub.Subscribe("");
        sub.Connect(pub.Bind(Link.Any(transport)));
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        for (int i = 0; i < 100; i++)
        {
            pub.Say($"{i}");
        }

        await fixture.UntilAsync(() => sub.GetStatistics().ReceivedMessages == 100);
        Assert.Equal("99", await sub.HearOneAsync());
        sub.HearsNothing();
        Assert.Equal(99, sub.GetStatistics().DroppedUnreadMessages);
    }

    [Fact]
    public async Task A_sender_that_conflates_keeps_the_newest_message_for_a_peer_that_is_not_there_yet()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer(
            new DealerOptions { Conflate = true, SendHighWaterMark = 1, ReconnectInterval = TimeSpan.FromMilliseconds(10) });
        string endpoint = RawListener.NobodyListens();
        client.Connect(endpoint);
        for (int i = 0; i < 100; i++)
        {
            Assert.True(client.TrySend(SocketWords.Bytes($"{i}")));
        }

        DealerSocket server = fixture.Context.CreateDealer();
        server.Bind(endpoint);
        Assert.Equal("99", await server.HearOneAsync());
        await fixture.SettleAsync();
        server.HearsNothing();
    }

    [Fact]
    public async Task A_publisher_that_conflates_keeps_the_newest_message_for_each_subscriber()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { Conflate = true });
        string endpoint = pub.Bind(Link.Any(Link.Inproc));
        SubSocket[] subs = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket sub in subs)
        {
            sub.Subscribe("");
            sub.Connect(endpoint);
        }

        await fixture.UntilAsync(() => pub.GetPeers().Count == 2 && pub.TopicCount == 1);
        for (int i = 0; i < 100; i++)
        {
            pub.Say($"{i}");
        }

        foreach (SubSocket sub in subs)
        {
            Assert.Equal("99", await sub.HearOneAsync());
            sub.HearsNothing();
        }

        Assert.Equal(0, pub.GetStatistics().DroppedAtHighWaterMark); // A newer one took their place: nobody was too slow.
    }

    [Fact]
    public async Task A_binder_that_conflates_finds_the_newest_of_what_was_sent_before_it_came()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer();
        string endpoint = Link.Any(Link.Inproc);
        client.Connect(endpoint);
        for (int i = 0; i < 99; i++)
        {
            client.Send(i == 50 ? new byte[100_000] : SocketWords.Bytes($"{i}")); // Short ones lie packed together, long ones alone.
        }

        using (MessageBuilder message = SocketWords.Parts("two", "parts"))
        {
            client.Send(message);
        }

        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { Conflate = true });
        server.Bind(endpoint);
        using (Message newest = await server.ReceiveAsync(Guard.Token))
        {
            Assert.Equal(2, newest.PartCount);
        }

        server.HearsNothing();
        for (int i = 0; i < 5; i++)
        {
            client.Say($"{i}");
            server.Say($"{i} back");
        }

        Assert.Equal("4", await server.HearOneAsync());
        Assert.Equal("4 back", await client.HearOneAsync());
        server.HearsNothing();
        client.HearsNothing();
        Assert.Equal(99 + 4, server.GetStatistics().DroppedUnreadMessages);
    }

    [Fact]
    public async Task A_message_of_several_parts_is_refused()
    {
        await using var fixture = new StreamFixture();
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Conflate = true, Linger = TimeSpan.Zero });
        client.Connect(Link.Any(Link.Inproc));
        using MessageBuilder message = SocketWords.Parts("two", "parts");
        Assert.Throws<ArgumentException>(() => client.TrySend(message));
    }

    [Fact]
    public async Task A_received_message_of_several_parts_is_refused_and_stays_the_callers()
    {
        await using var fixture = new StreamFixture();
        PairSocket from = fixture.Context.CreatePair();
        PairSocket to = fixture.Context.CreatePair();
        to.Connect(from.Bind(Link.Any(Link.Inproc)));
        using (MessageBuilder message = SocketWords.Parts("two", "parts"))
        {
            from.Send(message);
        }

        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { Conflate = true, Linger = TimeSpan.Zero });
        client.Connect(Link.Any(Link.Inproc));
        using Message received = to.Receive();
        Assert.Equal(SendFailure.TooManyParts, client.TrySend(received).Reason);
        Assert.Throws<ArgumentException>(() => client.Send(received));
        await Assert.ThrowsAsync<ArgumentException>(async () => await client.SendAsync(received, Guard.Token));
        Assert.Equal(2, received.PartCount);
    }
}
