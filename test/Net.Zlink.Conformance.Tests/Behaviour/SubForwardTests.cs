using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_sub_forward: an XPUB and an XSUB as a relay made by hand.</summary>
public sealed class SubForwardTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task The_subscription_goes_up_and_the_empty_message_comes_down(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        XSubSocket xsub = fixture.Context.CreateXSub();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        string downstream = xpub.Bind(Link.Any(transport));
        string upstream = xsub.Bind(Link.Any(transport));
        pub.Connect(upstream);
        sub.Connect(downstream);
        sub.Subscribe("");
        using (Message subscription = await xpub.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("\u0001", SocketWords.Text(subscription.Span));
            xsub.Send(subscription);
        }

        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("");
        using (Message publication = await xsub.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("", SocketWords.Text(publication.Span));
            xpub.Send(publication);
        }

        Assert.Equal("", await sub.HearOneAsync());
    }
}
