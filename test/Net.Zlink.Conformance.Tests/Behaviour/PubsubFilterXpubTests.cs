using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pubsub_filter_xpub.</summary>
public sealed class PubsubFilterXpubTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_subscriber_gets_its_topic_and_no_other(string transport)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(pub.Bind(Link.Any(transport)));
        sub.Subscribe("topicA");
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("topicB", "no");
        pub.Say("topicA", "yes");
        pub.Say("topic", "too short");
        pub.Say("topicA and more", "yes");
        Assert.Equal(["topicA", "yes"], await sub.HearAsync());
        Assert.Equal(["topicA and more", "yes"], await sub.HearAsync());
        await fixture.SettleAsync();
        sub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task An_xpub_reads_the_topic_and_delivers_only_what_matches_to_an_xsub(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("\u0001topicA");
        Assert.Equal("\u0001topicA", await xpub.HearOneAsync());
        xpub.Say("topicB no");
        xpub.Say("topicA yes");
        Assert.Equal("topicA yes", await xsub.HearOneAsync());
        xsub.Say("\0topicA");
        Assert.Equal("\0topicA", await xpub.HearOneAsync());
        xpub.Say("topicA no more");
        await fixture.SettleAsync();
        xsub.HearsNothing();
        xpub.HearsNothing();
    }

    [Fact]
    public async Task An_inproc_xsub_that_subscribed_before_the_binder_came_is_heard_once()
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        XSubSocket xsub = fixture.Context.CreateXSub();
        string endpoint = Link.Any(Link.Inproc);
        xsub.Connect(endpoint);
        xsub.Say("\u0001topicA");
        xsub.Say("upstream");
        xpub.Bind(endpoint);
        var heard = new List<string> { await xpub.HearOneAsync(), await xpub.HearOneAsync() };
        Assert.Equal(["\u0001topicA", "upstream"], heard.Order(StringComparer.Ordinal).ToArray());
        xpub.HearsNothing();
        xpub.Say("topicA yes");
        Assert.Equal("topicA yes", await xsub.HearOneAsync());
    }
}
