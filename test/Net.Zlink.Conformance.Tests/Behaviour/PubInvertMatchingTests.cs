using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pub_invert_matching.</summary>
public sealed class PubInvertMatchingTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task With_inverted_matching_each_subscriber_gets_what_it_did_not_ask_for(string transport)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub1 = fixture.Context.CreateSub();
        SubSocket sub2 = fixture.Context.CreateSub();
        string endpoint = pub.Bind(Link.Any(transport));
        sub1.Connect(endpoint);
        sub2.Connect(endpoint);
        sub1.Subscribe("prefix1");
        sub2.Subscribe("p2");
        await fixture.UntilAsync(() => pub.TopicCount == 2);

        pub.Say("prefix1");
        Assert.Equal("prefix1", await sub1.HearOneAsync());
        pub.Say("p2");
        Assert.Equal("p2", await sub2.HearOneAsync());
        await fixture.SettleAsync();
        sub1.HearsNothing();
        sub2.HearsNothing();

        pub.Options.InvertMatching = true;
        sub1.Options.InvertMatching = true;
        sub2.Options.InvertMatching = true;
        pub.Say("prefix1");
        Assert.Equal("prefix1", await sub2.HearOneAsync());
        pub.Say("p2");
        Assert.Equal("p2", await sub1.HearOneAsync());
        await fixture.SettleAsync();
        sub1.HearsNothing();
        sub2.HearsNothing();
    }
}
