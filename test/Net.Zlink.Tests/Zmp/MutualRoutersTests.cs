using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Two ROUTERs that connect to each other, as in a mesh: one connection of the two has a place, whichever it is.</summary>
public sealed class MutualRoutersTests
{
    private const int Meshes = 3;
    private const int Cuts = 3;

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task They_find_each_other_again_however_often_their_connection_is_cut(bool handover)
    {
        await using var fixture = new ContextFixture();
        for (int mesh = 0; mesh < Meshes; mesh++)
        {
            await using RouterSocket a = Make(fixture.Context, "A", handover, out string endpointOfA);
            await using RouterSocket b = Make(fixture.Context, "B", handover, out string endpointOfB);
            int[] budgets = [.. Enumerable.Range(1, Cuts).Select(i => 300 + (100 * i) + mesh)];
            await using var toA = new CuttingRelay(endpointOfA, budgets);
            await using var toB = new CuttingRelay(endpointOfB, budgets);
            a.Connect(toB.Endpoint);
            b.Connect(toA.Endpoint);
            int heardByA = 0;
            int heardByB = 0;
            await fixture.UntilAsync(() =>
            {
                a.TrySend("B"u8, "to B"u8);
                b.TrySend("A"u8, "to A"u8);
                bool areCut = Math.Max(toA.Cuts, toB.Cuts) >= Cuts;
                heardByA += Heard(a) && areCut ? 1 : 0;
                heardByB += Heard(b) && areCut ? 1 : 0;
                return heardByA > 0 && heardByB > 0;
            });
        }
    }

    private static RouterSocket Make(ZlinkContext context, string name, bool handover, out string endpoint)
    {
        RouterSocket router = context.CreateRouter(new RouterOptions
        {
            RoutingId = System.Text.Encoding.ASCII.GetBytes(name),
            Handover = handover,
            Linger = TimeSpan.Zero,
            SendHighWaterMark = 10,
        });
        endpoint = router.Bind("tcp://127.0.0.1:0");
        return router;
    }

    private static bool Heard(RouterSocket router)
    {
        bool heard = router.TryReceive(out Message message);
        message.Dispose();
        return heard;
    }
}
