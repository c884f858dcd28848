using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Peers that come and go, and one that is there and talks.</summary>
public sealed class PullEventsTests
{
    [Fact]
    public void A_peers_messages_are_read_between_the_events_of_those_that_come_and_go()
    {
        using var bench = new PullBench();
        TestPeer honest = bench.NewPeer();
        for (int i = 0; i < 100; i++)
        {
            honest.Publish($"{i}");
            TestPeer fleeting = bench.NewPeer(announce: false);
            bench.Queue.PublishConnected(fleeting.Pull);
            bench.Queue.PublishDisconnected(fleeting.Pull, dropUnread: false);
        }

        List<string> all = bench.TakeAll();
        int[] data = [.. all.Index().Where(static one => one.Item.StartsWith("1:", StringComparison.Ordinal)).Select(static one => one.Index)];
        Assert.Equal(100, data.Length);
        Assert.Equal(300, all.Count);
        Assert.InRange(data[0], 0, 16);
        Assert.InRange(data.Zip(data.Skip(1), static (one, next) => next - one).Max(), 1, 17);
    }

    [Fact]
    public void Nobodys_messages_are_read_before_the_event_that_tells_of_him_though_he_stands_first_in_line()
    {
        using var bench = new PullBench();
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
    public void A_rush_of_peers_that_say_nothing_is_worked_off_and_one_whose_messages_were_dropped_holds_nothing_up()
    {
        using var bench = new PullBench();
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
