using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A peer is not judged by its silence while what it sent lies unread behind a pause of ours: here its shard, which hears of the
/// time that is over before it hears of the bytes.</summary>
public sealed class UnreadPeerTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // HELLO with a routing id of 16 bytes, and READY.
    private const int GreetingOfOurs = 8 + 3 + 16 + 9;
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task An_answer_to_a_heartbeat_that_nobody_has_read_yet_is_one()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _clock);
        using var holding = new BlockingHandler("received");
        (PairSocket pair, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new PairOptions { HeartbeatInterval = Second, HeartbeatTimeout = 3 * Second });
        _clock.Advance(Second);
        await AssertNextAsync(peer, "5A0102000000000402000000");
        RawPeer busy = await HoldAsync(fixture, holding);
        _clock.Advance(3 * Second);
        await peer.SendAsync(ZmpFixture.Control("03 00"));
        holding.Open();
        await fixture.SettleAsync();
        await AssertLivesAsync(pair, peer, monitor);
        await LoseInSilenceAsync(fixture, monitor);
        busy.Reset();
    }

    [Fact]
    public async Task A_heartbeat_ttl_does_not_end_a_peer_whose_later_bytes_are_not_read_yet()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _clock);
        using var holding = new BlockingHandler("received");
        (PairSocket pair, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new PairOptions());
        await peer.SendAsync(ZmpFixture.Control("02 001E 00")); // It may be silent for 3 s.
        await AssertNextAsync(peer, "5A010200000000020300");
        RawPeer busy = await HoldAsync(fixture, holding);
        _clock.Advance(3 * Second);
        await peer.SendAsync(ZmpFixture.Control("02 001E 00"));
        holding.Open();
        await AssertNextAsync(peer, "5A010200000000020300");
        await AssertLivesAsync(pair, peer, monitor);
        await peer.SendAsync(ZmpFixture.Control("02 001E 00"));
        await AssertNextAsync(peer, "5A010200000000020300");
        await LoseInSilenceAsync(fixture, monitor);
        busy.Reset();
    }

    [Fact]
    public async Task A_handshake_that_nobody_has_read_yet_is_in_time()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _clock);
        using var holding = new BlockingHandler("received");
        (PairSocket pair, RawPeer peer, EventReader monitor) = await BeginAsync(fixture);
        RawPeer busy = await HoldAsync(fixture, holding);
        _clock.Advance(Second);
        await peer.SendAsync(ZmpFixture.Greeting(0));
        holding.Open();
        await fixture.UntilAsync(() => pair.GetPeers().Any(static p => p.IsConnected));
        await AssertLivesAsync(pair, peer, monitor);
        busy.Reset();
    }

    [Fact]
    public async Task A_byte_that_nobody_has_read_yet_puts_the_end_of_a_handshake_off_once_at_most()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _clock);
        using var holding = new BlockingHandler("received");
        (PairSocket _, RawPeer peer, EventReader monitor) = await BeginAsync(fixture);
        byte[] greeting = ZmpFixture.Greeting(0);
        RawPeer busy = await HoldAsync(fixture, holding);
        _clock.Advance(Second);
        await peer.SendAsync(greeting.AsMemory(0, 1));
        holding.Open();
        await fixture.SettleAsync();
        holding.Close();
        await busy.SendFrameAsync(1);
        await holding.EnteredAsync();
        _clock.Advance(Second);
        await peer.SendAsync(greeting.AsMemory(1, 1));
        holding.Open();
        Assert.Equal(3, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        busy.Reset();
    }

    /// <summary>A connection whose peer has not said anything yet, and has a second to do so.</summary>
    private static async Task<(PairSocket Pair, RawPeer Peer, EventReader Monitor)> BeginAsync(StreamFixture fixture)
    {
        PairSocket pair = fixture.Context.CreatePair(new PairOptions { HandshakeInterval = Second, Linger = TimeSpan.Zero });
        EventReader monitor = fixture.Own(pair.ReadEvents(SocketEventTypes.Disconnected));
        RawPeer peer = await fixture.ConnectAsync(pair.Bind("tcp://127.0.0.1:0"));
        await peer.ReadAsync(GreetingOfOurs);
        return (pair, peer, monitor);
    }

    private static async Task<(PairSocket Pair, RawPeer Peer, EventReader Monitor)> OpenAsync(StreamFixture fixture, PairOptions options)
    {
        options.Linger = TimeSpan.Zero;
        PairSocket pair = fixture.Context.CreatePair(options);
        RawPeer peer = await fixture.ConnectAsync(pair.Bind("tcp://127.0.0.1:0"));
        await peer.SendAsync(ZmpFixture.Greeting(0));
        Assert.Equal(GreetingOfOurs, (await peer.ReadAsync(GreetingOfOurs)).Length);
        await fixture.UntilAsync(() => pair.GetPeers().Any(static p => p.IsConnected));
        await fixture.SettleAsync();
        return (pair, peer, fixture.Own(pair.ReadEvents(SocketEventTypes.Disconnected)));
    }

    /// <summary>The only shard is at a standstill when this returns.</summary>
    private static async Task<RawPeer> HoldAsync(StreamFixture fixture, BlockingHandler holding)
    {
        fixture.Bind(holding, out string held);
        RawPeer busy = await fixture.ConnectAsync(held);
        await busy.SendFrameAsync(1);
        await holding.EnteredAsync();
        return busy;
    }

    private static async Task AssertLivesAsync(PairSocket pair, RawPeer peer, EventReader monitor)
    {
        Assert.False(monitor.TryRead(out SocketEvent lost), lost.Detail);
        await peer.SendAsync(ZmpFixture.Frame(0, "x"u8));
        using Message message = await pair.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("x"u8, message.Span);
    }

    /// <summary>Step by step: a heartbeat may have to go out first, and its time begins when it does.</summary>
    private async Task LoseInSilenceAsync(StreamFixture fixture, EventReader monitor)
    {
        Task<SocketEvent> ended = monitor.NextAsync(SocketEventTypes.Disconnected);
        await fixture.UntilAsync(() =>
        {
            _clock.Advance(Second);
            return ended.IsCompleted;
        });
        Assert.Equal(4, (await ended).ToNativeValue());
    }

    private static async Task AssertNextAsync(RawPeer peer, string expected) =>
        Assert.Equal(expected, Convert.ToHexString(await peer.ReadAsync(expected.Length / 2)));
}
