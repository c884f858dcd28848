using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_pubsub, which is not built there.</summary>
public sealed class PubsubTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_publication_reaches_the_subscriber(string transport)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(pub.Bind(Link.Any(transport)));
        sub.Subscribe("");
        await fixture.UntilAsync(() => pub.TopicCount == 1);
        pub.Say("test");
        Assert.Equal("test", await sub.HearOneAsync());
    }

    [Fact]
    public async Task A_publisher_without_subscribers_drops()
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        pub.Bind(Link.Any(Link.Tcp));
        Assert.True(pub.TrySend("test"u8));
        Assert.Equal(1, pub.GetStatistics().UnmatchedMessages);
    }
}
