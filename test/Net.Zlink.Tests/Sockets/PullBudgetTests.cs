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
        using var bench = new PullBench();
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
        Assert.False(peers[2].IsParked);
        Assert.Equal([peers[2], peers[1], peers[0]], [toBeResumed!, toBeResumed!.NextToResume!, toBeResumed.NextToResume!.NextToResume!]);
        toBeResumed.IsToBeResumed = false; // It was told.
        StopAndRead(budget, peers[2], ref other);
        Assert.Same(peers[2], other);
    }

    private static void StopAndRead(PullBudget budget, PullPeer peer, ref PullPeer? resume)
    {
        peer.Messages = 1;
        Assert.True(budget.ShouldPark(peer, unread: 1));
        peer.Messages = 0;
        budget.Taken(peer, bytes: 1, unread: 0, ref resume);
    }
}
