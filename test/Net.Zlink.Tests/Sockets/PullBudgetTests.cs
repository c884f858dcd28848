using Net.Zlink.Engine;
using Net.Zlink.Sockets;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Which stopped peers are told to go on.</summary>
public sealed class PullBudgetTests
{
    [Fact]
    public void A_peer_that_is_stopped_again_before_it_was_told_to_go_on_cuts_off_nobody_who_is_to_be_told_with_it()
    {
        // So it goes where its connection is lost meanwhile: what had come is taken in past the limit.
        using var bench = new PullFixture();
        var budget = new PullBudget(0, null, bench.Queue);
        PullPeer[] peers = [.. Enumerable.Range(0, 3).Select(_ => bench.NewPeer(new QueueLimits(1, 0)).Pull)];
        PullPeer? toBeResumed = null;
        foreach (PullPeer peer in peers)
        {
            StopAndRead(budget, peer, ref toBeResumed);
        }

        PullPeer? other = null;
        StopAndRead(budget, peers[2], ref other);
        Assert.Null(other);
        Assert.False(peers[2].IsPaused);
        Assert.Equal([peers[2], peers[1], peers[0]], [toBeResumed!, toBeResumed!.NextToResume!, toBeResumed.NextToResume!.NextToResume!]);
        toBeResumed.IsToBeResumed = false; // It was told.
        StopAndRead(budget, peers[2], ref other);
        Assert.Same(peers[2], other);
    }

    [Fact]
    public void Frames_that_came_one_by_one_count_what_they_take_and_not_only_what_was_sent()
    {
        using var bench = new PullFixture(budget: 100_000);
        TestPeer[] peers = [.. Enumerable.Range(0, 10).Select(_ => bench.NewPeer())];
        int published = 0;
        while (peers[published % peers.Length].Publish("x") == Delivery.Continue)
        {
            published++;
        }

        Assert.InRange(published, 64 + 150, 64 + 170); // 600 bytes each but for the first 64.
        Assert.Equal(published + 1, bench.TakeAll().Count);
        TestPeer one = bench.NewPeer();
        Assert.Equal(Delivery.Continue, one.Publish([.. Enumerable.Repeat("x", 10_000)])); // Some read brings them: 40 leases.
        bench.Queue.PublishDisconnected(one.Pull, dropUnread: true);
        bench.TakeAll();
        for (int i = 0; i < 64 + 150; i++)
        {
            Assert.Equal(Delivery.Continue, peers[i % peers.Length].Publish("x"));
        }
    }

    private static void StopAndRead(PullBudget budget, PullPeer peer, ref PullPeer? resume)
    {
        peer.Messages = 1;
        Assert.True(budget.ShouldPause(peer, unread: 1));
        peer.Messages = 0;
        budget.OnDequeued(peer, bytes: 1, isLeaseOver: false, unread: 0, ref resume);
    }
}
