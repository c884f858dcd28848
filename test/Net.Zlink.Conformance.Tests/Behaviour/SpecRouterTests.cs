using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_spec_router.</summary>
public sealed class SpecRouterTests
{
    [Theory]
    [MemberData(nameof(Link.TcpAndInproc), MemberType = typeof(Link))]
    public async Task Five_dealers_are_each_served_once_before_one_is_served_twice(string transport)
    {
        await using var fixture = new StreamFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        string endpoint = router.Bind(Link.Any(transport));
        string[] ids = ["A\0", "B\0", "C\0", "D\0", "E\0"];
        var dealers = new List<DealerSocket>();
        foreach (string id in ids)
        {
            DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { RoutingId = SocketWords.Bytes(id) });
            dealer.Connect(endpoint);
            dealer.Say("M");
            // It has arrived: nobody is late in the round that counts.
            Assert.Equal(id, SocketWords.Text((await router.HearFromAsync()).Id));
            dealers.Add(dealer);
        }

        foreach (DealerSocket dealer in dealers)
        {
            dealer.Say("M");
            dealer.Say("M");
        }

        await fixture.UntilAsync(() => router.GetPeers().All(static peer => peer.Unread.Messages == 2));
        for (int round = 0; round < 2; round++)
        {
            var served = new List<string>();
            for (int i = 0; i < ids.Length; i++)
            {
                (byte[] id, string[] parts) = await router.HearFromAsync();
                Assert.Equal(["M"], parts);
                served.Add(SocketWords.Text(id));
            }

            Assert.Equal(ids, served.Order(StringComparer.Ordinal).ToArray());
        }
    }
}
