using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Engine;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

public sealed class StreamLinkTests
{
    [Fact]
    public void A_STREAM_link_is_ended_by_one_thread_only_and_an_ended_link_has_its_reason()
    {
        using var wire = new TestWire();
        for (int round = 0; round < 200; round++)
        {
            var link = new StreamLink(1, "tcp://test", origin: null, wire);
            int ended = 0;
            void End(DisconnectReason reason)
            {
                if (link.TryEnd(reason, out _))
                {
                    Interlocked.Increment(ref ended);
                }

                Assert.NotEqual(DisconnectReason.Unknown, link.EndReason);
            }

            InParallel(() => End(DisconnectReason.Remote), () => End(DisconnectReason.HandlerFailed));
            Assert.Equal(1, ended);
            Assert.True(link.HasEnded);
        }
    }

    [Fact]
    public void Reconnect_pauses_double_up_to_the_maximum_or_spread_by_chance_without_one()
    {
        TimeSpan Ms(int value) => TimeSpan.FromMilliseconds(value);
        var doubling = new ReconnectPolicy(Ms(100), Ms(400));
        Assert.Equal([100, 200, 400, 400], Enumerable.Range(0, 4).Select(i => doubling.PauseBefore(i, 0.5).TotalMilliseconds));
        Assert.Equal(Ms(400), doubling.PauseBefore(int.MaxValue, 0.5));
        Assert.Equal(Ms(50), new ReconnectPolicy(Ms(100), Ms(50)).PauseBefore(0, 0.5));
        Assert.Equal(Ms(175), new ReconnectPolicy(Ms(100), TimeSpan.Zero).PauseBefore(7, jitter: 0.75));
    }
}
