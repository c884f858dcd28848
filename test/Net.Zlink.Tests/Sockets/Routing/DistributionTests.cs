using FsCheck.Fluent;
using Net.Zlink.Sockets.Routing;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Sockets.Routing;

public sealed class DistributionTests
{
    private readonly Distribution<string> _distribution = new();

    [Fact]
    public void Peers_come_in_order_of_attachment_until_one_leaves_whose_place_the_last_takes()
    {
        DistributionSlot[] slots = [.. ((string[])["A", "B", "C", "D"]).Select(_distribution.Add)];
        Assert.Equal(["A", "B", "C", "D"], _distribution.Peers);
        _distribution.Remove(slots[1]);
        Assert.Equal(["A", "D", "C"], _distribution.Peers);
        _distribution.Remove(slots[3]);
        Assert.Equal(["A", "C"], _distribution.Peers);
    }

    [Fact]
    public void A_peer_can_be_removed_from_a_distribution_twice()
    {
        DistributionSlot slot = _distribution.Add("A");
        _distribution.Add("B");
        _distribution.Remove(slot);
        _distribution.Remove(slot);
        Assert.Equal(["B"], _distribution.Peers);
    }

    [Fact]
    public void A_distribution_contains_each_attached_peer_once_after_any_changes() =>
        ForAllArrays(Gen.Choose(0, 60), 300, static operations =>
        {
            var test = new DistributionTests();
            List<(string Peer, DistributionSlot Slot)> attached = [];
            int names = 0;
            foreach (int n in operations)
            {
                if (n % 2 == 0 || attached.Count == 0)
                {
                    string peer = $"{names++}";
                    attached.Add((peer, test._distribution.Add(peer)));
                }
                else
                {
                    test._distribution.Remove(attached[n % attached.Count].Slot);
                    attached.RemoveAt(n % attached.Count);
                }

                Assert.Equal(attached.Select(static a => a.Peer).Order(StringComparer.Ordinal),
                    test._distribution.Peers.ToArray().Order(StringComparer.Ordinal));
                Assert.Equal(attached.Count, test._distribution.Count);
            }
        });
}
