using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
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
    public async Task Two_ROUTERs_that_connect_to_each_other_reconnect_however_often_they_are_cut(bool handover)
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
                a.To("B"u8).TrySend("to B"u8);
                b.To("A"u8).TrySend("to A"u8);
                bool areCut = Math.Max(toA.Cuts, toB.Cuts) >= Cuts;
                heardByA += Heard(a) && areCut ? 1 : 0;
                heardByB += Heard(b) && areCut ? 1 : 0;
                return heardByA > 0 && heardByB > 0;
            });
        }
    }

    [Fact]
    public async Task Messages_for_a_peer_that_rejected_a_connect_leave_over_the_connection_that_the_peer_makes()
    {
        await using var fixture = new ContextFixture();
        RawListener listener = fixture.Listen();
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions { RoutingId = "A"u8.ToArray(), Linger = TimeSpan.Zero, ReconnectInterval = TimeSpan.FromMinutes(1) });
        string bound = router.Bind("tcp://127.0.0.1:0");
        router.Connect(listener.Endpoint);
        byte[] greeting = ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8);
        RawPeer dialled = fixture.Own(await listener.AcceptAsync());
        await dialled.SendAsync(greeting);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out _));
        dialled.EndSending();
        await dialled.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? kept) && !kept.IsConnected);
        router.To("B"u8).Send("first"u8);
        router.To("B"u8).Send("second"u8);

        RawPeer newcomer = await fixture.ConnectAsync(bound);
        await newcomer.SendAsync(greeting);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? peer) && peer.IsConnected);
        router.To("B"u8).Send("third"u8);
        byte[] own = ZmpFixture.Greeting((byte)ZmpSocketType.Router, "A"u8);
        byte[] expected = [.. own, .. ZmpFixture.Frame(0, "first"u8), .. ZmpFixture.Frame(0, "second"u8),
            .. ZmpFixture.Frame(0, "third"u8)];
        Assert.Equal(expected, await newcomer.ReadAsync(expected.Length));
        await fixture.UntilAsync(() => router.GetStatistics().WrittenMessages == 3);
        SocketStatistics counters = router.GetStatistics();
        Assert.Equal((3, 3, 0, 0), (counters.AcceptedMessages, counters.WrittenMessages, counters.QueuedMessages,
            counters.DroppedMessages));
    }

    [Fact]
    public async Task A_connect_that_is_turned_away_behind_a_slow_handshake_gives_its_id_up_too()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RawListener listener = fixture.Listen();
        RouterSocket router = fixture.Context.CreateRouter(new RouterOptions { RoutingId = "A"u8.ToArray(), Linger = TimeSpan.Zero });
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        router.Connect(listener.Endpoint);
        byte[] greeting = ZmpFixture.Greeting((byte)ZmpSocketType.Router, "B"u8);
        RawPeer slow = fixture.Own(await listener.AcceptAsync());
        await slow.ReadAsync(ZmpFrame.HeaderSize);
        time.Advance(TimeSpan.FromSeconds(2)); // It was busy, or is far away.
        await slow.SendAsync(greeting);
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out _));
        slow.EndSending();
        await slow.ReadToAnyEndAsync();
        await fixture.UntilAsync(() => router.TryGetPeer(RoutingId.FromText("B"), out PeerInfo? kept) && !kept.IsConnected);
        RawPeer newcomer = await fixture.ConnectAsync(endpoint);
        await newcomer.SendAsync((byte[])[.. greeting, .. ZmpFixture.Frame(0, "from B"u8)]);
        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.True(message.RoutingId.Span.SequenceEqual("B"u8));
    }

    private static RouterSocket Make(ZlinkContext context, string name, bool handover, out string endpoint)
    {
        RouterSocket router = context.CreateRouter(new RouterOptions
        {
            RoutingId = System.Text.Encoding.ASCII.GetBytes(name),
            OnDuplicateRoutingId = handover ? DuplicateRoutingId.Replace : DuplicateRoutingId.Refuse,
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
