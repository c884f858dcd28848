using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_xpub_welcome_msg.</summary>
public sealed class XpubWelcomeMsgTests
{
    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_subscriber_of_the_welcome_gets_it_and_the_publisher_reads_the_subscription(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub(new XPubOptions { WelcomeMessage = SocketWords.Bytes("W") });
        SubSocket sub = fixture.Context.CreateSub();
        string endpoint = xpub.Bind(Link.Any(transport));
        sub.Subscribe("W");
        sub.Connect(endpoint);
        Assert.Equal("\u0001W", await xpub.HearOneAsync());
        Assert.Equal("W", await sub.HearOneAsync());
        xpub.HearsNothing();
        sub.HearsNothing();
    }

    [Theory]
    [MemberData(nameof(Link.All), MemberType = typeof(Link))]
    public async Task A_subscriber_of_something_else_does_not_get_the_welcome(string transport)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub(new XPubOptions { WelcomeMessage = SocketWords.Bytes("W") });
        SubSocket sub = fixture.Context.CreateSub();
        string endpoint = xpub.Bind(Link.Any(transport));
        sub.Subscribe("A");
        sub.Connect(endpoint);
        Assert.Equal("\u0001A", await xpub.HearOneAsync());
        xpub.Say("A");
        Assert.Equal("A", await sub.HearOneAsync());
        sub.HearsNothing();
    }
}
