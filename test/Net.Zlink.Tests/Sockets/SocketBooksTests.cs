using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Pipes;
using Net.Zlink.Tests.Sockets.Pipes;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineKit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>The books of peers that come and go.</summary>
public sealed class SocketBooksTests : IDisposable
{
    private const int Peers = 8_000;
    private readonly TestCore _core = TestCore.Create();

    public void Dispose() => _core.Dispose();

    [Fact]
    public async Task Peers_may_come_and_go_while_the_counts_are_summed()
    {
        var books = new SocketBooks();
        TestPipe living = TestPipe.Create(_core, default);
        TestPipe newcomer = TestPipe.Create(_core, default);
        bool couldCome = false;
        living.Counted = () => couldCome = Task.Run(() => books.Open(newcomer)).Wait(Patience / 4);
        books.Open(living);
        await Task.Run(() => books.Sum());
        Assert.True(couldCome);
    }

    [Fact]
    public void What_peers_that_are_gone_had_sent_is_counted_once_before_and_after_it_is_read()
    {
        var books = new SocketBooks();
        TestPipe[] pipes = [.. Enumerable.Range(0, 100).Select(_ => TestPipe.Create(_core, default))];
        for (int i = 0; i < pipes.Length; i++)
        {
            books.Open(pipes[i]);
            pipes[i].Publish("x", "y");
            if (i % 3 == 0)
            {
                _core.Receive.Drop(pipes[i].Lane);
            }

            books.TryClose(pipes[i], out _);
        }

        Assert.Equal((200L, 68L, 132L), Counts());
        for (int i = 0; i < pipes.Length; i++)
        {
            _core.Receive.Drop(pipes[i].Lane);
        }

        Assert.Equal((200L, 200L, 0L), Counts());
        Assert.Equal((200L, 200L, 0L), Counts());

        (long Received, long Dropped, long Queued) Counts()
        {
            LaneCounts counts = books.Sum().Inbound;
            return (counts.Received, counts.Dropped, counts.QueuedMessages);
        }
    }

    [Fact]
    public void What_peers_had_sent_is_counted_once_at_every_moment_while_they_go()
    {
        var books = new SocketBooks();
        TestPipe[] pipes = [.. Enumerable.Range(0, 500).Select(_ => TestPipe.Create(_core, default))];
        foreach (TestPipe pipe in pipes)
        {
            books.Open(pipe);
            pipe.Append("x");
        }

        bool isOver = false;
        InParallel(
            () =>
            {
                foreach (TestPipe pipe in pipes)
                {
                    books.TryClose(pipe, out _);
                    _core.Receive.Drop(pipe.Lane);
                }

                Volatile.Write(ref isOver, true);
            },
            () =>
            {
                do
                {
                    LaneCounts counts = books.Sum().Inbound;
                    Assert.Equal((pipes.Length, pipes.Length), (counts.Received, counts.Dropped + counts.QueuedMessages));
                }
                while (!Volatile.Read(ref isOver));
            });
    }

    [Fact]
    public void To_add_up_thousands_of_peers_costs_no_memory()
    {
        var books = new SocketBooks();
        for (int i = 0; i < 2_000; i++)
        {
            books.Open(TestPipe.Create(_core, default));
        }

        Assert.Equal(0, Allocations.Of(() => books.Sum(), rounds: 3));
    }

    [Fact]
    public void A_peer_that_goes_while_many_who_went_before_are_unread_costs_as_much_as_with_few()
    {
        // As many peers, in many books and in one: measured 1 to 3 times as long; with a look at each time at all who went before, 80 times and more.
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
        SocketBooks[] books = [.. Enumerable.Range(0, Peers / peersOfOneSocket).Select(static _ => new SocketBooks())];
        TestPipe[] pipes = [.. Enumerable.Range(0, Peers).Select(_ => TestPipe.Create(_core, default))];
        for (int i = 0; i < Peers; i++)
        {
            books[i / peersOfOneSocket].Open(pipes[i]);
            pipes[i].Append("x");
        }

        TimeSpan time = Growth.TimeOf(() =>
        {
            for (int i = 0; i < Peers; i++)
            {
                books[i / peersOfOneSocket].TryClose(pipes[i], out OutboundCounts _);
            }
        });
        foreach (TestPipe pipe in pipes)
        {
            _core.Receive.Drop(pipe.Lane);
        }

        return time;
    }
}
