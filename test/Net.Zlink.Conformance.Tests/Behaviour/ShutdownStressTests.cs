using Net.Zlink.Conformance.Tests.Behaviour.Kit;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_shutdown_stress: sockets that close while they connect.</summary>
public sealed class ShutdownStressTests
{
    [Fact]
    public async Task A_hundred_subscribers_that_close_while_they_connect_leave_nothing_behind()
    {
        for (int round = 0; round < 10; round++)
        {
            await using var fixture = new StreamFixture(shards: 7);
            PubSocket pub = fixture.Context.CreatePub();
            string endpoint = pub.Bind(Link.Any(Link.Tcp));
            await Parallel.ForAsync(0, 100, Guard.Token, (_, _) =>
            {
                using SubSocket sub = fixture.Context.CreateSub();
                sub.Connect(endpoint);
                return ValueTask.CompletedTask;
            }).Guarded();
            await fixture.UntilAsync(() => pub.PeerCount == 0);
        }
    }
}
