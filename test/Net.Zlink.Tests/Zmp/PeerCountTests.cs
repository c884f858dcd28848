using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>How many peers a socket has.</summary>
public sealed class PeerCountTests
{
    [Fact]
    public async Task Peers_are_counted_without_a_copy_of_them()
    {
        const int Peers = 200;
        await using var fixture = new ContextFixture();
        DealerSocket binder = fixture.Context.CreateDealer();
        binder.Bind("inproc://counted");
        DealerSocket connecter = fixture.Context.CreateDealer();
        for (int i = 0; i < Peers; i++)
        {
            connecter.Connect("inproc://counted");
        }

        Assert.Equal((Peers, Peers), (binder.PeerCount, connecter.PeerCount));
        Assert.Equal(0, Allocations.Of(() => Assert.True(binder.PeerCount == Peers)));
        connecter.Disconnect("inproc://counted");
        Assert.Equal((0, 0), (binder.PeerCount, connecter.PeerCount));
    }
}
