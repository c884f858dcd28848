using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>A ROUTER of ours that asks the holder of a routing id before a newcomer gets it, with holders and newcomers of both
/// implementations.</summary>
public sealed class SilentHolderTests
{
    private const string Id = "X";
    private const int Mark = 10;

    // The longest that a holder may be silent for: a machine that is busy must not make a live one silent.
    private static readonly TimeSpan s_long = Limits.Wait / 4;
    private static readonly TimeSpan s_short = TimeSpan.FromMilliseconds(300);

    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public void A_live_holder_keeps_its_id_and_the_newcomer_comes_in_when_it_has_left(PeerKind kind)
    {
        using ManagedPeer router = RouterWith(s_long);
        using IPeerSocket holder = kind.Create(NativeSocketType.Dealer);
        using IPeerSocket newcomer = kind.Create(NativeSocketType.Dealer);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        ConnectHolder(router, holder, endpoint);

        Connect(newcomer, endpoint);
        Assert.Contains("Disconnected(4)", newcomer.EventsUpTo(NativeEventTypes.ConnectRetried), StringComparer.Ordinal);
        router.SendText(Id, "to the holder");
        Assert.Equal("to the holder", holder.ReceiveText());

        holder.Dispose();
        AssertGetsIn(router, newcomer);
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public async Task A_silent_holder_loses_its_id_to_a_newcomer_whose_messages_are_kept_meanwhile(PeerKind kind)
    {
        using ManagedPeer router = RouterWith(s_short);
        using IPeerSocket holder = kind.Create(NativeSocketType.Dealer);
        using IPeerSocket newcomer = kind.Create(NativeSocketType.Dealer);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        await using var relay = new TcpRelay(endpoint);
        ConnectHolder(router, holder, relay.Endpoint);
        relay.Freeze();

        Connect(newcomer, endpoint);
        newcomer.SendText("second");
        newcomer.SendText("third");
        Assert.Equal("X|second", router.ReceiveText());
        Assert.Equal("X|third", router.ReceiveText());
        router.SendText(Id, "to the newcomer");
        Assert.Equal("to the newcomer", newcomer.ReceiveText());
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOurs), MemberType = typeof(PeerSides))]
    public void A_holder_whose_application_does_not_receive_is_live_while_its_queue_has_room(PeerKind kind)
    {
        using ManagedPeer router = RouterWith(s_long);
        using IPeerSocket holder = kind.Create(NativeSocketType.Dealer);
        using IPeerSocket newcomer = kind.Create(NativeSocketType.Dealer);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        ConnectHolder(router, holder, endpoint);
        for (int i = 0; i < 100; i++)
        {
            router.SendText(Id, $"{i}");
        }

        Connect(newcomer, endpoint);
        Assert.Contains("Disconnected(4)", newcomer.EventsUpTo(NativeEventTypes.ConnectRetried), StringComparer.Ordinal);
        for (int i = 0; i < 100; i++)
        {
            Assert.Equal($"{i}", holder.ReceiveText());
        }
    }

    // The native core reads on, up to 10 MiB, and parses none of it: the question waits behind what the application does not receive.
    [NativeTheory]
    [InlineData(PeerKind.Managed)]
    [InlineData(PeerKind.Native)]
    public void A_native_holder_at_its_mark_answers_no_question_and_loses_its_id(PeerKind newcomerKind)
    {
        using ManagedPeer router = RouterWith(s_short);
        using IPeerSocket holder = PeerKind.Native.Create(NativeSocketType.Dealer);
        using IPeerSocket newcomer = newcomerKind.Create(NativeSocketType.Dealer);
        holder.SetOption(NativeOption.ReceiveHighWaterMark, Mark);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        ConnectHolder(router, holder, endpoint);
        for (int i = 0; i < 10 * Mark; i++)
        {
            router.SendText(Id, $"{i}");
        }

        Connect(newcomer, endpoint);
        newcomer.SendText("second");
        Assert.Equal("X|second", router.ReceiveText());
        router.SendText(Id, "to the newcomer");
        Assert.Equal("to the newcomer", newcomer.ReceiveText());
        SocketStatistics counts = router.Socket.GetStatistics();
        Assert.Equal(counts.AcceptedMessages, counts.WrittenMessages + counts.DroppedMessages + counts.QueuedMessages);
    }

    private static ManagedPeer RouterWith(TimeSpan answerTime)
    {
        var router = new ManagedPeer(NativeSocketType.Router);
        ((RouterOptions)router.Socket.Options).OnDuplicateRoutingId = DuplicateRoutingId.ReplaceSilent;
        router.Socket.Options.HeartbeatTimeout = answerTime;
        return router;
    }

    private static void Connect(IPeerSocket dealer, string endpoint)
    {
        dealer.SetOption(NativeOption.ReconnectInterval, 10);
        dealer.SetOption(NativeOption.RoutingId, Id);
        dealer.Connect(endpoint);
    }

    private static void ConnectHolder(ManagedPeer router, IPeerSocket holder, string endpoint)
    {
        Connect(holder, endpoint);
        holder.SendText("first");
        Assert.Equal("X|first", router.ReceiveText());
    }

    // What a native one sends on a connection that is then refused is lost with it.
    private static void AssertGetsIn(ManagedPeer router, IPeerSocket newcomer) =>
        Limits.Until("the newcomer has come in", slice =>
        {
            newcomer.TrySendText("second");
            return router.Receive(slice) is not null;
        });
}
