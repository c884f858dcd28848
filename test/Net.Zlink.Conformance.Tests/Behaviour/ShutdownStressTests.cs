using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_shutdown_stress: sockets that close while they connect, each on a thread of its own.</summary>
public sealed class ShutdownStressTests
{
    // Natively 100, too. Not of the pool: that would run as many at once as there are processors.
    private const int Threads = 100;

    [Fact]
    public async Task A_hundred_subscribers_that_close_while_they_connect_leave_nothing_behind()
    {
        for (int round = 0; round < 10; round++)
        {
            await using var fixture = new StreamFixture(shards: 7);
            PubSocket pub = fixture.Context.CreatePub();
            string endpoint = pub.Bind(Link.Any(Link.Tcp));
            using var all = new Barrier(Threads); // Nobody begins before the last one is there.
            Task[] connects = [.. Enumerable.Range(0, Threads)
                .Select(_ => Task.Factory.StartNew(ConnectAndClose, Guard.Token, TaskCreationOptions.LongRunning, TaskScheduler.Default))];
            await Task.WhenAll(connects).Guarded();
            await fixture.UntilAsync(() => pub.PeerCount == 0);

            void ConnectAndClose()
            {
                Assert.True(all.SignalAndWait(Guard.Limit, Guard.Token));
                using SubSocket sub = fixture.Context.CreateSub();
                sub.Connect(endpoint);
            }
        }
    }
}
