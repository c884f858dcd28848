using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.WebSocket;
using Net.Zlink.Transports;
using Xunit;

namespace Net.Zlink.Tests.Transports.Tls;

/// <summary>Peers that begin a handshake and do not go on with it, when others want their places.</summary>
public sealed class HandshakeSlotsTests : IDisposable
{
    private const int Places = 3;
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(300); // More than the line's looks are apart.

    private readonly TestCertificates _own = new();
    private readonly ManualTimeProvider _time = new();
    private readonly ZlinkContext _context;
    private readonly ZlinkContext _other = new(); // The clients'; its clock is the real one.
    private readonly StreamSocket _server;
    private readonly EventReader _monitor;

    public HandshakeSlotsTests()
    {
        _context = new ZlinkContext(new ZlinkContextOptions { TimeProvider = _time, MaxHandshakes = Places });
        _server = _context.CreateStream();
        _server.Options.Tls.Certificate = _own.Server;
        _monitor = _server.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.HandshakeFailedNoDetail);
    }

    public void Dispose()
    {
        _monitor.Dispose();
        _context.Dispose();
        _other.Dispose();
        _own.Dispose();
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task With_every_place_taken_by_a_peer_that_stalls_one_of_them_gives_way_to_a_good_one(string scheme)
    {
        string endpoint = _server.Bind($"{scheme}://127.0.0.1:0");
        List<RawPeer> stalled = await StallAsync(endpoint, scheme);
        Task<uint> connecting = Connect(endpoint);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == 1, "the good client waits in line");
        using Pacer pacer = await Pacer.CreateAsync();
        _time.Advance(HandshakeLimiter.ShortestGrace - Moment);
        await pacer.RoundTripAsync();
        Assert.False(connecting.IsCompleted);
        Assert.Equal(0, _server.PeerCount);

        _time.Advance(2 * Moment);
        await connecting.Guarded();
        SocketEvent gone = await _monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal("the peer had delayed its handshake for 1500 ms while others waited for a slot (MaxHandshakes is 3)",
            gone.Detail);
        await Guard.UntilAsync(
            () => _context.Host.Handshakes.Running == Places - 1, "the others keep their places: nobody wants them");
        await Guard.UntilAsync(() => _server.GetStatistics().HandshakeFailures.TimedOut == 1, "it is counted, right behind its event");
        _time.Advance(_server.Options.HandshakeInterval);
        stalled.ForEach(static peer => peer.Dispose());
    }

    [Fact]
    public async Task Peers_that_stall_keep_their_places_until_their_time_is_up_where_nobody_wants_them()
    {
        string endpoint = _server.Bind("tls://127.0.0.1:0");
        List<RawPeer> stalled = await StallAsync(endpoint, "tls");
        using Pacer pacer = await Pacer.CreateAsync();
        _time.Advance(_server.Options.HandshakeInterval - Moment);
        await pacer.RoundTripAsync();
        Assert.Equal(0, _server.GetStatistics().FailedHandshakes);
        _time.Advance(2 * Moment);
        for (int i = 0; i < Places; i++)
        {
            SocketEvent failed = await _monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
            Assert.Equal("the TLS handshake was not complete within 30000 ms", failed.Detail);
        }

        stalled.ForEach(static peer => peer.Dispose());
    }

    [Fact]
    public async Task A_peer_that_sends_a_byte_now_and_then_keeps_its_place_no_longer()
    {
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        List<RawPeer> stalled = await StallAsync(endpoint, "ws");
        Task<uint> connecting = Connect(endpoint);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == 1, "the good client waits in line");
        foreach (byte next in "ET "u8.ToArray())
        {
            _time.Advance(HandshakeLimiter.ShortestGrace / 4);
            Assert.Equal(0, _server.GetStatistics().HandshakeFailures.TimedOut);
            foreach (RawPeer peer in stalled)
            {
                await peer.SendAsync(new[] { next });
            }
        }

        // In steps: while a byte of its is looked at a handshake does not wait, and keeps its place for that moment.
        using Pacer pacer = await Pacer.CreateAsync();
        for (TimeSpan passed = TimeSpan.Zero; passed < 2 * HandshakeLimiter.ShortestGrace && !connecting.IsCompleted; passed += Moment)
        {
            _time.Advance(Moment);
            await pacer.RoundTripAsync();
        }

        await connecting.Guarded();
        SocketEvent gone = await _monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.StartsWith("the peer had delayed its handshake", gone.Detail, StringComparison.Ordinal);
        stalled.ForEach(static peer => peer.Dispose());
    }

    [Fact]
    public async Task As_many_give_way_as_others_wait_and_those_first_that_have_stalled_the_longest()
    {
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        var stalled = new List<RawPeer>();
        for (int i = 0; i < Places; i++)
        {
            stalled.Add(await StallOneAsync(endpoint, "ws", i + 1));
            _time.Advance(Moment);
        }

        _time.Advance(HandshakeLimiter.ShortestGrace); // Nobody waits yet.
        Task<uint>[] connecting = [Connect(endpoint), Connect(endpoint)];
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == connecting.Length, "two good clients wait in line");
        _time.Advance(Moment);
        await Task.WhenAll(connecting).Guarded();
        await stalled[0].ReadToAnyEndAsync();
        await stalled[1].ReadToAnyEndAsync();
        await stalled[2].SendAsync("ET / HTTP/1.1\r\n\r\n"u8.ToArray());
        Assert.NotEmpty(await stalled[2].ReadToEndAsync()); // It is still answered.
        stalled.ForEach(static peer => peer.Dispose());
    }

    [Fact]
    public async Task A_waiter_that_was_passed_by_newer_ones_is_served_although_newer_ones_come_for_each_that_is()
    {
        var slots = new HandshakeLimiter(maxRunning: 1, _time);
        using var socket = new System.Net.Sockets.Socket(System.Net.Sockets.SocketType.Stream, System.Net.Sockets.ProtocolType.Tcp);
        HandshakeLimiter.HandshakeSlot running = (await Acquire())!;
        Task<HandshakeLimiter.HandshakeSlot?> passed = Acquire();
        List<int> served = [];
        for (int i = 0; !passed.IsCompleted; i++)
        {
            Assert.InRange(i, 0, 10);
            Task<HandshakeLimiter.HandshakeSlot?> newer = Acquire();
            running.Release();
            running = (await await Task.WhenAny(newer, passed).Guarded())!;
            served.Add(newer.IsCompleted ? i : -1);
        }

        Assert.Equal([0, 1, -1], served);

        Task<HandshakeLimiter.HandshakeSlot?> Acquire() => slots.AcquireAsync(socket, TimeSpan.FromHours(1), CancellationToken.None);
    }

    [Fact]
    public async Task A_handshake_in_which_the_application_takes_its_time_gives_way_to_nobody()
    {
        var asked = new SemaphoreSlim(0);
        var answer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.Options.WebSocket.Admission = async (_, _) =>
        {
            asked.Release();
            await answer.Task;
            return WebSocketAdmission.Accept;
        };
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        Task<uint>[] asking = [.. Enumerable.Range(0, Places).Select(_ => Connect(endpoint))];
        for (int i = 0; i < Places; i++)
        {
            await asked.WaitAsync(Guard.Token).Guarded();
        }

        Task<uint> last = Connect(endpoint);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == 1, "one more waits in line");
        using Pacer pacer = await Pacer.CreateAsync();
        _time.Advance(HandshakeLimiter.ShortestGrace + Moment);
        await pacer.RoundTripAsync();
        Assert.Equal(0, _server.GetStatistics().FailedHandshakes);
        answer.SetResult();
        await Task.WhenAll([.. asking, last]).Guarded();
    }

    [Theory]
    [InlineData("tls")]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task A_good_client_is_in_two_seconds_later_however_many_stalled_peers_wait_before_it(string scheme)
    {
        const int Before = 4 * Places;
        string endpoint = _server.Bind($"{scheme}://127.0.0.1:0");
        List<RawPeer> stalled = await StallAsync(endpoint, scheme);
        for (int i = 0; i < Before; i++)
        {
            stalled.Add(await WaitOneAsync(endpoint, scheme, i + 1));
        }

        Task<uint> connecting = Connect(endpoint);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == Before + 1, "the good client is the last one that waits");
        _time.Advance(HandshakeLimiter.ShortestGrace + Moment);
        await connecting.Guarded();
        stalled.ForEach(static peer => peer.Dispose());
    }

    [Fact]
    public async Task A_peer_that_was_refused_and_stays_keeps_its_place_for_a_second()
    {
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        using RawPeer peer = await StallOneAsync(endpoint, "ws", 1);
        await peer.SendAsync("ET / HTTP/1.1\r\n\r\n"u8.ToArray());
        await _monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal(1, _context.Host.Handshakes.Running);
        _time.Advance(TimeSpan.FromSeconds(1));
        await Guard.UntilAsync(() => _context.Host.Handshakes.Running == 0, "its time is up");
    }

    [Fact]
    public async Task The_newest_of_those_that_wait_gets_the_place_that_becomes_free()
    {
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        List<RawPeer> stalled = await StallAsync(endpoint, "ws");
        using RawPeer older = await WaitOneAsync(endpoint, "ws", 1);
        Task<uint> connecting = Connect(endpoint);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == 2, "both wait");
        stalled[0].Dispose();
        await connecting.Guarded();
        await Guard.UntilAsync(() => _context.Host.Handshakes is { Waiting: 0, Running: Places }, "the older one has the next place");
        stalled.ForEach(static peer => peer.Dispose());
    }

    [Theory]
    [InlineData(15)]
    [InlineData(0)]
    public async Task A_peer_for_which_no_place_becomes_free_ends_when_the_time_of_a_phase_is_up_or_30_seconds_where_it_has_none(int limit)
    {
        TimeSpan wait = limit > 0 ? TimeSpan.FromSeconds(limit) : WireUpgrade.DefaultSlotWait;
        _server.Options.HandshakeInterval = 2 * WireUpgrade.DefaultSlotWait;
        var asked = new SemaphoreSlim(0);
        var answer = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        _server.Options.WebSocket.Admission = async (_, _) =>
        {
            asked.Release();
            await answer.Task;
            return WebSocketAdmission.Accept;
        };
        string endpoint = _server.Bind("ws://127.0.0.1:0");
        Task<uint>[] asking = [.. Enumerable.Range(0, Places).Select(_ => Connect(endpoint))];
        for (int i = 0; i < Places; i++)
        {
            await asked.WaitAsync(Guard.Token).Guarded();
        }

        StreamSocket impatient = _context.CreateStream();
        impatient.Options.HandshakeInterval = TimeSpan.FromSeconds(limit);
        using EventReader monitor = impatient.ReadEvents(SocketEventTypes.HandshakeFailedNoDetail);
        using RawPeer peer = await RawPeer.ConnectAsync(RawWebSocket.TcpOf(impatient.Bind("ws://127.0.0.1:0")));
        await peer.SendAsync("G"u8.ToArray());
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == 1, "it waits for a place");
        using Pacer pacer = await Pacer.CreateAsync();
        _time.Advance(wait - Moment);
        await pacer.RoundTripAsync();
        Assert.Equal(1, _context.Host.Handshakes.Waiting);
        _time.Advance(2 * Moment);
        SocketEvent failed = await monitor.NextAsync(SocketEventTypes.HandshakeFailedNoDetail);
        Assert.Equal("all handshake slots stayed in use (MaxHandshakes is 3)", failed.Detail);
        await peer.ReadToAnyEndAsync();
        await Guard.UntilAsync(() => impatient.GetStatistics().HandshakeFailures.TimedOut == 1, "it is counted, right behind its event");
        answer.SetResult();
        await Task.WhenAll(asking).Guarded();
    }

    private Task<uint> Connect(string endpoint)
    {
        StreamSocket client = _other.CreateStream();
        client.Options.Tls.CaFile = _own.CaFile;
        return client.ConnectAsync(endpoint, Guard.Token).AsTask();
    }

    /// <summary>Peers that have every place and wait there, with their clocks running.</summary>
    private async Task<List<RawPeer>> StallAsync(string endpoint, string scheme)
    {
        var stalled = new List<RawPeer>();
        for (int i = 0; i < Places; i++)
        {
            stalled.Add(await StallOneAsync(endpoint, scheme, i + 1));
        }

        return stalled;
    }

    private async Task<RawPeer> StallOneAsync(string endpoint, string scheme, int running)
    {
        RawPeer peer = await BeginAsync(endpoint, scheme);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Running == running && _context.Host.Handshakes.Stalled == running,
            "it waits for more, in a place of its own");
        return peer;
    }

    /// <summary>A peer that would stall, too, and waits for a place.</summary>
    private async Task<RawPeer> WaitOneAsync(string endpoint, string scheme, int waiting)
    {
        RawPeer peer = await BeginAsync(endpoint, scheme);
        await Guard.UntilAsync(() => _context.Host.Handshakes.Waiting == waiting, "it waits for a place");
        return peer;
    }

    private async Task<RawPeer> BeginAsync(string endpoint, string scheme)
    {
        RawPeer peer = await RawPeer.ConnectAsync($"tcp://127.0.0.1:{new Uri(endpoint).Port}");
        await _monitor.NextAsync(SocketEventTypes.Accepted);
        await peer.SendAsync(scheme is "ws" ? "G"u8.ToArray() : [0x16]); // What a request, or a ClientHello's record, begins with.
        return peer;
    }
}
