using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_xpub_topic: topics whose length in a frame passes through 246 and 247, with the byte in front.</summary>
public sealed class XpubTopicTests
{
    [Theory]
    [InlineData(Link.Tcp, 245)]
    [InlineData(Link.Tcp, 246)]
    [InlineData(Link.Ipc, 245)]
    [InlineData(Link.Ipc, 246)]
    [InlineData(Link.Inproc, 245)]
    [InlineData(Link.Inproc, 246)]
    public async Task A_long_topic_is_reported_unchanged_when_it_comes_and_when_it_goes(string transport, int length)
    {
        await using var fixture = new StreamFixture();
        XPubSocket xpub = fixture.Context.CreateXPub();
        SubSocket sub = fixture.Context.CreateSub();
        sub.Connect(xpub.Bind(Link.Any(transport)));
        string topic = SocketWords.Text(Wire.Pattern(length));
        sub.Subscribe(SocketWords.Bytes(topic));
        Assert.Equal($"\u0001{topic}", await xpub.HearOneAsync());
        sub.Unsubscribe(SocketWords.Bytes(topic));
        Assert.Equal($"\0{topic}", await xpub.HearOneAsync());
        xpub.HearsNothing();
    }
}
