using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_xpub_verbose: which subscriptions an XPUB reads.</summary>
public sealed class XpubVerboseTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_duplicate_subscription_is_silent_and_with_Verbose_it_is_not(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(xpub.Bind(Link.Any(transport)));
        sub.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        sub.Subscribe("B");
        Assert.Equal("\u0001B", await xpub.HearOneAsync());
        sub.Subscribe("A");
        sub.Subscribe("C");
        Assert.Equal("\u0001C", await xpub.HearOneAsync()); // Nothing of A before it.

        xpub.Options.Notices = SubscriptionNotices.AllSubscriptions;
        sub.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xpub.Say("A");
        Assert.Equal("A", await sub.HearOneAsync());
        sub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_topic_of_two_subscribers_comes_once_and_goes_with_the_last(string transport)
    {
        await using var fixture = new StreamFixture();
        (XPubSocket xpub, SubSocket sub0, SubSocket sub1) = Connect(fixture, transport);
        sub0.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        sub1.Subscribe("A");
        await SyncAsync(xpub, sub1);
        sub0.Unsubscribe("A");
        await SyncAsync(xpub, sub0);
        sub1.Unsubscribe("A");
        Assert.Equal("\0A", await xpub.HearOneAsync());
        xpub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task With_Verbose_every_subscription_is_read_but_only_the_last_cancel(string transport)
    {
        await using var fixture = new StreamFixture();
        (XPubSocket xpub, SubSocket sub0, SubSocket sub1) = Connect(fixture, transport);
        xpub.Options.Notices = SubscriptionNotices.AllSubscriptions;
        sub0.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        sub1.Subscribe("A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        sub0.Unsubscribe("A");
        await SyncAsync(xpub, sub0);
        sub1.Unsubscribe("A");
        Assert.Equal("\0A", await xpub.HearOneAsync());
        xpub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task With_Verboser_every_subscription_and_every_cancel_is_read(string transport)
    {
        await using var fixture = new StreamFixture();
        (XPubSocket xpub, SubSocket sub0, SubSocket sub1) = Connect(fixture, transport);
        xpub.Options.Notices = SubscriptionNotices.All;
        foreach (SubSocket sub in (SubSocket[])[sub0, sub1])
        {
            sub.Unsubscribe("unknown"); // Never leaves the subscriber.
            sub.Subscribe("A");
            Assert.Equal("\u0001A", await xpub.HearOneAsync());
        }

        foreach (SubSocket sub in (SubSocket[])[sub0, sub1])
        {
            sub.Unsubscribe("A");
            Assert.Equal("\0A", await xpub.HearOneAsync());
        }

        xpub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task Two_subscriptions_of_one_xsub_need_two_cancels(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        XSubSocket xsub = fixture.Context.CreateXSub();
        xsub.Connect(xpub.Bind(Link.Any(transport)));
        xsub.Say("\u0001A");
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xsub.Say("\u0001A");
        xsub.Say("\0A");
        xsub.Say("sync");
        Assert.Equal("sync", await xpub.HearOneAsync());
        xpub.Say("A");
        Assert.Equal("A", await xsub.HearOneAsync());
        xsub.Say("\0A");
        Assert.Equal("\0A", await xpub.HearOneAsync());
    }

    private static (XPubSocket XPub, SubSocket Sub0, SubSocket Sub1) Connect(StreamFixture fixture, string transport)
    {
        XPubSocket xpub = fixture.Context.CreateXPub();
        SubSocket sub0 = fixture.Context.CreateSub();
        SubSocket sub1 = fixture.Context.CreateSub();
        string endpoint = xpub.Bind(Link.Any(transport));
        sub0.Connect(endpoint);
        sub1.Connect(endpoint);
        return (xpub, sub0, sub1);
    }

    /// <summary>What this subscriber did before has arrived, and nothing of it was read: its next new topic is the next thing
    /// read.</summary>
    private static async Task SyncAsync(XPubSocket xpub, SubSocket sub)
    {
        string topic = $"sync {Guid.NewGuid():N}";
        sub.Subscribe(topic);
        Assert.Equal($"\u0001{topic}", await xpub.HearOneAsync());
    }
}
