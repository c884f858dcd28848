using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_connect_null_fuzzer: garbage answered to a connecting PUB harms nobody else.</summary>
public sealed class ConnectNullFuzzerTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task After_garbage_from_one_peer_another_still_gets_its_message(int seed)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { MaxMessageSize = 64 * 1024 * 1024, Linger = TimeSpan.Zero });
        var random = new Random(seed);
        for (int i = 0; i < 10; i++)
        {
            RawListener listener = fixture.Listen();
            pub.Connect(listener.Endpoint);
            using RawPeer raw = await listener.AcceptAsync();
            byte[] garbage = new byte[random.Next(1, 300)];
            random.NextBytes(garbage);
            await raw.SendAsync(i % 2 == 0 ? garbage : (byte[])[.. RawZmp.Greeting(RawZmp.Sub, "raw"), .. garbage]);
        }

        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("HELLO");
        string endpoint = sub.Bind(Link.Any(Link.Tcp));
        pub.Connect(endpoint);
        await fixture.UntilAsync(() => pub.TopicCount > 0 && sub.PeerCount == 1);
        await fixture.UntilAsync(() =>
        {
            pub.Say("HELLO\0"); // Until its subscription has come, nobody hears it.
            return sub.CanReceive;
        });
        Assert.Equal("HELLO\0", await sub.HearOneAsync());
        pub.Dispose();
    }
}
