using System.Net;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Interop.Tests.Matrix;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Interop.Tests.Peers;
using Net.Zlink.Interop.Tests.Support;
using Xunit;

namespace Net.Zlink.Interop.Tests.Scenarios;

/// <summary>The events of ours and of the native end of the same connection, side by side.</summary>
public sealed class MonitorEventTests
{
    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryTransport), MemberType = typeof(PeerSides))]
    public void A_connection_is_told_in_the_same_words_at_both_ends(PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Dealer);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Router);
        binder.SetOption(NativeOption.RoutingId, "binder");
        connecter.SetOption(NativeOption.RoutingId, "connecter");
        string bound = endpoint.Connect(binder, connecter);

        PeerEvent listening = binder.WaitForEvent(NativeEventTypes.Listening);
        Assert.Equal(bound, listening.LocalAddress);
        Assert.Equal(NativeEventTypes.Accepted, binder.NextEvent(Limits.Wait)!.Type);
        PeerEvent accepted = binder.NextEvent(Limits.Wait)!;
        Assert.Equal((NativeEventTypes.ConnectionReady, 0L, "connecter"),
            (accepted.Type, accepted.Value, Encoding.UTF8.GetString(accepted.RoutingId)));

        Assert.Equal(NativeEventTypes.ConnectDelayed, connecter.NextEvent(Limits.Wait)!.Type);
        PeerEvent connected = connecter.NextEvent(Limits.Wait)!;
        Assert.Equal((NativeEventTypes.Connected, bound), (connected.Type, connected.RemoteAddress));
        PeerEvent ready = connecter.NextEvent(Limits.Wait)!;
        Assert.Equal((NativeEventTypes.ConnectionReady, 0L, "binder"), (ready.Type, ready.Value, Encoding.UTF8.GetString(ready.RoutingId)));
        Assert.Equal(bound, ready.RemoteAddress);
        if (transport is not TestTransport.Ipc)
        {
            // On ws and wss the native core writes the path of its own endpoint behind both addresses, ours "/" behind those that are no
            // endpoint: a peer's port has no path.
            Assert.Equal(AddressOf(ready.LocalAddress), AddressOf(accepted.RemoteAddress));
            Assert.Equal(AddressOf(ready.RemoteAddress), AddressOf(accepted.LocalAddress));
        }

        static string AddressOf(string endpoint) => new Uri(endpoint).GetLeftPart(UriPartial.Authority);
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryRelayedTransport), MemberType = typeof(PeerSides))]
    public async Task A_lost_connection_is_told_then_tried_again(PeerKind connecterKind, PeerKind binderKind, TestTransport transport)
    {
        using var endpoint = new TestEndpoint(transport);
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Pair);
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Pair);
        endpoint.Equip(binder, connecter);
        await using var relay = new TcpRelay(binder.Bind(endpoint.Text));
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        connecter.Connect(relay.Endpoint);
        connecter.WaitForEvent(NativeEventTypes.ConnectionReady);
        binder.WaitForEvent(NativeEventTypes.ConnectionReady);
        relay.Cut();
        Assert.Equal(["Disconnected(4)", "ConnectRetried", "ConnectDelayed", "Connected", "ConnectionReady"],
            connecter.EventsUpTo(NativeEventTypes.ConnectionReady));
        Assert.Equal("Disconnected(4)", binder.EventsUpTo(NativeEventTypes.Disconnected)[0]);
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.BothOverEveryTransport), MemberType = typeof(PeerSides))]
    public void A_peer_that_closes_is_told_as_a_lost_connection(PeerKind leftKind, PeerKind closingKind, TestTransport transport)
    {
        foreach (bool closerIsBound in new[] { true, false })
        {
            using var endpoint = new TestEndpoint(transport);
            using IPeerSocket left = leftKind.Create(NativeSocketType.Pair);
            using IPeerSocket closing = closingKind.Create(NativeSocketType.Pair);
            (IPeerSocket binder, IPeerSocket connecter) = closerIsBound ? (closing, left) : (left, closing);
            endpoint.Connect(binder, connecter);
            left.WaitForEvent(NativeEventTypes.ConnectionReady);
            closing.WaitForEvent(NativeEventTypes.ConnectionReady);
            closing.Dispose();
            Assert.Equal(["Disconnected(4)"], left.EventsUpTo(NativeEventTypes.Disconnected));
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Each), MemberType = typeof(PeerSides))]
    public void A_refused_attempt_is_told_and_repeated(PeerKind connecterKind)
    {
        // Bound for as long as the test takes, so that nobody else gets its port, and never listening.
        using var deaf = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        deaf.Bind(new IPEndPoint(IPAddress.Loopback, 0));
        using IPeerSocket connecter = connecterKind.Create(NativeSocketType.Pair);
        connecter.SetOption(NativeOption.ReconnectInterval, 10);
        connecter.Connect($"tcp://{deaf.LocalEndPoint}");
        for (int i = 0; i < 3; i++)
        {
            Assert.Equal(["ConnectDelayed", "Closed", "ConnectRetried"], connecter.EventsUpTo(NativeEventTypes.ConnectRetried));
        }
    }

    [NativeTheory]
    [InlineData(NativeSocketType.Pair, NativeSocketType.Dealer)]
    [InlineData(NativeSocketType.Dealer, NativeSocketType.Pub)]
    [InlineData(NativeSocketType.Pub, NativeSocketType.Router)]
    [InlineData(NativeSocketType.XSub, NativeSocketType.Sub)]
    [InlineData(NativeSocketType.Router, NativeSocketType.Pair)]
    public void Types_that_do_not_fit_are_told_at_both_ends_and_not_tried_again(NativeSocketType connecterType, NativeSocketType binderType)
    {
        foreach ((PeerKind connecterKind, PeerKind binderKind) in PeerSides.Pairs())
        {
            using IPeerSocket binder = binderKind.Create(binderType);
            using IPeerSocket connecter = connecterKind.Create(connecterType);
            connecter.SetOption(NativeOption.ReconnectInterval, 10);
            connecter.Connect(binder.Bind("tcp://127.0.0.1:0"));
            Assert.Equal(["ConnectDelayed", "Connected", "Disconnected(3)"], connecter.EventsUpTo(NativeEventTypes.Disconnected));
            Assert.Equal(["Listening", "Accepted", "Disconnected(3)"], binder.EventsUpTo(NativeEventTypes.Disconnected));
            Assert.Null(connecter.NextEvent(Limits.Nothing)); // 20 times the pause before another attempt
        }
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Each), MemberType = typeof(PeerSides))]
    public async Task Garbage_is_told_as_a_failed_handshake(PeerKind binderKind)
    {
        using IPeerSocket binder = binderKind.Create(NativeSocketType.Router);
        string bound = binder.Bind("tcp://127.0.0.1:0");
        using var raw = new Socket(AddressFamily.InterNetwork, SocketType.Stream, ProtocolType.Tcp);
        await raw.ConnectAsync(IPEndPoint.Parse(bound["tcp://".Length..]), Limits.Token).AsTask().Guarded();
        await raw.SendAsync("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"u8.ToArray(), SocketFlags.None, Limits.Token).AsTask().Guarded();
        Assert.Equal(["Listening", "Accepted", "Disconnected(3)"], binder.EventsUpTo(NativeEventTypes.Disconnected));
    }

    [NativeTheory]
    [MemberData(nameof(PeerSides.Both), MemberType = typeof(PeerSides))]
    public void A_message_over_the_limit_ends_the_connection_at_both_ends_for_good(PeerKind limitedKind, PeerKind senderKind)
    {
        using IPeerSocket limited = limitedKind.Create(NativeSocketType.Pair);
        using IPeerSocket sender = senderKind.Create(NativeSocketType.Pair);
        limited.SetOption(NativeOption.MaxMessageSize, BitConverter.GetBytes(1000L));
        sender.SetOption(NativeOption.ReconnectInterval, 10);
        sender.Connect(limited.Bind("tcp://127.0.0.1:0"));
        sender.Send(TestPayload.Make(1, 1000));
        TestPayload.AssertEqual([TestPayload.Make(1, 1000)], limited.Receive(), "at the limit");
        sender.Send(TestPayload.Make(2, 1001));
        Assert.Equal("Disconnected(3)", limited.EventsUpTo(NativeEventTypes.Disconnected)[^1]);
        Assert.Equal("Disconnected(3)", sender.EventsUpTo(NativeEventTypes.Disconnected)[^1]);
        Assert.Null(sender.NextEvent(Limits.Nothing)); // 20 times the pause before another attempt
    }
}
