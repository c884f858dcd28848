using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Each clock of a connection by itself (docs/protocol.md section 14), over a wire, on a clock and a shard that the
/// test moves.</summary>
public sealed class HeartbeatTests
{
    private const string Ping = "5A0102000000000402000000";
    private const string QuietPing = "5A0102000000000402009600";
    private const string Answer = "5A010200000000020300";
    private const string InternalError = "5A01020000000011057F0E696E7465726E616C206572726F72";
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    // A shard's timers may be some milliseconds late, never early.
    private static readonly TimeSpan Moment = TimeSpan.FromMilliseconds(20);

    [Fact]
    public async Task A_heartbeat_goes_out_each_interval_however_much_comes_in()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket _, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { HeartbeatInterval = Second, HeartbeatTtl = 7 * Second });
        for (int i = 0; i < 5; i++)
        {
            fixture.Advance(Second / 2);
            fixture.Send(peer, Answer);
            Assert.Equal(0, peer.Unread);
            fixture.Advance(Second / 2);
            AssertNext(fixture, peer, "5A0102000000000402004600");
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task Silence_after_a_heartbeat_ends_the_connection_plainly_when_the_timeout_is_over_and_anything_at_all_prevents_it()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { HeartbeatInterval = Second, HeartbeatTimeout = 5 * Second });
        for (int i = 0; i < 6; i++)
        {
            fixture.Advance(Second);
            AssertNext(fixture, peer, Ping);
            if (i == 1)
            {
                fixture.Send(peer, "5A0100000000000178"); // a message: that is news of it, too
                Assert.True(router.CanReceive);
            }
        }

        // The second heartbeat was followed by a message; the third, after 3 seconds, is the first that nothing follows.
        fixture.Advance((2 * Second) - Moment);
        Assert.False(monitor.TryRead(out _));
        fixture.Advance(2 * Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        string rest = Convert.ToHexString(peer.ReadAll());
        Assert.DoesNotContain(InternalError, rest, StringComparison.Ordinal);
        Assert.Equal("", rest.Replace(Ping, "", StringComparison.Ordinal));
    }

    [Theory]
    [InlineData(0, 30)]
    [InlineData(20, 20)]
    [InlineData(50, 30)]
    public async Task The_ttl_of_a_heartbeat_runs_from_it_and_the_smaller_of_the_two_counts(int ownTenths, int effectiveTenths)
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket _, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { HeartbeatTtl = ownTenths * Second / 10 });
        fixture.Send(peer, "5A0102000000000402001E00"); // 3 s
        AssertNext(fixture, peer, Answer);
        fixture.Advance((effectiveTenths * Second / 10) - Moment);
        fixture.Send(peer, "5A0102000000000402001E00"); // anew
        AssertNext(fixture, peer, Answer);
        fixture.Advance((effectiveTenths * Second / 10) - Moment);
        Assert.False(monitor.TryRead(out _));
        fixture.Advance(2 * Moment);
        AssertNext(fixture, peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_ttl_that_runs_out_before_READY_is_a_handshake_that_took_too_long()
    {
        const string HandshakeTimeout = "5A0102000000001405061168616E647368616B652074696D656F7574";
        await using var fixture = new MemoryFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.HandshakeFailedNoDetail);
        MemoryPeer peer = fixture.Connect(router.Bind(MemoryTransport.NewEndpoint()));
        // HELLO, and a heartbeat of 3 s
        fixture.Send(peer, "5A0102000000000401050141" + "5A0102000000000402001E00");
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        peer.Read(GreetingOfOurs);
        AssertNext(fixture, peer, Answer);
        fixture.Advance((3 * Second) + Moment);
        AssertNext(fixture, peer, HandshakeTimeout);
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
        await using var fixture = new MemoryFixture();
        (RouterSocket _, MemoryPeer peer, EventReader monitor) = Open(fixture, new RouterOptions());
        fixture.Send(peer, "5A0102000000000402001E00");
        AssertNext(fixture, peer, Answer);
        fixture.Send(peer, frame);
        fixture.Advance(100 * Second);
        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_frame_behind_the_heartbeat_in_the_same_read_stops_the_ttl()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(fixture, new RouterOptions());
        fixture.Send(peer, "5A0102000000000402001E00" + "5A0100000000000178");
        AssertNext(fixture, peer, Answer);
        using Message message = await router.ReceiveAsync(Guard.Token);
        fixture.Advance(100 * Second);
        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_connection_that_is_not_read_bears_silence_and_tells_the_peer_that_it_is_there()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(
            fixture, new RouterOptions { ReceiveHighWaterMark = 2, HeartbeatInterval = 10 * Second, HeartbeatTimeout = 10 * Second });
        for (int i = 0; i < 2; i++)
        {
            fixture.Advance(2 * Second);
            fixture.Send(peer, "5A0102000000000402000000");
            AssertNext(fixture, peer, Answer);
        }

        fixture.Send(peer, "5A0100000000000178" + "5A0100000000000179");
        Assert.True(router.GetPeers()[0].IsPaused);

        // Its heartbeats came every 2 s: an acknowledgement goes out each second, beside the own heartbeats, and the timeout of the latter
        // does not count.
        int answers = 0;
        for (int i = 0; i < 100; i++)
        {
            fixture.Advance(Second);
            while (peer.Unread > 0)
            {
                string frame = Convert.ToHexString(peer.Read(10));
                frame += frame.StartsWith(Ping[..20], StringComparison.Ordinal) ? Convert.ToHexString(peer.Read(2)) : "";
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
        fixture.Settle();
        Assert.False(router.GetPeers()[0].IsPaused);
        SocketEvent ended = default;
        for (int i = 0; i < 30 && !monitor.TryRead(out ended); i++)
        {
            fixture.Advance(Second);
        }

        Assert.Equal(4, ended.ToNativeValue());
    }

    [Fact]
    public async Task A_peer_without_heartbeats_is_sent_nothing_while_its_reading_is_paused()
    {
        // It may have left: its system goes on delivering what it wrote, and would answer anything with a reset, which destroys the rest.
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader _) = Open(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        fixture.Send(peer, "5A0100000000000178" + "5A0100000000000179");
        Assert.True(router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 20; i++)
        {
            fixture.Advance(Second / 2);
            Assert.Equal(0, peer.Unread);
        }
    }

    [Fact]
    public async Task A_peer_whose_first_heartbeat_comes_behind_what_is_not_read_is_answered_and_one_that_sends_more_messages_is_not()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader _) = Open(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        fixture.Send(peer, "5A0100000000000178" + "5A0100000000000179");
        Assert.True(router.GetPeers()[0].IsPaused);
        fixture.Send(peer, ZmpFixture.Frame(0, new byte[1_000]));
        fixture.Advance(Second / 2);
        Assert.Equal(0, peer.Unread);
        fixture.Send(peer, "5A0102000000000402000000");
        fixture.Advance(Second / 2);
        AssertNext(fixture, peer, Answer);
    }

    [Fact]
    public async Task The_ttl_of_a_heartbeat_that_is_the_last_thing_read_stands_still_until_the_connection_is_read_again()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });

        // In one segment, so that the heartbeat is taken in although the two messages fill the receiver; nothing behind it stops its clock
        // of a second.
        fixture.Send(peer, "5A0100000000000178" + "5A0100000000000179" + "5A0102000000000402000A00");
        AssertNext(fixture, peer, Answer);
        Assert.True(router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 20; i++)
        {
            fixture.Advance(Second / 2);
            Assert.False(monitor.TryRead(out SocketEvent lost), lost.Detail);
        }

        for (int i = 0; i < 2; i++)
        {
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        }

        fixture.Settle();
        Assert.False(router.GetPeers()[0].IsPaused);
        fixture.Send(peer, "5A010000000000017A");
        using (Message next = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("z"u8, next.Span);
            router.To(next.RoutingId).Send("answer"u8);
        }

        // Before it are those that told the peer meanwhile that it is listened to no more, but not gone.
        fixture.Settle();
        Assert.Equal("5A01000000000006616E73776572", Convert.ToHexString(peer.ReadAll()).Replace(Answer, "", StringComparison.Ordinal));
        fixture.Advance(10 * Second);
        Assert.False(monitor.TryRead(out _));

        // And it goes on where the peer says one again.
        fixture.Send(peer, "5A0102000000000402000A00");
        AssertNext(fixture, peer, Answer);
        fixture.Advance(Second + Moment);
        AssertNext(fixture, peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_large_message_that_comes_in_piece_by_piece_is_no_silence()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { HeartbeatInterval = Second });
        // Its heartbeat: it may be silent for half a second.
        fixture.Send(peer, "5A010200000000040200" + "05" + "00");
        AssertNext(fixture, peer, Answer);
        fixture.Send(peer, "5A010000000F4240"); // 1,000,000 bytes follow.
        byte[] piece = new byte[100_000];
        for (int i = 0; i < 10; i++)
        {
            fixture.Send(peer, piece);
            fixture.Advance(Second / 2);
            Assert.False(monitor.TryRead(out _));
        }

        using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(1_000_000, message.Span.Length);
        fixture.Advance(3 * Second);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_large_message_that_came_before_a_heartbeat_does_not_lengthen_its_ttl()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(fixture, new RouterOptions());
        byte[] large = ZmpFixture.Frame(0, new byte[1_000_000]);
        fixture.Send(peer, large.AsMemory(0, 100_000));
        fixture.Send(peer, large.AsMemory(100_000));
        (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        fixture.Send(peer, "5A0102000000000402001E00"); // 3 s
        AssertNext(fixture, peer, Answer);
        fixture.Advance((3 * Second) + Moment);
        AssertNext(fixture, peer, InternalError);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_heartbeat_that_waits_behind_a_large_message_which_the_peer_is_taking_has_not_been_sent_yet()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) =
            Open(fixture, new RouterOptions { HeartbeatInterval = Second }, room: 16 * 1024);
        router.To("A"u8).Send(new byte[4_000_000]);
        for (int i = 0; i < 4; i++)
        {
            peer.Room = 500_000;
            fixture.Advance(Second / 2);
            Assert.Equal(0, peer.Room);
            Assert.False(monitor.TryRead(out _));
        }

        // It stops taking it: that is silence.
        fixture.Advance(Second);
        fixture.Advance(Second);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        peer.Reset();
    }

    [Fact]
    public async Task A_heartbeat_only_if_silent_goes_out_behind_the_handshake_and_after_an_interval_without_a_frame_of_the_peer()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(fixture, OnlyIfSilent());
        AssertNext(fixture, peer, QuietPing);
        fixture.Send(peer, Answer);
        for (int i = 0; i < 3; i++)
        {
            // An answer tells that the peer was there, and is no reason to ask later.
            fixture.Advance(Second);
            AssertNext(fixture, peer, QuietPing);
            fixture.Send(peer, Answer);
        }

        for (int i = 0; i < 8; i++)
        {
            fixture.Advance(Second / 2);
            fixture.Send(peer, "5A0100000000000178");
            (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            Assert.Equal(0, peer.Unread);
        }

        fixture.Advance(Second);
        AssertNext(fixture, peer, QuietPing);
        Assert.False(monitor.TryRead(out _));
        fixture.Advance((3 * Second) + Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
    }

    [Fact]
    public async Task A_side_that_hears_the_peer_all_the_time_sends_a_heartbeat_within_two_thirds_of_the_ttl_that_the_peer_counts_by()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(fixture, OnlyIfSilent());
        AssertNext(fixture, peer, QuietPing);
        for (int i = 0; i < 3; i++)
        {
            for (int j = 0; j < 20; j++)
            {
                Assert.Equal(0, peer.Unread);
                fixture.Advance(Second / 2);
                fixture.Send(peer, "5A0100000000000178");
                (await router.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            }

            AssertNext(fixture, peer, QuietPing);
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task One_of_many_connections_on_which_nothing_happens_is_asked_less_often_until_it_is_used()
    {
        await using var fixture = new MemoryFixture();
        fixture.Context.Host.CountHeartbeating(1_249);
        (RouterSocket router, MemoryPeer peer, EventReader monitor) = Open(fixture, OnlyIfSilent());
        AssertNext(fixture, peer, QuietPing);
        fixture.Send(peer, Answer);
        for (int i = 0; i < 4; i++)
        {
            fixture.Advance(Second);
            Assert.Equal(0, peer.Unread);
        }

        fixture.Advance(Second + Moment);
        AssertNext(fixture, peer, QuietPing);
        fixture.Send(peer, Answer);
        fixture.Advance(2 * Second);
        router.To("A"u8).Send("x"u8);
        AssertNext(fixture, peer, "5A0100000000000178");
        fixture.Advance(Second + Moment);
        AssertNext(fixture, peer, QuietPing);
        Assert.False(monitor.TryRead(out _));
        fixture.Advance((3 * Second) + Moment);
        Assert.Equal(4, (await monitor.NextAsync(SocketEventTypes.Disconnected)).ToNativeValue());
        peer.EndSending();
        Assert.True(fixture.Context.Host.Heartbeating == 1_249);
    }

    [Fact]
    public async Task A_heartbeat_of_one_of_very_many_that_rest_announces_a_ttl_until_behind_the_next_one()
    {
        await using var fixture = new MemoryFixture();
        fixture.Context.Host.CountHeartbeating(9_999);
        (RouterSocket _, MemoryPeer peer, EventReader monitor) = Open(fixture, OnlyIfSilent());
        AssertNext(fixture, peer, QuietPing);
        foreach (int seconds in (int[])[10, 40, 40])
        {
            fixture.Send(peer, Answer);
            for (int i = 0; i < seconds - 1; i++)
            {
                fixture.Advance(Second);
                Assert.Equal(0, peer.Unread);
            }

            fixture.Advance(Second + Moment);
            AssertNext(fixture, peer, "5A0102000000000402025800"); // 60 s
        }

        Assert.False(monitor.TryRead(out _));
    }

    [Fact]
    public async Task A_reader_that_pauses_tells_a_peer_whose_heartbeats_are_rare_each_second_that_it_is_there()
    {
        await using var fixture = new MemoryFixture();
        (RouterSocket router, MemoryPeer peer, EventReader _) = Open(fixture, new RouterOptions { ReceiveHighWaterMark = 2 });
        fixture.Send(peer, QuietPing);
        AssertNext(fixture, peer, Answer);
        fixture.Advance(10 * Second);
        fixture.Send(peer, QuietPing + "5A0100000000000178" + "5A0100000000000179");
        AssertNext(fixture, peer, Answer);
        Assert.True(router.GetPeers()[0].IsPaused);
        for (int i = 0; i < 5; i++)
        {
            fixture.Advance(Second);
            AssertNext(fixture, peer, Answer);
        }
    }

    private static RouterOptions OnlyIfSilent() => new()
    {
        HeartbeatInterval = Second,
        HeartbeatTimeout = 3 * Second,
        HeartbeatTtl = 15 * Second,
        HeartbeatOnlyIfSilent = true,
    };

    private static (RouterSocket Router, MemoryPeer Peer, EventReader Monitor) Open(
        MemoryFixture fixture, RouterOptions options, long room = long.MaxValue)
    {
        options.Linger = TimeSpan.Zero;
        RouterSocket router = fixture.Context.CreateRouter(options);
        MemoryPeer peer = fixture.Connect(router.Bind(MemoryTransport.NewEndpoint()));
        fixture.Send(peer, ZmpFixture.DealerGreeting("A"u8));
        const int GreetingOfOurs = 8 + 3 + 16 + 9;
        peer.Read(GreetingOfOurs);
        Assert.True(Assert.Single(router.GetPeers()).IsConnected);
        peer.Room = room;
        return (router, peer, fixture.Own(router.ReadEvents(SocketEventTypes.Disconnected)));
    }

    private static void AssertNext(MemoryFixture fixture, MemoryPeer peer, string expected)
    {
        fixture.Settle();
        Assert.Equal(expected, Convert.ToHexString(peer.Read(expected.Length / 2)));
    }
}
