using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_router_mandatory_hwm: 64 KiB bodies, marks of 1, and nobody reads.</summary>
public sealed class RouterMandatoryHwmTests
{
    private static readonly byte[] Body = new byte[64 * 1024];

    [Fact]
    public async Task A_mandatory_router_says_EAGAIN_when_its_peer_is_full_and_again_goes_on_when_it_reads()
    {
        await using var fixture = new StreamFixture();

        // Small kernel buffers on both sides, so that what the system takes is a few messages at most.
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions
        {
            Mandatory = true,
            SendHighWaterMark = 1,
            Linger = TimeSpan.FromMilliseconds(1),
            SendBufferSize = 16 * 1024,
        });
        string endpoint = router.Bind(Link.Any(Link.Tcp));
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions
        {
            RoutingId = SocketWords.Bytes("X"),
            ReceiveHighWaterMark = 1,
            ReceiveBufferSize = 16 * 1024,
            Linger = TimeSpan.FromMilliseconds(1),
        });
        dealer.Connect(endpoint);
        dealer.Say("Hello");
        await router.HearFromAsync();

        int first = await FillAsync(fixture, router);
        router.Options.SendTimeout = TimeSpan.Zero;
        SocketWords.Fails("EAGAIN", () =>
        {
            // The kernel may have taken one more meanwhile: its own timers decide when.
            for (; ; first++)
            {
                router.To("X"u8).Send(Body);
            }
        });
        Assert.InRange(first, 1, 9);

        // Everything accepted is delivered, and then there is room again.
        for (int i = 0; i < first; i++)
        {
            using Message message = await dealer.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(Body.Length, message.Span.Length);
        }

        await router.To("X"u8).SendAsync(Body, Guard.Token).Guarded();
        Assert.InRange(await FillAsync(fixture, router), 0, 18);
    }

    /// <summary>Sends until the peer is full and stays so. Returns how many were accepted.</summary>
    private static async Task<int> FillAsync(StreamFixture fixture, RouterSocket router)
    {
        int accepted = 0;
        for (int quiet = 0; quiet < 5; quiet++)
        {
            while (router.To("X"u8).TrySend(Body))
            {
                accepted++;
                quiet = 0;
            }

            await fixture.SettleAsync();
        }

        return accepted;
    }
}
