using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>The events of ZMP sockets in their order, with the native numbers and addresses.</summary>
public sealed class ZmpMonitorTests
{
    private readonly ZlinkContext _context = new(new ZlinkContextOptions { ShardCount = 2 });

    [Fact]
    public async Task A_connection_that_succeeds_is_delayed_connected_and_ready_there_and_accepted_and_ready_here()
    {
        await using ZlinkContext context = _context;
        using RouterSocket server = context.CreateRouter(new RouterOptions { RoutingId = "server"u8.ToArray() });
        using DealerSocket client = context.CreateDealer(new DealerOptions { RoutingId = "client"u8.ToArray() });
        using EventReader here = server.ReadEvents(NativeEvents.All);
        using EventReader there = client.ReadEvents(NativeEvents.All);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        client.Connect(endpoint);

        SocketEvent delayed = await NextAsync(there, SocketEventTypes.ConnectDelayed);
        Assert.Equal((115L, "", endpoint), (delayed.ToNativeValue(), delayed.LocalAddress, delayed.RemoteAddress));
        SocketEvent connected = await NextAsync(there, SocketEventTypes.Connected);
        Assert.Equal(endpoint, connected.RemoteAddress);
        Assert.StartsWith("tcp://127.0.0.1:", connected.LocalAddress, StringComparison.Ordinal);
        Assert.True(connected.Value > 0);
        SocketEvent ready = await NextAsync(there, SocketEventTypes.ConnectionReady);
        Assert.Equal((0L, connected.LocalAddress, endpoint), (ready.Value, ready.LocalAddress, ready.RemoteAddress));
        Assert.Equal("server"u8.ToArray(), ready.RoutingId.ToArray());

        SocketEvent listening = await NextAsync(here, SocketEventTypes.Listening);
        Assert.Equal((endpoint, ""), (listening.LocalAddress, listening.RemoteAddress));
        SocketEvent accepted = await NextAsync(here, SocketEventTypes.Accepted);
        Assert.Equal((endpoint, connected.LocalAddress), (accepted.LocalAddress, accepted.RemoteAddress));
        ready = await NextAsync(here, SocketEventTypes.ConnectionReady);
        Assert.Equal((0L, connected.LocalAddress), (ready.Value, ready.RemoteAddress));
        Assert.Equal("client"u8.ToArray(), ready.RoutingId.ToArray());
    }

    [Fact]
    public async Task A_peer_that_goes_and_comes_back_is_disconnected_retried_and_ready_again()
    {
        await using ZlinkContext context = _context;
        RouterSocket server = context.CreateRouter();
        using DealerSocket client = context.CreateDealer();
        using EventReader there = client.ReadEvents(NativeEvents.All);
        using EventReader here = server.ReadEvents(
            SocketEventTypes.Closed | SocketEventTypes.MonitorStopped | SocketEventTypes.Disconnected);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        client.Connect(endpoint);
        await NextAsync(there, SocketEventTypes.ConnectDelayed);
        await NextAsync(there, SocketEventTypes.Connected);
        await NextAsync(there, SocketEventTypes.ConnectionReady);

        server.Dispose();
        Assert.Equal(endpoint, (await NextAsync(here, SocketEventTypes.Closed)).LocalAddress);
        Assert.Equal(0, (await NextAsync(here, SocketEventTypes.MonitorStopped)).Value);
        Assert.Equal(4, (await NextAsync(there, SocketEventTypes.Disconnected)).ToNativeValue());
        Assert.InRange((await NextAsync(there, SocketEventTypes.ConnectRetried)).Value, 100, 200);
        await NextAsync(there, SocketEventTypes.ConnectDelayed);

        using RouterSocket successor = context.CreateRouter();
        successor.Bind(endpoint);
        SocketEvent next = await there.ReadAsync(Guard.Token).Guarded();
        while (next.Type == SocketEventTypes.Closed)
        {
            await NextAsync(there, SocketEventTypes.ConnectRetried);
            await NextAsync(there, SocketEventTypes.ConnectDelayed);
            next = await there.ReadAsync(Guard.Token).Guarded();
        }

        Assert.Equal(SocketEventTypes.Connected, next.Type);
        await NextAsync(there, SocketEventTypes.ConnectionReady);
    }

    [Fact]
    public async Task A_peer_whose_handshake_ends_while_the_socket_is_closed_is_not_called_refused()
    {
        // The client is ready first, and the server at some moment around its end: a hundred times.
        await using ZlinkContext context = _context;
        for (int i = 0; i < 100; i++)
        {
            RouterSocket server = context.CreateRouter();
            using DealerSocket client = context.CreateDealer();
            using EventReader there = client.ReadEvents(SocketEventTypes.ConnectionReady);
            using EventReader here = server.ReadEvents(
                SocketEventTypes.ConnectionRefused | SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped);
            client.Connect(server.Bind("tcp://127.0.0.1:0"));
            await NextAsync(there, SocketEventTypes.ConnectionReady);
            server.Dispose();
            await NextAsync(here, SocketEventTypes.MonitorStopped);
            Assert.Equal(0, server.GetStatistics().RefusedConnections);
        }
    }

    [Fact]
    public async Task A_refused_attempt_is_delayed_closed_and_retried_or_the_end_if_nothing_is_to_be_retried()
    {
        await using ZlinkContext context = _context;
        string nobody = RawListener.NobodyListens();
        using (DealerSocket again = context.CreateDealer())
        {
            using EventReader monitor = again.ReadEvents();
            again.Connect(nobody);
            await NextAsync(monitor, SocketEventTypes.ConnectDelayed);
            Assert.Equal(nobody, (await NextAsync(monitor, SocketEventTypes.Closed)).RemoteAddress);
            Assert.InRange((await NextAsync(monitor, SocketEventTypes.ConnectRetried)).Value, 100, 200);
            await NextAsync(monitor, SocketEventTypes.ConnectDelayed);
        }

        DealerSocket once = context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.Zero });
        using EventReader last = once.ReadEvents();
        once.Connect(nobody);
        await NextAsync(last, SocketEventTypes.ConnectDelayed);
        await NextAsync(last, SocketEventTypes.Closed);
        SocketEvent given = await NextAsync(last, SocketEventTypes.ConnectGivenUp);
        Assert.Equal((0L, nobody), (given.Value, given.RemoteAddress));
        Assert.EndsWith("; no further attempt is made", given.Detail, StringComparison.Ordinal);
        await Guard.UntilAsync(() => once.PeerCount == 0, "what the test waits for");
        once.Dispose();
        await NextAsync(last, SocketEventTypes.MonitorStopped);
    }

    [Fact]
    public async Task A_name_that_is_not_found_begins_nothing_closes_nothing_and_is_looked_up_again()
    {
        await using ZlinkContext context = _context;
        using DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        using EventReader monitor = client.ReadEvents();
        client.Connect("tcp://no-such-host.invalid:5555");
        for (int round = 0; round < 2; round++)
        {
            await NextAsync(monitor, SocketEventTypes.ConnectRetried);
        }
    }

    [Fact]
    public async Task A_client_that_says_nothing_and_one_that_leaves_fail_the_handshake_without_detail()
    {
        await using ZlinkContext context = _context;
        using RouterSocket server = context.CreateRouter(new RouterOptions { HandshakeInterval = TimeSpan.FromMilliseconds(50) });
        using EventReader monitor = server.ReadEvents(NativeEvents.All);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        await NextAsync(monitor, SocketEventTypes.Listening);
        using (await RawPeer.ConnectAsync(endpoint))
        {
            await NextAsync(monitor, SocketEventTypes.Accepted);
            await NextAsync(monitor, SocketEventTypes.HandshakeFailedNoDetail);
            Assert.Equal(3, (await NextAsync(monitor, SocketEventTypes.Disconnected)).ToNativeValue());
        }

        using RouterSocket patient = context.CreateRouter();
        using EventReader other = patient.ReadEvents(NativeEvents.All);
        endpoint = patient.Bind("tcp://127.0.0.1:0");
        await NextAsync(other, SocketEventTypes.Listening);
        using (await RawPeer.ConnectAsync(endpoint))
        {
            await NextAsync(other, SocketEventTypes.Accepted);
        }

        await NextAsync(other, SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal(3, (await NextAsync(other, SocketEventTypes.Disconnected)).ToNativeValue());
        Assert.Equal(new HandshakeFailureCounts { TimedOut = 1 }, server.GetStatistics().HandshakeFailures);
        Assert.Equal(new HandshakeFailureCounts { Lost = 1 }, patient.GetStatistics().HandshakeFailures);
        Assert.Equal(1, patient.GetStatistics().FailedHandshakes);
    }

    [Fact]
    public async Task A_hello_with_a_wrong_magic_fails_the_handshake_as_protocol()
    {
        await using ZlinkContext context = _context;
        using RouterSocket server = context.CreateRouter();
        using EventReader monitor = server.ReadEvents(NativeEvents.All);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
        byte[] hello = new byte[ZmpHello.LargestFrame];
        int length = ZmpHello.Write(hello, ZmpSocketType.Dealer, [1]);
        hello[0] = 0;
        await peer.SendAsync(hello.AsMemory(0, length));
        await NextAsync(monitor, SocketEventTypes.Listening);
        await NextAsync(monitor, SocketEventTypes.Accepted);
        Assert.Equal(0x10000013, (await NextAsync(monitor, SocketEventTypes.HandshakeFailedProtocol)).ToNativeValue());
        Assert.Equal(3, (await NextAsync(monitor, SocketEventTypes.Disconnected)).ToNativeValue());
        Assert.Equal(new HandshakeFailureCounts { Malformed = 1 }, server.GetStatistics().HandshakeFailures);
    }

    [Fact]
    public async Task Types_that_do_not_match_are_disconnected_without_more_and_not_tried_again()
    {
        await using ZlinkContext context = _context;
        PairSocket server = context.CreatePair();
        DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectAfterFault = false });
        using EventReader here = server.ReadEvents(NativeEvents.All);
        using EventReader there = client.ReadEvents(NativeEvents.All);
        client.Connect(server.Bind("tcp://127.0.0.1:0"));
        await NextAsync(here, SocketEventTypes.Listening);
        await NextAsync(here, SocketEventTypes.Accepted);
        Assert.Equal(3, (await NextAsync(here, SocketEventTypes.Disconnected)).ToNativeValue());
        await NextAsync(there, SocketEventTypes.ConnectDelayed);
        await NextAsync(there, SocketEventTypes.Connected);
        Assert.Equal(3, (await NextAsync(there, SocketEventTypes.Disconnected)).ToNativeValue());
        await Guard.UntilAsync(() => client.PeerCount == 0, "what the test waits for");
        client.Dispose();
        await NextAsync(there, SocketEventTypes.MonitorStopped);

        // Whoever reads the other's HELLO first tells the other by an ERROR.
        foreach (ZmpSocket socket in new ZmpSocket[] { server, client })
        {
            HandshakeFailureCounts failures = socket.GetStatistics().HandshakeFailures;
            Assert.Equal((1, 1), (failures.Total, failures.TypeMismatch + failures.ErrorReceived));
        }

        server.Dispose();
    }

    [Fact]
    public async Task A_socket_that_ends_a_connection_raises_no_Disconnected_event_for_it()
    {
        await using ZlinkContext context = _context;
        RouterSocket server = context.CreateRouter();
        DealerSocket client = context.CreateDealer();
        using EventReader here = server.ReadEvents(
            SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped | SocketEventTypes.Closed);
        using EventReader there = client.ReadEvents(
            SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected | SocketEventTypes.MonitorStopped);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        client.Connect(endpoint);
        await NextAsync(there, SocketEventTypes.ConnectionReady);
        await NextAsync(here, SocketEventTypes.ConnectionReady);
        client.Disconnect(endpoint);
        Assert.Equal(4, (await NextAsync(here, SocketEventTypes.Disconnected)).ToNativeValue());
        client.Dispose();
        await NextAsync(there, SocketEventTypes.MonitorStopped);

        using DealerSocket second = context.CreateDealer();
        using EventReader unbound = second.ReadEvents(
            SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected | SocketEventTypes.ConnectRetried);
        second.Connect(endpoint);
        await NextAsync(here, SocketEventTypes.ConnectionReady);
        await NextAsync(unbound, SocketEventTypes.ConnectionReady);
        server.Unbind(endpoint);
        await NextAsync(here, SocketEventTypes.Closed);
        Assert.Equal(4, (await NextAsync(unbound, SocketEventTypes.Disconnected)).ToNativeValue());
        await NextAsync(unbound, SocketEventTypes.ConnectRetried);
        server.Dispose();
        await NextAsync(here, SocketEventTypes.MonitorStopped);
    }

    [Fact]
    public async Task When_a_context_ends_its_monitors_stop_first_and_hear_nothing_of_the_ends_of_connections()
    {
        await using ZlinkContext context = _context;
        await using var peers = new ContextFixture();
        RouterSocket server = context.CreateRouter();
        DealerSocket client = peers.Context.CreateDealer();
        using EventReader here = server.ReadEvents(NativeEvents.All & ~SocketEventTypes.Accepted);
        using EventReader there = client.ReadEvents(SocketEventTypes.ConnectionReady | SocketEventTypes.Disconnected);
        client.Connect(server.Bind("tcp://127.0.0.1:0"));
        await NextAsync(here, SocketEventTypes.Listening);
        await NextAsync(here, SocketEventTypes.ConnectionReady);
        await NextAsync(there, SocketEventTypes.ConnectionReady);

        await context.DisposeAsync().Guarded();

        await NextAsync(here, SocketEventTypes.Closed);
        await NextAsync(here, SocketEventTypes.MonitorStopped);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => here.ReadAsync(Guard.Token).Guarded());
        Assert.Equal(4, (await NextAsync(there, SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_refused_bind_is_an_event_with_the_address_without_its_scheme()
    {
        await using ZlinkContext context = _context;
        using RouterSocket first = context.CreateRouter();
        using RouterSocket second = context.CreateRouter();
        using EventReader monitor = second.ReadEvents();
        string endpoint = first.Bind("tcp://127.0.0.1:0");
        Assert.Throws<ZlinkException>(() => second.Bind(endpoint));
        SocketEvent failed = await NextAsync(monitor, SocketEventTypes.BindFailed);
        Assert.Equal((98L, endpoint["tcp://".Length..]), (failed.Value, failed.LocalAddress));
        Assert.Throws<ZlinkException>(() => second.Bind("tcp://"));
        Assert.Throws<ZlinkException>(() => second.Bind("pgm://127.0.0.1:5555"));
        Assert.False(monitor.TryRead(out _));
    }

    [Theory]
    [InlineData("tcp://no-such-host.invalid:5555", 19)]
    [InlineData("ws://no-such-host.invalid:5555/x", 19)]
    [InlineData("tcp://[::1]:5555", 19)]
    [InlineData("tls://127.0.0.1:5555", 22)]
    [InlineData("tcp://nonsense", 22)]
    [InlineData("tcp://127.0.0.1", 22)]
    [InlineData("tcp://127.0.0.1:x", 22)]
    [InlineData("tls://127.0.0.1:x", 22)]
    [InlineData("ws://127.0.0.1", 22)]
    [InlineData("ipc://@", 22)]
    public async Task A_refused_bind_has_the_native_number(string endpoint, long errno)
    {
        await using ZlinkContext context = _context;
        using RouterSocket socket = context.CreateRouter();
        using EventReader monitor = socket.ReadEvents();
        Assert.Throws<ZlinkException>(() => socket.Bind(endpoint));
        Assert.Equal(errno, (await NextAsync(monitor, SocketEventTypes.BindFailed)).Value);
    }

    [Theory]
    [InlineData("tcp://*:0", "")]
    [InlineData("ws://*:0/feed", "/feed")]
    [InlineData("ws://*:0", "/")]
    public async Task A_connection_that_came_in_by_a_wildcard_is_named_by_the_address_that_it_came_in_by_and_over_ws_by_the_path_too(
        string wildcard, string path)
    {
        await using ZlinkContext context = _context;
        using RouterSocket server = context.CreateRouter();
        using DealerSocket client = context.CreateDealer();
        using StreamSocket stream = context.CreateStream();
        using EventReader here = server.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.ConnectionReady);
        using EventReader there = client.ReadEvents(SocketEventTypes.Connected | SocketEventTypes.ConnectionReady);
        using EventReader streams = stream.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.ConnectionReady);
        string scheme = wildcard[..wildcard.IndexOf(':', StringComparison.Ordinal)];
        string numeric = $"{scheme}://127.0.0.1:{new Uri(server.Bind(wildcard).Replace('*', '0')).Port}{path}";
        client.Connect(numeric);
        SocketEvent connected = await NextAsync(there, SocketEventTypes.Connected);
        Assert.EndsWith(path, connected.LocalAddress, StringComparison.Ordinal);
        Assert.Equal(connected.LocalAddress, (await NextAsync(there, SocketEventTypes.ConnectionReady)).LocalAddress);
        foreach (SocketEventTypes type in new[] { SocketEventTypes.Accepted, SocketEventTypes.ConnectionReady })
        {
            SocketEvent one = await NextAsync(here, type);
            Assert.Equal((numeric, connected.LocalAddress), (one.LocalAddress, one.RemoteAddress));
        }

        numeric = $"{scheme}://127.0.0.1:{new Uri(stream.Bind(wildcard).Replace('*', '0')).Port}{path}";
        using StreamSocket raw = context.CreateStream();
        await raw.ConnectAsync(numeric, Guard.Token).Guarded();
        Assert.Equal(numeric, (await NextAsync(streams, SocketEventTypes.Accepted)).LocalAddress);
        Assert.Equal(numeric, (await NextAsync(streams, SocketEventTypes.ConnectionReady)).LocalAddress);
    }

    [Fact]
    public async Task Peers_over_inproc_are_ready_and_disconnected_with_their_routing_ids()
    {
        const string Endpoint = "inproc://events";
        await using ZlinkContext context = _context;
        RouterSocket server = context.CreateRouter(new RouterOptions { RoutingId = "server"u8.ToArray() });
        DealerSocket client = context.CreateDealer(new DealerOptions { RoutingId = "client"u8.ToArray() });
        using EventReader here = server.ReadEvents();
        using EventReader there = client.ReadEvents();
        client.Connect(Endpoint);
        server.Bind(Endpoint);
        SocketEvent accepted = await NextAsync(here, SocketEventTypes.ConnectionReady);
        SocketEvent connected = await NextAsync(there, SocketEventTypes.ConnectionReady);
        Assert.Equal((Endpoint, "", "client", "client"),
            (accepted.LocalAddress, accepted.RemoteAddress, TextOf(accepted.RoutingId), TextOf(accepted.PeerRoutingId)));
        Assert.Equal(("", Endpoint, "server", "server"),
            (connected.LocalAddress, connected.RemoteAddress, TextOf(connected.RoutingId), TextOf(connected.PeerRoutingId)));
        client.Send("x"u8);
        client.Dispose(); // Which this side asked for: it is no event there.
        await NextAsync(there, SocketEventTypes.MonitorStopped);
        SocketEvent gone = await NextAsync(here, SocketEventTypes.Disconnected);
        Assert.Equal((4L, "", "client", Endpoint),
            (gone.ToNativeValue(), TextOf(gone.RoutingId), TextOf(gone.PeerRoutingId), gone.LocalAddress));
        Assert.Equal("the peer ended the connection", gone.Detail);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();

        DealerSocket next = context.CreateDealer();
        using EventReader ofNext = next.ReadEvents();
        next.Connect(Endpoint);
        await NextAsync(ofNext, SocketEventTypes.ConnectionReady);
        await NextAsync(here, SocketEventTypes.ConnectionReady);
        server.Dispose();
        await NextAsync(here, SocketEventTypes.MonitorStopped);
        SocketEvent lost = await NextAsync(ofNext, SocketEventTypes.Disconnected);
        Assert.Equal((4L, "server", "server", Endpoint),
            (lost.ToNativeValue(), TextOf(lost.RoutingId), TextOf(lost.PeerRoutingId), lost.RemoteAddress));

        static string TextOf(ReadOnlyMemory<byte> id) => System.Text.Encoding.ASCII.GetString(id.Span);
    }

    [Fact]
    public async Task A_second_peer_of_a_PAIR_is_refused_with_an_event_of_ours_and_disconnected()
    {
        await using ZlinkContext context = _context;
        using PairSocket server = context.CreatePair();
        using PairSocket first = context.CreatePair();
        using PairSocket second = context.CreatePair();
        using EventReader monitor = server.ReadEvents(
            SocketEventTypes.ConnectionReady | SocketEventTypes.ConnectionRefused | SocketEventTypes.Disconnected);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        first.Connect(endpoint);
        await NextAsync(monitor, SocketEventTypes.ConnectionReady);
        second.Connect(endpoint);
        await NextAsync(monitor, SocketEventTypes.ConnectionRefused);
        Assert.Equal(3, (await NextAsync(monitor, SocketEventTypes.Disconnected)).ToNativeValue());
        Assert.True(server.GetStatistics().RefusedConnections >= 1);
    }

    [Fact]
    public async Task A_message_that_was_received_is_not_unread_any_more()
    {
        await using ZlinkContext context = _context;
        using PairSocket server = context.CreatePair();
        using PairSocket client = context.CreatePair();
        client.Connect(server.Bind("tcp://127.0.0.1:0"));
        client.Send("a"u8);
        client.Send("b"u8);
        await Guard.UntilAsync(() => server.GetStatistics().ReceivedMessages == 2, "what the test waits for");
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        Assert.Equal((1, 1), (server.GetStatistics().DeliveredMessages, server.GetStatistics().UnreadMessages));
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        Assert.Equal(default, Assert.Single(server.GetPeers()).Unread);
        Assert.Contains("received: 2 read = 2 delivered + 0 dropped + 0 unread", server.Describe(), StringComparison.Ordinal);
    }

    private static async Task<SocketEvent> NextAsync(EventReader monitor, SocketEventTypes expected)
    {
        SocketEvent next = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.True(next.Type == expected, $"{next.Type} and not {expected}: {next.Detail}");
        return next;
    }
}
