using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Routing by id, with ours as the router and then as its peers.</summary>
public sealed class RouterTests
{
    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void Each_peer_gets_its_own_answers(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket a = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket b = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket c = peerKind.Create(NativeSocketType.Dealer);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        Connect(a, "a", endpoint);
        Connect(b, "b", endpoint);
        Connect(c, new string('c', 255), endpoint); // the longest id
        IPeerSocket[] peers = [a, b, c];
        foreach (IPeerSocket peer in peers)
        {
            peer.SendText("hello");
        }

        foreach (IPeerSocket _ in peers)
        {
            byte[][] request = router.Receive();
            router.Send(request[0], request[0]);
        }

        Assert.Equal("a", a.ReceiveText());
        Assert.Equal("b", b.ReceiveText());
        Assert.Equal(new string('c', 255), c.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void A_peer_without_a_name_is_known_by_16_bytes_and_can_be_answered(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket dealer = peerKind.Create(NativeSocketType.Dealer);
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        dealer.SendText("hello");
        byte[][] request = router.Receive();
        Assert.Equal(16, request[0].Length);
        Assert.Equal(0x40, request[0][6] & 0xF0); // the layout of a random UUID
        router.Send(request[0], "answer"u8.ToArray());
        Assert.Equal("answer", dealer.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void Messages_for_nobody_are_dropped_and_refused_if_mandatory(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket dealer = peerKind.Create(NativeSocketType.Dealer);
        Connect(dealer, "d", router.Bind("tcp://127.0.0.1:0"));
        dealer.SendText("hello");
        Assert.Equal("d|hello", router.ReceiveText());
        Assert.Equal(PeerSendResult.Sent, router.TrySendText("nobody", "lost"));
        router.SetOption(NativeOption.RouterMandatory, 1);
        Assert.Equal(PeerSendResult.Unreachable, router.TrySendText("nobody", "refused", "of two parts"));
        Assert.Equal(PeerSendResult.Sent, router.TrySendText("d", "found"));
        Assert.Equal("found", dealer.ReceiveText());

        // A peer that has gone is nobody.
        dealer.Dispose();
        router.WaitForEvent(NativeEventTypes.Disconnected);
        Limits.Until("the peer is forgotten", slice =>
        {
            router.NextEvent(slice);
            return router.TrySendText("d", "late") is PeerSendResult.Unreachable;
        });
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void With_handover_a_newcomer_takes_the_id_at_once(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket first = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket second = peerKind.Create(NativeSocketType.Dealer);
        router.SetOption(NativeOption.RouterHandover, 1);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        Connect(first, "X", endpoint);
        first.SendText("first");
        Assert.Equal("X|first", router.ReceiveText());
        Connect(second, "X", endpoint);
        second.SendText("second");
        Assert.Equal("X|second", router.ReceiveText());
        router.SendText("X", "answer");
        Assert.Equal("answer", second.ReceiveText());
        Assert.Null(first.ReceiveTextOrNothing());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void Without_handover_the_first_keeps_the_id(PeerKind routerKind, PeerKind peerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket first = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket second = peerKind.Create(NativeSocketType.Dealer);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        Connect(first, "X", endpoint);
        first.SendText("first");
        Assert.Equal("X|first", router.ReceiveText());
        Connect(second, "X", endpoint);
        second.SendText("second");
        Assert.Null(router.ReceiveTextOrNothing());
        router.SendText("X", "answer");
        Assert.Equal("answer", first.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void A_name_for_the_next_connect_can_be_sent_to_before_there_is_a_connection(PeerKind connecterKind, PeerKind binderKind)
    {
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Router);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Router);
        connecter.SetOption(NativeOption.RoutingId, "me");
        connecter.SetOption(NativeOption.ConnectRoutingId, "alias");
        connecter.SetOption(NativeOption.RouterMandatory, 1);
        connecter.Connect(binder.Bind("tcp://127.0.0.1:0"));
        Assert.Equal(PeerSendResult.Sent, connecter.TrySendText("alias", "hello"));
        Assert.Equal("me|hello", binder.ReceiveText());
        binder.SendText("me", "answer");
        Assert.Equal("alias|answer", connecter.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void A_probe_is_an_empty_message_ahead_of_all_others(PeerKind proberKind, PeerKind routerKind)
    {
        using IPeerSocket router = routerKind.Create(NativeSocketType.Router);
        using IPeerSocket prober = proberKind.Create(NativeSocketType.Dealer);
        prober.SetOption(NativeOption.ProbeRouter, 1);
        Connect(prober, "p", router.Bind("tcp://127.0.0.1:0"));
        prober.SendText("first");
        Assert.Equal("p|", router.ReceiveText());
        Assert.Equal("p|first", router.ReceiveText());
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void A_dealer_deals_its_messages_out_in_turn(PeerKind dealerKind, PeerKind workerKind)
    {
        using IPeerSocket dealer = dealerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket first = workerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket second = workerKind.Create(NativeSocketType.Dealer);

        // Connecting makes the queues at once, so the turns do not depend on who is connected first.
        dealer.Connect(first.Bind("tcp://127.0.0.1:0"));
        dealer.Connect(second.Bind("tcp://127.0.0.1:0"));
        for (int i = 0; i < 10; i++)
        {
            dealer.SendText($"{i}", "two parts to one peer");
        }

        for (int i = 0; i < 10; i += 2)
        {
            Assert.Equal($"{i}|two parts to one peer", first.ReceiveText());
            Assert.Equal($"{i + 1}|two parts to one peer", second.ReceiveText());
        }
    }

    private static void Connect(IPeerSocket socket, string id, string endpoint)
    {
        socket.SetOption(NativeOption.RoutingId, id);
        socket.Connect(endpoint);
    }
}
