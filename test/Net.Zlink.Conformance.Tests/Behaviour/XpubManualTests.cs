using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_xpub_manual: subscriptions that count only if the application says so.</summary>
public sealed class XpubManualTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_manual_XPUB_sends_by_the_topics_that_it_granted_not_by_those_asked_for(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("\u0001A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xpub.Subscribe("B"u8);
        xpub.Say("A");
        xpub.Say("B");
        Assert.Equal("B", await xsub.HearOneAsync());
        await fixture.SettleAsync();
        xsub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_cancel_is_answered_too_and_the_loss_is_reported_by_what_was_asked_for(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("\u0001A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xpub.Subscribe("XA"u8);
        xsub.Say("\u0001B");
        Assert.Equal("\u0001B", await xpub.HearOneAsync());
        xpub.Subscribe("XB"u8);
        foreach (string topic in (string[])["A", "XA", "B", "XB"])
        {
            xpub.Say(topic);
        }

        Assert.Equal("XA", await xsub.HearOneAsync());
        Assert.Equal("XB", await xsub.HearOneAsync());

        xsub.Say("\0A");
        Assert.Equal("\0A", await xpub.HearOneAsync());
        xpub.Unsubscribe("XA"u8);
        foreach (string topic in (string[])["A", "XA", "B", "XB"])
        {
            xpub.Say(topic);
        }

        Assert.Equal("XB", await xsub.HearOneAsync());
        xsub.HearsNothing();
        xsub.Dispose();
        Assert.Equal("\0B", await xpub.HearOneAsync());
        xpub.HearsNothing();
        Assert.Equal(0, xpub.TopicCount);
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Two_subscribers_of_one_topic_that_go_are_reported_twice_through_a_relay(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket backend = Manual(fixture);
        XSubSocket frontend = fixture.Context.CreateXSub();
        PubSocket pub = fixture.Context.CreatePub();
        string upstream = frontend.Bind(Link.Any(transport));
        string downstream = backend.Bind(Link.Any(transport));
        pub.Connect(upstream);
        SubSocket[] subs = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket sub in subs)
        {
            sub.Subscribe("1");
            sub.Connect(downstream);
            Assert.Equal("\u00011", await backend.HearOneAsync());
            backend.Subscribe("1"u8);
            frontend.Say("\u00011");
        }

        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("1", "content");
        using (Message publication = await frontend.ReceiveAsync(Guard.Token).Guarded())
        {
            backend.Send(publication);
        }

        foreach (SubSocket sub in subs)
        {
            Assert.Equal(["1", "content"], await sub.HearAsync());
        }

        subs[0].Dispose();
        subs[1].Dispose();
        Assert.Equal("\01", await backend.HearOneAsync());
        Assert.Equal("\01", await backend.HearOneAsync());
        backend.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Two_subscribers_in_quick_succession_are_both_served(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        string endpoint = xpub.Bind(Link.Any(transport));
        SubSocket sub1 = fixture.Context.CreateSub();
        SubSocket sub2 = fixture.Context.CreateSub();
        sub1.Subscribe("1");
        sub2.Subscribe("2");
        sub1.Connect(endpoint);
        sub2.Connect(endpoint);
        for (int i = 0; i < 2; i++)
        {
            string asked = await xpub.HearOneAsync();
            xpub.Subscribe(SocketWords.Bytes(asked[1..]));
        }

        xpub.Say("2");
        xpub.Say("1");
        Assert.Equal("1", await sub1.HearOneAsync());
        Assert.Equal("2", await sub2.HearOneAsync());
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task An_answer_to_a_subscriber_that_has_gone_has_no_effect(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        string endpoint = xpub.Bind(Link.Any(transport));
        XSubSocket sub1 = fixture.Context.CreateXSub();
        sub1.Connect(endpoint);
        sub1.Say("\u0001A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xpub.Subscribe("XA"u8);
        xpub.Say("A");
        xpub.Say("XA");
        Assert.Equal("XA", await sub1.HearOneAsync());
        sub1.Dispose();
        Assert.Equal("\0A", await xpub.HearOneAsync());
        xpub.Unsubscribe("XA"u8);

        XSubSocket sub2 = fixture.Context.CreateXSub();
        sub2.Connect(endpoint);
        sub2.Say("\u0001B");
        Assert.Equal("\u0001B", await xpub.HearOneAsync());
        xpub.Subscribe("XB"u8);
        foreach (string topic in (string[])["A", "XA", "B", "XB"])
        {
            xpub.Say(topic);
        }

        Assert.Equal("XB", await sub2.HearOneAsync());
        sub2.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_users_message_reaches_the_xpub_unchanged(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("\u0002A\0");
        Assert.Equal("\u0002A\0", await xpub.HearOneAsync());
    }

    [Theory]
    [MemberData(nameof(Link.Wires), MemberType = typeof(Link))]
    public async Task With_OnlyFirstSubscribe_the_first_part_decides_what_the_rest_is(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = Manual(fixture);
        xpub.Options.OnlyFirstSubscribe = true;
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("ABC", "\0rest");
        Assert.Equal(["ABC", "\0rest"], await xpub.HearAsync());
        xsub.Say("ABC", "\u0001rest");
        Assert.Equal(["ABC", "\u0001rest"], await xpub.HearAsync());
        xsub.Say("\u0001B", "\u0001A");
        Assert.Equal("\u0001B", await xpub.HearOneAsync());
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xsub.Say("\0B", "\0A");
        Assert.Equal("\0B", await xpub.HearOneAsync());
        Assert.Equal("\0A", await xpub.HearOneAsync());
        xpub.HearsNothing();
    }

    [Fact]
    public async Task Without_manual_mode_there_is_nobody_to_answer()
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        Assert.Throws<InvalidOperationException>(() => xpub.Subscribe("A"u8));
        Assert.Throws<InvalidOperationException>(() => xpub.Unsubscribe("A"u8));
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task With_the_last_value_option_the_message_after_a_notice_goes_to_its_subscriber_alone(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub(new XPubOptions { ManualLastValue = true });
        string endpoint = xpub.Bind(Link.Any(transport));
        SubSocket[] subs = [fixture.Context.CreateSub(), fixture.Context.CreateSub()];
        foreach (SubSocket sub in subs)
        {
            sub.Subscribe("A");
            sub.Connect(endpoint);
            Assert.Equal("\u0001A", await xpub.HearOneAsync());
            xpub.Subscribe("A"u8);
            xpub.Say("A last value");
            Assert.Equal("A last value", await sub.HearOneAsync());
        }

        xpub.Say("A for all");
        Assert.Equal("A for all", await subs[0].HearOneAsync());
        Assert.Equal("A for all", await subs[1].HearOneAsync());
    }

    private static XPubSocket Manual(StreamFixture fixture) => fixture.Context.CreateXPub(new XPubOptions { Manual = true });
}
