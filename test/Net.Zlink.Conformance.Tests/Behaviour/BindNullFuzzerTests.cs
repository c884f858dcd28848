using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_bind_null_fuzzer: garbage sent to a bound PUB harms nobody else.</summary>
public sealed class BindNullFuzzerTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task After_garbage_a_subscriber_still_gets_its_message(int seed)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub(new PubOptions { MaxMessageSize = 64 * 1024 * 1024 });
        string endpoint = pub.Bind(Link.Any(Link.Tcp));
        var random = new Random(seed);
        for (int i = 0; i < 20; i++)
        {
            // Half of them begin as a peer should, so that the garbage gets past the handshake.
            byte[] garbage = new byte[random.Next(1, 300)];
            random.NextBytes(garbage);
            RawPeer raw = await fixture.ConnectAsync(endpoint);
            await raw.SendAsync(i % 2 == 0 ? garbage : (byte[])[.. RawZmp.Greeting(RawZmp.Sub, "raw"), .. garbage]);
            raw.Dispose();
        }

        SubSocket sub = fixture.Context.CreateSub();
        sub.Subscribe("HELLO");
        sub.Connect(endpoint);
        await fixture.UntilAsync(() => pub.GetPeers().Any(peer => peer.RoutingId.Span.SequenceEqual(sub.Options.RoutingId.Span))
            && pub.TopicCount > 0);
        pub.Say("HELLO\0");
        Assert.Equal("HELLO\0", await sub.HearOneAsync());
    }
}
