using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_bind_after_connect_tcp.</summary>
public sealed class BindAfterConnectTcpTests
{
    [Fact]
    public async Task Three_messages_sent_before_the_peer_binds_arrive_in_order()
    {
        await using var fixture = new StreamFixture();
        DealerSocket connecter = fixture.Context.CreateDealer();
        string endpoint = RawListener.NobodyListens();
        connecter.Connect(endpoint);
        connecter.Say("foobar");
        connecter.Say("baz");
        connecter.Say("buzz");
        DealerSocket binder = fixture.Context.CreateDealer();
        binder.Bind(endpoint);
        Assert.Equal("foobar", await binder.HearOneAsync());
        Assert.Equal("baz", await binder.HearOneAsync());
        Assert.Equal("buzz", await binder.HearOneAsync());
    }
}
