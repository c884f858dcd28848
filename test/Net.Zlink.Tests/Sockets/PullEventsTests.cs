using Net.Zlink.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Peers that come and go, and one that is there and talks.</summary>
public sealed class PullEventsTests
{
    [Fact]
    public void A_peers_messages_are_read_between_the_events_of_those_that_come_and_go()
    {
        using var bench = new PullFixture();
        TestPeer honest = bench.NewPeer();
        for (int i = 0; i < 100; i++)
        {
            honest.Publish($"{i}");
            TestPeer fleeting = bench.NewPeer(announce: false);
            bench.Queue.PublishConnected(fleeting.Pull);
            bench.Queue.PublishDisconnected(fleeting.Pull, dropUnread: false);
        }

        List<string> all = bench.TakeAll();
        int[] data = [.. all.Index().Where(static one => one.Item.StartsWith("1:", StringComparison.Ordinal))
            .Select(static one => one.Index)];
        Assert.Equal(100, data.Length);
        Assert.Equal(300, all.Count);
        Assert.InRange(data[0], 0, 16);
        Assert.InRange(data.Zip(data.Skip(1), static (one, next) => next - one).Max(), 1, 17);
    }

    [Fact]
    public void Nobodys_messages_are_read_before_the_event_that_tells_of_him_though_he_stands_first_in_line()
    {
        using var bench = new PullFixture();
        TestPeer honest = bench.NewPeer();
        for (int i = 0; i < 20; i++)
        {
            bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        }

        TestPeer newcomer = bench.NewPeer(announce: false);
        bench.Queue.PublishConnected(newcomer.Pull);
        newcomer.Publish("hello");
        honest.Publish("there");
        List<string> all = bench.TakeAll();
        Assert.InRange(all.IndexOf("1:there"), 0, 16);
        Assert.Equal(["22+", "22:hello"], all[^2..]);
        Assert.Equal(23, all.Count);
    }

    [Fact]
    public void Events_go_on_when_the_peer_that_had_the_turn_is_disconnected()
    {
        using var bench = new PullFixture();
        TestPeer first = bench.NewPeer();
        first.Publish("a", "b");
        Assert.Equal("1:a", bench.TakeText());
        for (int i = 0; i < 20; i++)
        {
            bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        }

        TestPeer last = bench.NewPeer(announce: false);
        bench.Queue.PublishConnected(last.Pull);
        last.Publish("hello");
        Assert.Equal(16, Enumerable.Range(0, 16).Select(_ => bench.Take()).Count(static run => run.Kind == PulledKind.Connected));
        bench.Queue.PublishDisconnected(first.Pull, dropUnread: true);
        Assert.Equal(["18+", "19+", "20+", "21+", "22+", "22:hello", "1-"], bench.TakeAll());
    }

    [Fact]
    public void A_dequeue_that_continues_in_place_gets_only_events_and_leaves_data_to_the_next_dequeue()
    {
        using var bench = new PullFixture();
        TestPeer[] peers = [.. Enumerable.Range(0, 4).Select(_ => bench.NewPeer())];
        for (int i = 0; i < 40; i++)
        {
            bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        }

        Array.ForEach(peers, static peer => peer.Publish("x"));
        int taken = 0;
        while (bench.Queue.TryDequeueMore(1, out PulledRun run))
        {
            Assert.Equal(PulledKind.Connected, run.Kind);
            taken++;
        }

        Assert.InRange(taken, 1, 16);
        Assert.StartsWith("1:", PullFixture.Text(bench.Take()), StringComparison.Ordinal);
    }

    [Fact]
    public void A_rush_of_peers_that_say_nothing_is_worked_off_and_one_whose_messages_were_dropped_holds_nothing_up()
    {
        using var bench = new PullFixture();
        TestPeer dropped = bench.NewPeer();
        dropped.Publish("unread");
        bench.Queue.PublishDisconnected(dropped.Pull, dropUnread: true);
        for (int i = 0; i < 50; i++)
        {
            bench.Queue.PublishConnected(bench.NewPeer(announce: false).Pull);
        }

        Assert.Equal(["1-", .. Enumerable.Range(2, 50).Select(static id => $"{id}+")], bench.TakeAll());
    }
}
