using Net.Zlink.Engine;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Sockets.Links;
using Net.Zlink.Tests.Sockets.Links;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

/// <summary>The books of peers that come and go.</summary>
public sealed class SocketCountersTests : IDisposable
{
    private const int Peers = 8_000;
    private readonly TestCore _core = TestCore.Create();

    public void Dispose() => _core.Dispose();

    [Fact]
    public void Messages_of_disconnected_peers_are_counted_once_before_and_after_they_are_received()
    {
        var counters = new SocketCounters();
        TestLink[] links = [.. Enumerable.Range(0, 100).Select(_ => TestLink.Create(_core, default))];
        for (int i = 0; i < links.Length; i++)
        {
            counters.Open(links[i]);
            links[i].Publish("x", "y");
            if (i % 3 == 0)
            {
                _core.Receive.Drop(links[i].Lane);
            }

            counters.TryFinalize(links[i], out _);
        }

        Assert.Equal((200L, 68L, 132L), Counts());
        for (int i = 0; i < links.Length; i++)
        {
            _core.Receive.Drop(links[i].Lane);
        }

        Assert.Equal((200L, 200L, 0L), Counts());
        Assert.Equal((200L, 200L, 0L), Counts());

        (long Received, long Dropped, long Queued) Counts()
        {
            QueueCounts counts = counters.Sum().Inbound;
            return (counts.AcceptedMessages, counts.DroppedMessages, counts.QueuedMessages);
        }
    }

    [Fact]
    public void Messages_of_peers_are_counted_once_at_every_moment_while_the_peers_disconnect()
    {
        var counters = new SocketCounters();
        TestLink[] links = [.. Enumerable.Range(0, 500).Select(_ => TestLink.Create(_core, default))];
        foreach (TestLink pipe in links)
        {
            counters.Open(pipe);
            pipe.Append("x");
        }

        bool isOver = false;
        InParallel(
            () =>
            {
                foreach (TestLink pipe in links)
                {
                    counters.TryFinalize(pipe, out _);
                    _core.Receive.Drop(pipe.Lane);
                }

                Volatile.Write(ref isOver, true);
            },
            () =>
            {
                do
                {
                    QueueCounts counts = counters.Sum().Inbound;
                    Assert.Equal((links.Length, links.Length), (counts.AcceptedMessages, counts.DroppedMessages + counts.QueuedMessages));
                }
                while (!Volatile.Read(ref isOver));
            });
    }

    [Fact]
    public void To_add_up_thousands_of_peers_costs_no_memory()
    {
        var counters = new SocketCounters();
        for (int i = 0; i < 2_000; i++)
        {
            counters.Open(TestLink.Create(_core, default));
        }

        Assert.Equal(0, Allocations.Of(() => counters.Sum(), rounds: 3));
    }

    [Fact]
    public void A_peer_that_goes_while_many_who_went_before_are_unread_costs_as_much_as_with_few()
    {
        // As many peers, in many books and in one: measured 1 to 3 times as long; with a look at each time at all who went before, 80 times
        // and more.
        const int TooMuch = 20;
        Growth.AssertBelow(TooMuch, () => TimeOfClosing(peersOfOneSocket: 100), () => TimeOfClosing(peersOfOneSocket: Peers));
    }

    [Fact]
    public void A_set_that_thousands_have_left_is_small_again_and_keeps_who_is_there()
    {
        HashSet<int> set = [.. Enumerable.Range(0, 20_000)];
        for (int i = 10; i < 20_000; i++)
        {
            Assert.True(set.RemoveAndTrim(i));
        }

        Assert.False(set.RemoveAndTrim(-1));
        Assert.Equal(Enumerable.Range(0, 10), set.Order());
        Assert.InRange(set.Capacity, 10, 1_024);
    }

    private TimeSpan TimeOfClosing(int peersOfOneSocket)
    {
        SocketCounters[] counters = [.. Enumerable.Range(0, Peers / peersOfOneSocket).Select(static _ => new SocketCounters())];
        TestLink[] links = [.. Enumerable.Range(0, Peers).Select(_ => TestLink.Create(_core, default))];
        for (int i = 0; i < Peers; i++)
        {
            counters[i / peersOfOneSocket].Open(links[i]);
            links[i].Append("x");
        }

        TimeSpan time = Growth.TimeOf(() =>
        {
            for (int i = 0; i < Peers; i++)
            {
                counters[i / peersOfOneSocket].TryFinalize(links[i], out QueueCounts _);
            }
        });
        foreach (TestLink pipe in links)
        {
            _core.Receive.Drop(pipe.Lane);
        }

        return time;
    }
}
