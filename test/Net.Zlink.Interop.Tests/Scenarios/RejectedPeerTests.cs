using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>Peers that ours has no place for. At the native core they stay connected and are never heard; here they are told, by the end of
/// their connection.</summary>
public sealed class RejectedPeerTests
{
    [Theory]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), MemberType = typeof(PeerSides))]
    public void A_second_peer_of_a_pair_is_closed_and_comes_in_when_the_first_has_gone(PeerKind peerKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using var binder = new ManagedPeer(NativeSocketType.Pair);
        using IPeerSocket first = peerKind.Create(NativeSocketType.Pair);
        using IPeerSocket second = peerKind.Create(NativeSocketType.Pair);
        string bound = binder.Bind(endpoint.Text);
        first.Connect(bound);
        first.SendText("first");
        Assert.Equal("first", binder.ReceiveText());
        second.SetOption(NativeOption.ReconnectInterval, 10);
        second.Connect(bound);
        Assert.Contains("Disconnected(4)", second.EventsUpTo(NativeEventTypes.ConnectRetried), StringComparer.Ordinal);
        Assert.Contains("ConnectRetried", second.EventsUpTo(NativeEventTypes.ConnectRetried), StringComparer.Ordinal); // and again

        binder.SendText("to the first");
        Assert.Equal("to the first", first.ReceiveText());
        first.Dispose();
        AssertGetsIn(binder, second, "second");
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), MemberType = typeof(PeerSides))]
    public void A_peer_whose_id_is_in_use_is_closed_and_comes_in_when_the_id_is_free(PeerKind peerKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using var router = new ManagedPeer(NativeSocketType.Router);
        using IPeerSocket first = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket second = peerKind.Create(NativeSocketType.Dealer);
        string bound = router.Bind(endpoint.Text);
        Connect(first, bound);
        first.SendText("first");
        Assert.Equal("X|first", router.ReceiveText());
        second.SetOption(NativeOption.ReconnectInterval, 10);
        Connect(second, bound);
        Assert.Contains("Disconnected(4)", second.EventsUpTo(NativeEventTypes.ConnectRetried), StringComparer.Ordinal);
        router.SendText("X", "to the first");
        Assert.Equal("to the first", first.ReceiveText());
        first.Dispose();
        AssertGetsIn(router, second, "X|second");
        router.SendText("X", "to the second");
        Assert.Equal("to the second", second.ReceiveText());
    }

    [Theory]
    [MemberData(nameof(PeerSides.OfOursOverEachTransport), MemberType = typeof(PeerSides))]
    public void A_peer_whose_id_is_handed_over_is_closed_and_does_not_come_back(PeerKind peerKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using var router = new ManagedPeer(NativeSocketType.Router);
        using IPeerSocket first = peerKind.Create(NativeSocketType.Dealer);
        using IPeerSocket second = peerKind.Create(NativeSocketType.Dealer);
        router.SetOption(NativeOption.RouterHandover, 1);
        string bound = router.Bind(endpoint.Text);
        first.SetOption(NativeOption.ReconnectInterval, 10);
        Connect(first, bound);
        first.SendText("first");
        Assert.Equal("X|first", router.ReceiveText());
        first.WaitForEvent(NativeEventTypes.ConnectionReady);
        Connect(second, bound);
        Assert.Equal(["Disconnected(3)"], first.EventsUpTo(NativeEventTypes.Disconnected));
        second.SendText("second");
        Assert.Equal("X|second", router.ReceiveText());
        router.SendText("X", "to the second");
        Assert.Equal("to the second", second.ReceiveText());

        // Or the two would take the id from each other for ever.
        Assert.Null(first.NextEvent(Limits.Nothing));
        Assert.Equal("ConnectDelayed, Connected, ConnectionReady", string.Join(", ", second.EventsUpTo(NativeEventTypes.ConnectionReady)));
        Assert.Null(second.NextEvent(TimeSpan.Zero));
    }

    // What it sends on a connection that is then refused is lost with it.
    private static void AssertGetsIn(IPeerSocket binder, IPeerSocket late, string expected)
    {
        byte[][]? message = null;
        Limits.Until("the other one has come in", slice =>
        {
            late.TrySendText("second");
            return (message = binder.Receive(slice)) is not null;
        });
        Assert.Equal(expected, string.Join('|', message!.Select(System.Text.Encoding.UTF8.GetString)));
    }

    private static void Connect(IPeerSocket dealer, string endpoint)
    {
        dealer.SetOption(NativeOption.RoutingId, "X");
        dealer.Connect(endpoint);
    }
}
