using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A ROUTER finds the peers that it sent to lately by the last byte of their ids: more of them than there are places, with the
/// same last byte, leaving and coming back.</summary>
public sealed class RecentPeersTests
{
    private const int Count = 40;

    [Theory]
    [InlineData("tcp://127.0.0.1:*")]
    [InlineData("inproc://recent")]
    public async Task Each_of_many_peers_gets_its_own_messages_also_when_ids_end_alike_and_peers_come_and_go(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { Mandatory = true });
        endpoint = router.Bind(endpoint);
        DealerSocket[] dealers = [.. Enumerable.Range(0, Count).Select(i => Dealer(fixture, endpoint, i))];
        await fixture.UntilAsync(() => router.PeerCount == Count);
        for (int round = 0; round < 3; round++)
        {
            await ExchangeAsync(router, dealers);

            // Every third one leaves, is unknown, and comes back under its id.
            for (int i = round; i < Count; i += 3)
            {
                dealers[i].Dispose();
                int gone = i;
                await fixture.UntilAsync(
                    () => !router.To(IdOf(gone)).TrySend([]).Tell(out SendFailure error) && error == SendFailure.NoPeer);
                dealers[i] = Dealer(fixture, endpoint, i);
            }

            await fixture.UntilAsync(() => router.PeerCount == Count);
        }

        await ExchangeAsync(router, dealers);
    }

    private static async Task ExchangeAsync(RouterSocket router, DealerSocket[] dealers)
    {
        for (int turn = 0; turn < 2; turn++)
        {
            for (int i = 0; i < dealers.Length; i++)
            {
                router.To(IdOf(i)).Send(IdOf(i));
            }
        }

        for (int i = 0; i < dealers.Length; i++)
        {
            for (int turn = 0; turn < 2; turn++)
            {
                using Message message = await dealers[i].ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(IdOf(i), message.Span.ToArray());
            }
        }
    }

    private static DealerSocket Dealer(ContextFixture fixture, string endpoint, int number)
    {
        DealerSocket dealer = fixture.Context.CreateDealer(
            new DealerOptions { RoutingId = IdOf(number), Linger = TimeSpan.Zero });
        dealer.Connect(endpoint);
        return dealer;
    }

    // Four last bytes for all.
    private static byte[] IdOf(int number) => Encoding.ASCII.GetBytes($"{number / 4}-{number % 4}");
}
