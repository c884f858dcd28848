using System.Text;
using Microsoft.Extensions.Logging;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Zmp;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>A connect that comes to nothing says why: in its events, in the log once for each reason, and in what the socket says of its
/// peers.</summary>
public sealed class ConnectProblemTests : IDisposable
{
    private readonly RecordingLoggers _log = new();

    public void Dispose() => _log.Dispose();

    [Fact]
    public async Task A_name_that_is_not_found_is_said_at_each_retry_and_by_the_socket_and_logged_once()
    {
        await using ZlinkContext context = NewContext();
        using DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        client.Connect("tcp://no-such-host.invalid:5555");
        for (int round = 0; round < 3; round++)
        {
            SocketEvent retried = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Contains("no-such-host.invalid", retried.Detail, StringComparison.Ordinal);
            Assert.Equal(retried.Detail, Assert.Single(client.GetPeers()).WhyNotConnected);
            Assert.Contains($"not connected: {retried.Detail}", client.Describe(), StringComparison.Ordinal);
        }

        (LogLevel level, string line) = Assert.Single(_log.Lines);
        Assert.Equal(LogLevel.Warning, level);
        Assert.Contains("no-such-host.invalid", line, StringComparison.Ordinal);
    }

    [Fact]
    public async Task The_stated_reason_for_a_failed_connect_follows_a_server_that_comes_and_goes()
    {
        await using ZlinkContext context = NewContext();
        string nobody = RawListener.NobodyListens();
        using DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectInterval = TimeSpan.FromMilliseconds(1) });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried | SocketEventTypes.ConnectionReady);
        client.Connect(nobody);
        Assert.Contains("no process listens", (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Detail, StringComparison.Ordinal);
        using (RouterSocket server = context.CreateRouter())
        {
            server.Bind(nobody);
            await monitor.NextAsync(SocketEventTypes.ConnectionReady);
            Assert.Null(Assert.Single(client.GetPeers()).WhyNotConnected);
        }

        Assert.StartsWith("the connection ended: ", (await monitor.NextAsync(SocketEventTypes.ConnectRetried)).Detail,
            StringComparison.Ordinal);
        await Guard.UntilAsync(() => _log.Lines.Count(static one => one.Text.Contains("no process listens", StringComparison.Ordinal)) == 2,
            "the second outage is logged, too");
        await monitor.NextAsync(SocketEventTypes.ConnectRetried);
        await monitor.NextAsync(SocketEventTypes.ConnectRetried);
        string[] warnings = [.. _log.Lines.Where(static one => one.Level >= LogLevel.Warning).Select(static one => one.Text)];
        Assert.True(warnings.Length == 2, string.Join('\n', warnings));
    }

    [Fact]
    public async Task A_peer_that_speaks_something_else_ends_the_endpoint_with_an_event_and_a_line()
    {
        await using ZlinkContext context = NewContext();
        using DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectAfterFault = false });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectGivenUp);
        using var listener = new RawListener();
        client.Connect(listener.Endpoint);
        using (RawPeer peer = await listener.AcceptAsync())
        {
            await peer.SendAsync("HTTP/1.1 503 Service Unavailable\r\n\r\n"u8.ToArray());
            SocketEvent given = await monitor.ReadAsync(Guard.Token).Guarded();
            Assert.Equal(listener.Endpoint, given.RemoteAddress);
            Assert.StartsWith("the peer broke the protocol: ", given.Detail, StringComparison.Ordinal);
        }

        await Guard.UntilAsync(() => _log.Lines.Any(static one => one.Text.Contains("gave up connecting", StringComparison.Ordinal)),
            "the log hears of it");
    }

    [Theory]
    [InlineData("05 00 00", "the peer answered with an ERROR, code 00, internal error")]
    [InlineData("05 05 00", "the peer answered with an ERROR, code 05, socket type mismatch")]
    [InlineData("05 04 03 62 69 67", "the peer answered with an ERROR, code 04, body too large; the peer says \"big\"")]
    public async Task A_peer_that_answers_with_an_ERROR_ends_the_endpoint_whatever_its_code_but_those_of_timers(string error, string words)
    {
        await using ZlinkContext context = NewContext();
        using DealerSocket client = context.CreateDealer(new DealerOptions { ReconnectAfterFault = false });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectGivenUp | SocketEventTypes.ConnectRetried);
        using var listener = new RawListener();
        client.Connect(listener.Endpoint);
        using RawPeer peer = await listener.AcceptAsync();
        await peer.SendAsync((byte[])[.. ZmpFixture.Hex(ZmpFixture.Hello), .. ZmpFixture.Hex(ZmpFixture.Ready),
            .. ZmpFixture.Control(error)]);
        SocketEvent given = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(SocketEventTypes.ConnectGivenUp, given.Type);
        Assert.Equal($"{words}; ReconnectAfterFault would retry it; no further attempt is made", given.Detail);
    }

    [Fact]
    public async Task Both_sides_of_an_inproc_name_are_told_when_a_type_binds_it_that_the_waiting_one_does_not_talk_to()
    {
        await using ZlinkContext context = NewContext();
        using SubSocket waiting = context.CreateSub();
        using EventReader there = waiting.ReadEvents(SocketEventTypes.ConnectionRefused);
        waiting.Subscribe([]);
        waiting.Connect("inproc://name");
        Assert.Contains("no socket of this context has bound the name yet", waiting.Describe(), StringComparison.Ordinal);
        using (RouterSocket wrong = context.CreateRouter())
        {
            using EventReader here = wrong.ReadEvents(SocketEventTypes.ConnectionRefused);
            wrong.Bind("inproc://name");
            Assert.Contains("a SUB has connected to this name", (await here.ReadAsync(Guard.Token).Guarded()).Detail,
                StringComparison.Ordinal);
            Assert.Contains("a ROUTER is bound to the name", (await there.ReadAsync(Guard.Token).Guarded()).Detail,
                StringComparison.Ordinal);
            Assert.Contains("a ROUTER is bound to the name", Assert.Single(waiting.GetPeers()).WhyNotConnected, StringComparison.Ordinal);
            Assert.Equal(2, _log.Lines.Count(static one => one.Level == LogLevel.Warning));
        }

        using PubSocket right = context.CreatePub();
        right.Bind("inproc://name");
        right.Send("x"u8);
        (await waiting.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        Assert.Null(Assert.Single(waiting.GetPeers()).WhyNotConnected);
    }

    [Fact]
    public async Task Of_a_lost_peer_the_side_that_it_came_in_by_says_whose_id_a_ROUTER_cannot_send_to_any_more()
    {
        await using ZlinkContext context = NewContext();
        using RouterSocket server = context.CreateRouter();
        using EventReader monitor = server.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectionRefused);
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        using DealerSocket named = context.CreateDealer(new DealerOptions { RoutingId = "named"u8.ToArray() });
        named.Connect(endpoint);
        named.Send("x"u8);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        using (DealerSocket same = context.CreateDealer(
            new DealerOptions { RoutingId = "named"u8.ToArray(), ReconnectInterval = TimeSpan.Zero }))
        {
            same.Connect(endpoint);
            SocketEvent refused = await monitor.NextAsync(SocketEventTypes.ConnectionRefused);
            Assert.Contains("its routing id, named, is in use", refused.Detail, StringComparison.Ordinal);
            Assert.Equal("named", Encoding.ASCII.GetString(refused.PeerRoutingId.Span));
            await monitor.NextAsync(SocketEventTypes.Disconnected);
        }

        named.Dispose();
        SocketEvent gone = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal(("named", 0), (Encoding.ASCII.GetString(gone.PeerRoutingId.Span), gone.RoutingId.Length));

        // One without a name of its own has that which the messages come with.
        using (RawPeer nameless = await RawPeer.ConnectAsync(endpoint))
        {
            await nameless.SendAsync((byte[])[.. ZmpFixture.Frame(2, [1, (byte)ZmpSocketType.Dealer, 0]), .. ZmpFixture.Frame(2, [4]),
                .. ZmpFixture.Frame(0, [7])]);
            using Message message = await server.ReceiveAsync(Guard.Token).Guarded();
            nameless.Dispose();
            gone = await monitor.NextAsync(SocketEventTypes.Disconnected);
            Assert.NotEqual(0, message.RoutingId.Length);
            Assert.Equal(message.RoutingId.Span, gone.PeerRoutingId.Span);
        }
    }

    [Fact]
    public async Task A_port_probe_logs_no_warning()
    {
        await using ZlinkContext context = NewContext();
        using RouterSocket server = context.CreateRouter();
        string endpoint = server.Bind("tcp://127.0.0.1:0");
        (await RawPeer.ConnectAsync(endpoint)).Dispose();
        await Guard.UntilAsync(() => server.GetStatistics().FailedHandshakes == 1 && Lines().Any(), "the probe is over");
        Assert.All(Lines(), static one => Assert.Equal(LogLevel.Debug, one.Level));

        // A busy machine may hold the shard up, which is another warning.
        IEnumerable<(LogLevel Level, string Text)> Lines() =>
            _log.Lines.Where(one => one.Text.Contains(endpoint, StringComparison.Ordinal));
    }

    private ZlinkContext NewContext() => new(new ZlinkContextOptions { LoggerFactory = _log });
}
