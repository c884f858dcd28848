using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Conformance.Tests.Replay.WebSocket;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_bind_ws_fuzzer, which is not built there: garbage sent to a bound ws socket harms nobody else.</summary>
public sealed class BindWsFuzzerTests
{
    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    public async Task After_garbage_a_subscriber_still_gets_its_message(int seed)
    {
        await using var fixture = new StreamFixture();
        PubSocket pub = fixture.Context.CreatePub();
        string endpoint = pub.Bind(Link.Any(Link.Ws));
        var random = new Random(seed);
        for (int i = 0; i < 40; i++)
        {
            RawPeer raw = await fixture.ConnectAsync(RawWs.Below(endpoint));
            await raw.SendAsync(Garbage(random, i % 4));
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

    /// <summary>Garbage at four depths: in place of the request, within it, in place of frames, and within a frame behind a
    /// handshake.</summary>
    private static byte[] Garbage(Random random, int depth)
    {
        byte[] garbage = new byte[random.Next(1, 300)];
        random.NextBytes(garbage);
        switch (depth)
        {
            case 0:
                return garbage;
            case 1:
                byte[] bent = [.. RawWs.Request];
                bent[random.Next(bent.Length)] = garbage[0];
                return bent;
            case 2:
                return [.. RawWs.Request, .. garbage];
            default:
                byte[] mask = [garbage[0], 1, 2, 3];
                return [.. RawWs.Request, .. WsFrame.Write(WsOpcode.Binary, RawZmp.Greeting(RawZmp.Sub, "raw"), mask),
                    .. WsFrame.Write(WsOpcode.Binary, garbage, mask), .. garbage];
        }
    }
}
