using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Flow;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets;

public sealed class PullQueueTests
{
    [Fact]
    public void A_turn_serves_what_one_peer_has_unread_in_however_many_reads_it_came()
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        TestPeer b = bench.NewPeer();
        a.Publish("a1", "a2");
        a.Publish("a3");
        b.Publish("b1");
        b.Publish("b2", "b3");
        Assert.Equal(["1:a1", "1:a2", "1:a3", "2:b1", "2:b2", "2:b3"], bench.TakeAll());
    }

    [Theory]
    [InlineData(200, 10)] // 256 messages are a turn,
    [InlineData(2, 20_000)] // or 64 KiB.
    public void A_turn_is_no_longer_than_one_read_can_be(int messages, int length)
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        TestPeer b = bench.NewPeer();
        string[] read = [.. Enumerable.Repeat(new string('x', length), messages)];
        a.Publish(read);
        a.Publish(read);
        b.Publish("b1");
        List<string> all = bench.TakeAll();
        Assert.Equal((messages, (2 * messages) + 1), (all.IndexOf("2:b1"), all.Count));
    }

    [Fact]
    public void A_flooding_peer_delays_another_by_at_most_256_messages()
    {
        using var bench = new PullFixture();
        TestPeer flood = bench.NewPeer();
        TestPeer modest = bench.NewPeer();
        flood.Publish([.. Enumerable.Range(0, 2_000).Select(i => $"{i}")]);
        modest.Publish("hello");
        List<string> all = bench.TakeAll();
        Assert.Equal(256, all.IndexOf("2:hello"));
        all.Remove("2:hello");
        Assert.Equal(Enumerable.Range(0, 2_000).Select(i => $"1:{i}"), all, StringComparer.Ordinal);
    }

    [Fact]
    public void A_peer_that_was_served_and_sends_again_goes_to_the_end_of_the_line()
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        TestPeer b = bench.NewPeer();
        a.Publish("a1");
        b.Publish("b1");
        Assert.Equal("1:a1", bench.TakeText());
        a.Publish("a2");
        Assert.Equal(["2:b1", "1:a2"], bench.TakeAll());
    }

    [Fact]
    public void A_batch_takes_consecutive_messages_of_one_read_and_no_more()
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        a.Publish("1", "2", "3");
        a.Publish("4");
        Assert.Equal("1:1,2", PullFixture.Text(bench.Take(2)));
        Assert.Equal("1:3", PullFixture.Text(bench.Take(100)));
        Assert.Equal("1:4", PullFixture.Text(bench.Take(100)));
    }

    [Fact]
    public void Events_overtake_data_of_others_and_a_disconnect_comes_behind_its_own()
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        TestPeer b = bench.NewPeer();
        a.Publish("a1");
        a.Publish("a2");
        b.Publish("b1");
        a.End();
        TestPeer c = bench.NewPeer(announce: false);
        bench.Queue.PublishConnected(c.Pull);
        b.End(dropUnread: true);
        Assert.Equal(["3+", "2-", "1:a1", "1:a2", "1-"], bench.TakeAll());
    }

    [Fact]
    public void A_disconnect_never_precedes_its_connect()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer(announce: false);
        peer.End(reason: DisconnectReason.Local);
        Assert.Empty(bench.TakeAll());
        bench.Queue.PublishConnected(peer.Pull);
        Assert.Equal(["1+", "1-"], bench.TakeAll());
    }

    [Fact]
    public void A_dropped_peers_messages_are_gone_and_counted_and_its_buffers_back()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer();
        peer.Publish("1", "2", "3");
        peer.Publish("4");
        PulledRun kept = bench.Take();
        peer.End(dropUnread: true);
        Assert.Equal(Delivery.Continue, peer.Publish("late"));
        Assert.Equal(["1-"], bench.TakeAll());
        Assert.Equal((0, 0, 0, 4), bench.Queue.Depth);
        Assert.Equal((4, 1), (peer.Pull.Dropped, peer.Pull.Delivered));
        Assert.Equal("1:1", PullFixture.Text(kept)); // Taken before: still whole.
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task A_peer_parks_at_its_mark_and_resumes_at_half_of_it()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer(new QueueLimits(4, 0));
        Assert.Equal(Delivery.Continue, peer.Publish("1", "2", "3"));
        Assert.Equal(Delivery.Pause, peer.Publish("4"));
        bench.TakeText();
        await DrainAsync(bench.Shard);
        Assert.Equal(0, peer.Resumes);
        bench.TakeText();
        await DrainAsync(bench.Shard);
        Assert.Equal((1, true), (peer.Resumes, peer.IsReading));
        bench.TakeAll();
        await DrainAsync(bench.Shard);
        Assert.Equal(1, peer.Resumes);
    }

    [Fact]
    public async Task A_peer_parks_at_its_mark_in_bytes_which_counts_headers()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer(new QueueLimits(0, 28));
        Assert.Equal(Delivery.Continue, peer.Publish("0123456789"));
        Assert.Equal(Delivery.Pause, peer.Publish("0123456789"));
        bench.TakeText();
        await DrainAsync(bench.Shard);
        Assert.True(peer.IsReading);
    }

    [Fact]
    public async Task A_peer_may_always_have_one_message_however_small_the_mark()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer(new QueueLimits(1, 1));
        Assert.Equal(Delivery.Pause, peer.Publish("large"));
        bench.TakeText();
        await DrainAsync(bench.Shard);
        Assert.True(peer.IsReading);
    }

    [Fact]
    public async Task Peers_parked_for_the_total_budget_go_on_when_it_is_read_off()
    {
        using var bench = new PullFixture(budget: 100);
        TestPeer[] peers = [.. Enumerable.Range(0, 5).Select(_ => bench.NewPeer())];
        Assert.Equal(Delivery.Pause, peers[0].Publish(new string('x', 96)));
        Assert.All(peers[1..], p => Assert.Equal(Delivery.Pause, p.Publish("y")));
        bench.TakeAll();
        await DrainAsync(bench.Shard);
        Assert.All(peers, p => Assert.True(p.IsReading));
    }

    [Fact]
    public async Task Peers_parked_for_the_total_budget_go_on_when_a_disconnect_drops_what_filled_it()
    {
        using var bench = new PullFixture(budget: 100);
        TestPeer hog = bench.NewPeer();
        TestPeer[] others = [bench.NewPeer(), bench.NewPeer()];
        Assert.Equal(Delivery.Continue, hog.Publish(new string('x', 40)));
        Assert.Equal(Delivery.Pause, hog.Publish(new string('x', 65_500))); // A turn of its own.
        Assert.All(others, p => Assert.Equal(Delivery.Pause, p.Publish("y")));

        // The others' messages are read while the budget is still full: they stay stopped with nothing unread of their own.
        bench.TakeText();
        Assert.Equal(("2:y", "3:y"), (bench.TakeText(), bench.TakeText()));
        await DrainAsync(bench.Shard);
        Assert.All(others, p => Assert.False(p.IsReading));
        hog.End(dropUnread: true);
        await DrainAsync(bench.Shard);
        Assert.All(others, p => Assert.True(p.IsReading));
        Assert.Equal(["1-"], bench.TakeAll());
    }

    [Fact]
    public async Task Waiting_consumers_are_served_in_order()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer();
        Task<PulledRun>[] waits = [.. Enumerable.Range(0, 4).Select(_ => bench.MustWait())];
        peer.Publish("1", "2");
        peer.Publish("3");
        bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        Assert.Equal(["1:1", "1:2", "1:3", "2+"],
            (await Task.WhenAll(waits).WaitAsync(Patience, TestContext.Current.CancellationToken)).Select(r => PullFixture.Text(r)),
            StringComparer.Ordinal);
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task A_cancelled_consumer_takes_nothing_with_it()
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer();
        using var source = new CancellationTokenSource();
        Task<PulledRun> cancelled = bench.MustWait(cancel: source);
        Task<PulledRun> next = bench.MustWait();
        await source.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => cancelled);
        peer.Publish("1");
        Assert.Equal("1:1", PullFixture.Text(await next.WaitAsync(Patience, TestContext.Current.CancellationToken)));
    }

    [Fact]
    public void Cancellation_against_a_message_loses_no_message()
    {
        const int Rounds = 1_000;
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer();
        using var round = new Barrier(2);
        var received = new List<string>();
        InParallel(
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    using var source = new CancellationTokenSource();
                    bench.TakeOrWait(out Task<PulledRun> taken, cancel: source);
                    Assert.True(round.SignalAndWait(Patience));
                    Thread.SpinWait(i % 40);
                    source.Cancel();
                    Assert.True(((IAsyncResult)taken).AsyncWaitHandle.WaitOne(Patience));
                    if (taken.IsCompletedSuccessfully)
                    {
                        received.Add(PullFixture.Text(taken.GetAwaiter().GetResult()));
                    }

                    Assert.True(round.SignalAndWait(Patience));
                }
            },
            () =>
            {
                for (int i = 0; i < Rounds; i++)
                {
                    Assert.True(round.SignalAndWait(Patience));
                    Thread.SpinWait(i % 30);
                    peer.Publish($"{i}");
                    Assert.True(round.SignalAndWait(Patience));
                }
            });
        received.AddRange(bench.TakeAll());
        Assert.Equal(Enumerable.Range(0, Rounds).Select(i => $"1:{i}"), received, StringComparer.Ordinal);
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task Closing_releases_everyone_with_the_error_drops_what_is_unread_and_gives_every_buffer_back()
    {
        using BufferPool pool = TestPools.Create(leakCheck: true);
        using var bench = new PullFixture(pool: pool);
        Task<PulledRun>[] waits = [bench.MustWait(), bench.MustWait()];
        Assert.Equal(0, bench.Queue.Close(static () => new FormatException("closed")));
        foreach (Task<PulledRun> wait in waits)
        {
            Assert.Equal("closed", (await Assert.ThrowsAsync<FormatException>(
                () => wait.WaitAsync(Patience, TestContext.Current.CancellationToken))).Message);
        }

        using var full = new PullFixture(pool: pool);
        TestPeer a = full.NewPeer();
        TestPeer b = full.NewPeer();
        a.Publish("1", "2", "3");
        b.Publish("4");
        Assert.Equal("1:1", full.TakeText());
        Assert.Equal(3, full.Queue.Close(static () => new FormatException("closed")));
        Assert.Equal(0, full.Queue.Close(static () => new FormatException("again")));
        Assert.Equal((0, 0, 0, 3), full.Queue.Depth);
        Assert.Empty(pool.GetOutstanding());
    }

    [Theory]
    [InlineData("its peer is disconnected")]
    [InlineData("its peer was disconnected before")]
    [InlineData("the queue is closed")]
    public void Dropped_messages_are_released_outside_the_pull_queues_lock(string when)
    {
        using var bench = new PullFixture();
        TestPeer peer = bench.NewPeer();
        bench.NewPeer().Publish("another's");
        var looking = new LookingOwner(bench.Queue);
        switch (when)
        {
            case "its peer is disconnected":
                peer.Publish(looking, "1", "2");
                peer.End(dropUnread: true);
                break;
            case "its peer was disconnected before":
                peer.End(dropUnread: true);
                peer.Publish(looking, "1", "2");
                break;
            default:
                peer.Publish(looking, "1", "2");
                bench.Queue.Close(static () => new FormatException("closed"));
                break;
        }

        Assert.Equal((true, 2), (looking.HasLooked, peer.Pull.Dropped));
    }

    [Fact]
    public void A_closed_queue_says_so_whatever_still_comes_in()
    {
        using var bench = new PullFixture();
        TestPeer a = bench.NewPeer();
        bench.Queue.Close(static () => new FormatException("closed"));
        a.Publish("late");
        a.End();
        bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        Assert.Throws<FormatException>(() => bench.Queue.TryDequeue(1, out _));
        Assert.Throws<FormatException>(() => bench.TakeOrWait(out _));
        Assert.Equal((0, 0, 0, 1), bench.Queue.Depth);
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public void Many_publishers_and_many_consumers_lose_nothing_and_keep_each_peers_order()
    {
        const int Peers = 3;
        const int PerPeer = 3_000;
        using var bench = new PullFixture();
        TestPeer[] peers = [.. Enumerable.Range(0, Peers).Select(_ => bench.NewPeer())];
        var received = new List<(uint Peer, int Number)>[2];
        int left = Peers * PerPeer;
        void Consume(int consumer)
        {
            List<(uint, int)> mine = received[consumer] = [];
            while (Volatile.Read(ref left) > 0)
            {
                if (!bench.Queue.TryDequeue(7, out PulledRun run))
                {
                    Thread.Yield();
                    continue;
                }

                Interlocked.Add(ref left, -run.Count);
                mine.AddRange(PullFixture.Text(run).Split(':')[1].Split(',')
                    .Select(t => (run.PeerId, int.Parse(t, System.Globalization.CultureInfo.InvariantCulture))));
            }
        }

        InParallel(
        [
            () => Consume(0),
            () => Consume(1),
            .. peers.Select<TestPeer, Action>(p => () =>
            {
                for (int i = 0; i < PerPeer; i += 3)
                {
                    p.Publish($"{i}", $"{i + 1}", $"{i + 2}");
                }
            }),
        ]);

        // Each consumer sees each peer in order; together they see everything once.
        Assert.All(received, list => Assert.All(list.GroupBy(r => r.Peer),
            g => Assert.Equal(g.Select(r => r.Number).Order(), g.Select(r => r.Number))));
        IEnumerable<(uint, int)> all = received[0].Concat(received[1]).Order();
        Assert.Equal(peers.SelectMany(p => Enumerable.Range(0, PerPeer).Select(i => (p.Link.Id, i))), all);
        Assert.Equal(0, bench.Pool.GetStatistics().Live);
    }

    [Fact]
    public async Task A_watcher_is_notified_of_each_message_including_those_of_waiting_consumers_and_of_the_end()
    {
        using var bench = new PullFixture();
        var watcher = new CountingWatcher(bench.Queue);
        bench.Queue.Watchers.Add(watcher);
        TestPeer a = bench.NewPeer();
        Assert.Equal((1, true), watcher.Last);
        a.Publish("a1");
        Assert.Equal((2, true), watcher.Last);
        Assert.Equal("1:a1", bench.TakeText());
        Task<PulledRun> waiting = bench.MustWait();
        a.Publish("a2");
        Assert.Equal((3, false), watcher.Last);
        Assert.Equal("1:a2", PullFixture.Text(await waiting.Guarded()));
        a.End();
        Assert.Equal((4, true), watcher.Last);
        bench.Dispose();
        Assert.Equal((5, false), watcher.Last);
        bench.Queue.Watchers.Remove(watcher);
    }

    /// <summary>Lets another thread look at the queue when its memory is given back.</summary>
    private sealed class LookingOwner(PullQueue queue) : IMemoryOwner<byte>
    {
        public bool HasLooked { get; private set; }

        public Memory<byte> Memory => throw new NotSupportedException();

        public void Dispose()
        {
            var looking = new Thread(() => _ = queue.Depth) { IsBackground = true };
            looking.Start();
            HasLooked = looking.Join(TimeSpan.FromSeconds(10));
        }
    }

    /// <summary>Looks, when it is told, under the queue's lock, as a poller does.</summary>
    private sealed class CountingWatcher(PullQueue queue) : IReadinessWatcher
    {
        public (int Told, bool IsReadable) Last { get; private set; }

        public void OnMayBeReady() => Last = (Last.Told + 1, queue.Depth is not { Messages: 0, Events: 0 });
    }
}
