using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Each clock of a connection by itself (docs/protocol.md section 14), against a plain socket, on a clock that the test
/// moves.</summary>
public sealed class HeartbeatTests
{
    private const string Ping = "5A0102000000000402000000";
    private const string QuietPing = "5A0102000000000402009600";
    private const string Answer = "5A010200000000020300";
    private const string InternalError = "5A01020000000011057F0E696E7465726E616C206572726F72";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // A shard's timers may be some milliseconds late, never early.
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(20);
    private readonly ManualTimeProvider _clock = new();

    [Fact]
    public async Task A_heartbeat_goes_out_each_interval_however_much_comes_in()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket _, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { HeartbeatInterval = Second, HeartbeatTtl = 7 * Second });
        for (int i = 0; i < 5; i++)
        {
            _clock.Advance(Second / 2);
            await peer.SendAsync(Convert.FromHexString(Answer));
            await fixture.SettleAsync();
            Assert.Equal(0, peer.Socket.Available);
            _clock.Advance(Second / 2);
            await AssertNextAsync(peer, "5A0102000000000402004600");
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task Silence_after_a_heartbeat_ends_the_connection_plainly_when_the_timeout_is_over_and_anything_at_all_prevents_it()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { HeartbeatInterval = Second, HeartbeatTimeout = 5 * Second });
        for (int i = 0; i < 6; i++)
        {
            _clock.Advance(Second);
            await AssertNextAsync(peer, Ping);
            if (i == 1)
            {
                await peer.SendAsync(Convert.FromHexString("5A0100000000000178")); // a message: that is news of it, too
                await fixture.UntilAsync(() => router.CanReceive);
            }
        }

        // The second heartbeat was followed by a message; the third, after 3 seconds, is the first that nothing follows.
        _clock.Advance((2 * Second) - Moment);
        await fixture.SettleAsync();
        Assert.False(monitor.TryRead(out _));
        _clock.Advance(2 * Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        peer.EndSending();
        string rest = Convert.ToHexString(await peer.ReadToEndAsync());
        Assert.DoesNotContain(InternalError, rest, StringComparison.Ordinal);
        Assert.Equal("", rest.Replace(Ping, "", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0, 30)]
    [InlineData(20, 20)]
    [InlineData(50, 30)]
    public async Task The_ttl_of_a_heartbeat_runs_from_it_and_the_smaller_of_the_two_counts(int ownTenths, int effectiveTenths)
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket _, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { HeartbeatTtl = ownTenths * Second / 10 });
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402001E00")); // 3 s
        await AssertNextAsync(peer, Answer);
        _clock.Advance((effectiveTenths * Second / 10) - Moment);
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402001E00")); // anew
        await AssertNextAsync(peer, Answer);
        _clock.Advance((effectiveTenths * Second / 10) - Moment);
        await fixture.SettleAsync();
        Assert.False(monitor.TryRead(out _));
        _clock.Advance(2 * Moment);
        await AssertNextAsync(peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_ttl_that_runs_out_before_READY_is_a_handshake_that_took_too_long()
    {
        const string HandshakeTimeout = "5A0102000000001405061168616E647368616B652074696D656F7574";
        await using var fixture = new ContextFixture(time: _clock);
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandshakeFailedNoDetail);
        RawPeer peer = await fixture.ConnectAsync(router.Bind("tcp://127.0.0.1:0"));
        // HELLO, and a heartbeat of 3 s
        await peer.SendAsync(Convert.FromHexString("5A0102000000000401050141" + "5A0102000000000402001E00"));
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        await peer.ReadAsync(GreetingOfOurs);
        await AssertNextAsync(peer, Answer);
        await fixture.SettleAsync();
        _clock.Advance((3 * Second) + Moment);
        await AssertNextAsync(peer, HandshakeTimeout);
        peer.EndSending();
        Assert.Equal(SocketEventTypes.HandshakeFailedNoDetail, (await monitor.ReadAsync(Guard.Token).Guarded()).Type);
        Assert.Equal(3, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        Assert.Equal(1, router.GetStatistics().HandshakeFailures.TimedOut);
    }

    [Theory]
    [InlineData("5A010200000000020300")] // an unasked acknowledgement
    [InlineData("5A0100000000000178")] // a message
    [InlineData("5A0102000000000402000000")] // a heartbeat without a ttl
    public async Task Any_later_frame_stops_the_ttl(string frame)
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket _, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new RouterOptions());
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402001E00"));
        await AssertNextAsync(peer, Answer);
        await peer.SendAsync(Convert.FromHexString(frame));
        await fixture.SettleAsync();
        _clock.Advance(100 * Second);
        await fixture.SettleAsync();
        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_frame_behind_the_heartbeat_in_the_same_read_stops_the_ttl()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new RouterOptions());
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402001E00" + "5A0100000000000178"));
        await AssertNextAsync(peer, Answer);
        using Message message = await router.ReceiveAsync(Guard.Token);
        await fixture.SettleAsync();
        _clock.Advance(100 * Second);
        await fixture.SettleAsync();
        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_connection_that_is_not_read_bears_silence_and_tells_the_peer_that_it_is_there()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(
            fixture, new RouterOptions { ReceiveHighWaterMark = 2, HeartbeatInterval = 10 * Second, HeartbeatTimeout = 10 * Second });
        for (int i = 0; i < 2; i++)
        {
            _clock.Advance(2 * Second);
            await peer.SendAsync(Convert.FromHexString("5A0102000000000402000000"));
            await AssertNextAsync(peer, Answer);
        }

        await peer.SendAsync(Convert.FromHexString("5A0100000000000178" + "5A0100000000000179"));
        await fixture.UntilAsync(() => router.GetPeers()[0].IsPaused);

        // Its heartbeats came every 2 s: an acknowledgement goes out each second, beside the own heartbeats, and the timeout of the latter
        // does not count.
        int answers = 0;
        for (int i = 0; i < 100; i++)
        {
            _clock.Advance(Second);
            await fixture.SettleAsync();
            while (peer.Socket.Available > 0)
            {
                string frame = Convert.ToHexString(await peer.ReadAsync(10));
                frame += frame.StartsWith(Ping[..20], StringComparison.Ordinal) ? Convert.ToHexString(await peer.ReadAsync(2)) : "";
                Assert.Contains(frame, (string[])[Ping, Answer], StringComparer.Ordinal);
                answers += string.Equals(frame, Answer, StringComparison.Ordinal) ? 1 : 0;
            }
        }

        Assert.InRange(answers, 99, 101);
        Assert.False(monitor.TryRead(out _));
        for (int i = 0; i < 2; i++)
        {
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        // Read again, it has to speak.
        await fixture.UntilAsync(() => !router.GetPeers()[0].IsPaused);
        Task<SocketEvent> ended = monitor.NextAsync(SocketEventTypes.Disconnected);
        await fixture.UntilAsync(() =>
        {
            _clock.Advance(Second); // Step by step: a heartbeat may have to go out first, and its time begins when it does.
            return ended.IsCompleted;
        });
        Assert.Equal(4, (await ended).ToNativeValue());
    }

    [Fact]
    public async Task A_peer_without_heartbeats_is_sent_nothing_while_its_reading_is_paused()
    {
        // It may have left: its system goes on delivering what it wrote, and would answer anything with a reset, which destroys the rest.
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader _) = await OpenAsync(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        await peer.SendAsync(Convert.FromHexString("5A0100000000000178" + "5A0100000000000179"));
        await fixture.UntilAsync(() => router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 20; i++)
        {
            _clock.Advance(Second / 2);
            await fixture.SettleAsync();
            Assert.Equal(0, peer.Socket.Available);
        }
    }

    [Fact]
    public async Task A_peer_whose_first_heartbeat_comes_behind_what_is_not_read_is_answered_and_one_that_sends_more_messages_is_not()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader _) = await OpenAsync(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        await peer.SendAsync(Convert.FromHexString("5A0100000000000178" + "5A0100000000000179"));
        await fixture.UntilAsync(() => router.GetPeers()[0].IsPaused);
        await peer.SendAsync(ZmpFixture.Frame(0, new byte[1_000]));
        await fixture.SettleAsync();
        _clock.Advance(Second / 2);
        await fixture.SettleAsync();
        Assert.Equal(0, peer.Socket.Available);
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402000000"));
        await fixture.SettleAsync();
        _clock.Advance(Second / 2);
        await AssertNextAsync(peer, Answer);
    }

    [Fact]
    public async Task The_ttl_of_a_heartbeat_that_is_the_last_thing_read_stands_still_until_the_connection_is_read_again()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });

        // In one segment, so that the heartbeat is taken in although the two messages fill the receiver; nothing behind it stops its clock
        // of a second.
        await peer.SendAsync(Convert.FromHexString("5A0100000000000178" + "5A0100000000000179" + "5A0102000000000402000A00"));
        await AssertNextAsync(peer, Answer);
        await fixture.UntilAsync(() => router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 20; i++)
        {
            _clock.Advance(Second / 2);
            await fixture.SettleAsync();
            Assert.False(monitor.TryRead(out SocketEvent lost), lost.Detail);
        }

        for (int i = 0; i < 2; i++)
        {
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        await fixture.UntilAsync(() => !router.GetPeers()[0].IsPaused);
        await peer.SendAsync(Convert.FromHexString("5A010000000000017A"));
        using (Message next = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("z"u8, next.Span);
            router.To(next.RoutingId).Send("answer"u8);
        }

        string words = Convert.ToHexString(await peer.ReadAsync(8 + "answer".Length));
        while (words.StartsWith(Answer, StringComparison.Ordinal))
        {
            // Those that told the peer meanwhile that it is listened to no more, but not gone.
            words = words[Answer.Length..] + Convert.ToHexString(await peer.ReadAsync(Answer.Length / 2));
        }

        Assert.Equal("5A01000000000006616E73776572", words);
        _clock.Advance(10 * Second);
        await fixture.SettleAsync();
        Assert.False(monitor.TryRead(out _));

        // And it goes on where the peer says one again.
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402000A00"));
        await AssertNextAsync(peer, Answer);
        _clock.Advance(Second + Moment);
        await AssertNextAsync(peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_large_message_that_comes_in_piece_by_piece_is_no_silence()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { HeartbeatInterval = Second });
        // Its heartbeat: it may be silent for half a second.
        await peer.SendAsync(Convert.FromHexString("5A010200000000040200" + "05" + "00"));
        await AssertNextAsync(peer, Answer);
        await peer.SendAsync(Convert.FromHexString("5A010000000F4240")); // 1,000,000 bytes follow.
        byte[] piece = new byte[100_000];
        for (int i = 0; i < 10; i++)
        {
            await peer.SendAsync(piece);
            await fixture.SettleAsync();
            _clock.Advance(Second / 2);
            await fixture.SettleAsync();
            Assert.False(monitor.TryRead(out _));
        }

        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(1_000_000, message.Span.Length);
        _clock.Advance(3 * Second);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_large_message_that_came_before_a_heartbeat_does_not_lengthen_its_ttl()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, new RouterOptions());
        byte[] large = ZmpFixture.Frame(0, new byte[1_000_000]);
        await peer.SendAsync(large.AsMemory(0, 100_000));
        await fixture.SettleAsync();
        await peer.SendAsync(large.AsMemory(100_000));
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        await peer.SendAsync(Convert.FromHexString("5A0102000000000402001E00")); // 3 s
        await AssertNextAsync(peer, Answer);
        await fixture.SettleAsync();
        _clock.Advance((3 * Second) + Moment);
        await AssertNextAsync(peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_heartbeat_that_waits_behind_a_large_message_which_the_peer_is_taking_has_not_been_sent_yet()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) =
            await OpenAsync(fixture, new RouterOptions { HeartbeatInterval = Second, SendBufferSize = 16 * 1024 }, 16 * 1024);
        const int Size = 4_000_000;
        router.To("A"u8).Send(new byte[Size]);
        int read = 0;
        while (read < Size / 2)
        {
            read += (await peer.ReadAsync(500_000)).Length;
            await fixture.SettleAsync();
            _clock.Advance(Second / 2);
            await fixture.SettleAsync();
            Assert.False(monitor.TryRead(out _));
        }

        // It stops taking it: that is silence.
        _clock.Advance(Second);
        await fixture.SettleAsync();
        _clock.Advance(Second);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        peer.Reset();
    }

    [Fact]
    public async Task A_heartbeat_only_if_silent_goes_out_behind_the_handshake_and_after_an_interval_without_a_frame_of_the_peer()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, OnlyIfSilent());
        await AssertNextAsync(peer, QuietPing);
        await peer.SendAsync(Convert.FromHexString(Answer));
        await fixture.SettleAsync();
        for (int i = 0; i < 3; i++)
        {
            // An answer tells that the peer was there, and is no reason to ask later.
            _clock.Advance(Second);
            await AssertNextAsync(peer, QuietPing);
            await peer.SendAsync(Convert.FromHexString(Answer));
            await fixture.SettleAsync();
        }

        for (int i = 0; i < 8; i++)
        {
            _clock.Advance(Second / 2);
            await peer.SendAsync(Convert.FromHexString("5A0100000000000178"));
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            await fixture.SettleAsync();
            Assert.Equal(0, peer.Socket.Available);
        }

        _clock.Advance(Second);
        await AssertNextAsync(peer, QuietPing);
        Assert.False(monitor.TryRead(out _));
        _clock.Advance((3 * Second) + Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_side_that_hears_the_peer_all_the_time_sends_a_heartbeat_within_two_thirds_of_the_ttl_that_the_peer_counts_by()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, OnlyIfSilent());
        await AssertNextAsync(peer, QuietPing);
        for (int i = 0; i < 3; i++)
        {
            for (int j = 0; j < 20; j++)
            {
                Assert.Equal(0, peer.Socket.Available);
                _clock.Advance(Second / 2);
                await peer.SendAsync(Convert.FromHexString("5A0100000000000178"));
                (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
                await fixture.SettleAsync();
            }

            await AssertNextAsync(peer, QuietPing);
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task One_of_many_connections_on_which_nothing_happens_is_asked_less_often_until_it_is_used()
    {
        await using var fixture = new ContextFixture(time: _clock);
        fixture.Context.Host.Heartbeating.Add(1_249);
        (RouterSocket router, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, OnlyIfSilent());
        await AssertNextAsync(peer, QuietPing);
        await peer.SendAsync(Convert.FromHexString(Answer));
        await fixture.SettleAsync();
        for (int i = 0; i < 4; i++)
        {
            _clock.Advance(Second);
            await fixture.SettleAsync();
            Assert.Equal(0, peer.Socket.Available);
        }

        _clock.Advance(Second + Moment);
        await AssertNextAsync(peer, QuietPing);
        await peer.SendAsync(Convert.FromHexString(Answer));
        await fixture.SettleAsync();
        _clock.Advance(2 * Second);
        await fixture.SettleAsync();
        router.To("A"u8).Send("x"u8);
        await AssertNextAsync(peer, "5A0100000000000178");
        await fixture.SettleAsync();
        _clock.Advance(Second + Moment);
        await AssertNextAsync(peer, QuietPing);
        Assert.False(monitor.TryRead(out _));
        _clock.Advance((3 * Second) + Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        peer.EndSending();
        await fixture.UntilAsync(() => fixture.Context.Host.Heartbeating.Count == 1_249);
    }

    [Fact]
    public async Task A_heartbeat_of_one_of_very_many_that_rest_announces_a_ttl_until_behind_the_next_one()
    {
        await using var fixture = new ContextFixture(time: _clock);
        fixture.Context.Host.Heartbeating.Add(9_999);
        (RouterSocket _, RawPeer peer, EventReader monitor) = await OpenAsync(fixture, OnlyIfSilent());
        await AssertNextAsync(peer, QuietPing);
        foreach (int seconds in (int[])[10, 40, 40])
        {
            await peer.SendAsync(Convert.FromHexString(Answer));
            await fixture.SettleAsync();
            for (int i = 0; i < seconds - 1; i++)
            {
                _clock.Advance(Second);
                await fixture.SettleAsync();
                Assert.Equal(0, peer.Socket.Available);
            }

            _clock.Advance(Second + Moment);
            await AssertNextAsync(peer, "5A0102000000000402025800"); // 60 s
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_reader_that_pauses_tells_a_peer_whose_heartbeats_are_rare_each_second_that_it_is_there()
    {
        await using var fixture = new ContextFixture(time: _clock);
        (RouterSocket router, RawPeer peer, EventReader _) = await OpenAsync(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        await peer.SendAsync(Convert.FromHexString(QuietPing));
        await AssertNextAsync(peer, Answer);
        _clock.Advance(10 * Second);
        await peer.SendAsync(Convert.FromHexString(QuietPing + "5A0100000000000178" + "5A0100000000000179"));
        await AssertNextAsync(peer, Answer);
        await fixture.UntilAsync(() => router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 5; i++)
        {
            await fixture.SettleAsync();
            _clock.Advance(Second);
            await AssertNextAsync(peer, Answer);
        }
    }

    private static RouterOptions OnlyIfSilent() => new()
    {
        HeartbeatInterval = Second,
        HeartbeatTimeout = 3 * Second,
        HeartbeatTtl = 15 * Second,
        HeartbeatOnlyIfSilent = true,
    };

    private static async Task<(RouterSocket Router, RawPeer Peer, EventReader Monitor)> OpenAsync(
        ContextFixture fixture, RouterOptions options, int receiveBuffer = 0)
    {
        options.Linger = TimeSpan.Zero;
        RouterSocket router = fixture.Context.CreateRouter(options);
        RawPeer peer = await fixture.ConnectAsync(router.Bind("tcp://127.0.0.1:0"), receiveBuffer);
        await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8));
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        Assert.Equal(GreetingOfOurs, (await peer.ReadAsync(GreetingOfOurs)).Length);
        await fixture.UntilAsync(() => router.GetPeers().Any(static p => p.IsConnected));
        await fixture.SettleAsync();
        return (router, peer, fixture.Own(router.ReadEvents(SocketEventTypes.Disconnected)));
    }

    private static async Task AssertNextAsync(RawPeer peer, string expected) =>
        Assert.Equal(expected, Convert.ToHexString(await peer.ReadAsync(expected.Length / 2)));
}
