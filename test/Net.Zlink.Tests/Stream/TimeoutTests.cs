using System.Buffers;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Deadlines per peer, on a clock that only the test moves.</summary>
public sealed class TimeoutTests
{
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(10);
    private static readonly TimeSpan Nearly = TimeSpan.FromSeconds(9);
    private readonly ManualTimeProvider _time = new();

    [Fact]
    public async Task A_peer_that_sends_nothing_for_IdleTimeout_is_ended()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit });
        using EventReader monitor = socket.ReadEvents();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0);
        for (byte i = 0; i < 3; i++)
        {
            await AdvanceAsync(fixture, Nearly);
            await peer.SendFrameAsync(i); // starts the time anew
            Assert.Equal([i], await socket.NextDataAsync(id));
        }

        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit - Nearly);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((id, 4L), (ended.PeerId, ended.ToNativeValue()));
    }

    [Fact]
    public async Task A_peer_is_not_ended_for_silence_while_what_it_sent_lies_unread_behind_a_pause_of_ours()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        using var holding = new BlockingHandler("received");
        fixture.Bind(holding, out string held);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0);
        RawPeer busy = await fixture.ConnectAsync(held);
        await busy.SendFrameAsync(1);
        await holding.EnteredAsync();
        _time.Advance(Limit); // The shard hears of this first,
        await peer.SendFrameAsync(7); // and of this behind it.
        holding.Open();
        Assert.Equal([7], await socket.NextDataAsync(id));
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
    }

    [Fact]
    public async Task A_peers_idle_time_has_begun_when_it_is_announced_however_late_its_shard_is()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        using var holding = new BlockingHandler("received");
        fixture.Bind(holding, out string held);
        RawPeer busy = await fixture.ConnectAsync(held);
        await busy.SendFrameAsync(1);
        await holding.EnteredAsync();

        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        _time.Advance(Nearly);
        holding.Open();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0); // The peer is announced before its shard is asked to start it.
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit - Nearly);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task Without_timeouts_a_silent_peer_stays_for_ever_and_no_timer_runs()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        Assert.Equal([1], (await peer.ReadFrameAsync())!);
        await AdvanceAsync(fixture, TimeSpan.FromDays(30));
        Assert.Equal(0, _time.ArmedTimers);
        await peer.SendFrameAsync(2);
        Assert.Equal([2], (await peer.ReadFrameAsync())!);
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_peer_that_we_do_not_read_is_not_counted_as_silent()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit, ReceiveHighWaterMark = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        Assert.True(socket.TryGetPeer(id, out StreamPeer? view));
        await fixture.UntilAsync(() => view.GetStatistics().IsPaused);
        for (int i = 0; i < 5; i++)
        {
            await AdvanceAsync(fixture, Limit);
        }

        Assert.Equal([1], await socket.NextDataAsync(id));
        await fixture.UntilAsync(() => !view.GetStatistics().IsPaused);
        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        await AdvanceAsync(fixture, Limit);
        Assert.Equal((id, DisconnectReason.IdleTimeout), await socket.NextDisconnectedAsync());
    }

    [Fact]
    public async Task A_handler_that_is_busy_does_not_make_its_peer_silent()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        var release = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler { Received = (_, _) => new ValueTask(release.Task) };
        StreamSocket socket = fixture.Bind(handler, out string endpoint, new StreamOptions { IdleTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        StreamPeer view = await handler.NextConnectedAsync();
        await peer.SendFrameAsync(1);
        await fixture.UntilAsync(() => view.GetStatistics().IsPaused);
        await AdvanceAsync(fixture, Limit * 3);
        Assert.Equal(1, socket.PeerCount);
        release.SetResult();
        await fixture.UntilAsync(() => !view.GetStatistics().IsPaused);
        await AdvanceAsync(fixture, Limit * 2);
        Assert.Equal(DisconnectReason.IdleTimeout, (await handler.NextDisconnectedAsync()).Reason);
    }

    [Fact]
    public async Task A_peer_that_takes_nothing_for_WriteTimeout_is_cut_off_and_its_messages_counted()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint,
            new StreamOptions { WriteTimeout = Limit, SendHighWaterMark = 5, SendBufferSize = 16 * 1024 });
        using EventReader monitor = socket.ReadEvents();
        await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        await AdvanceAsync(fixture, Limit * 2); // nothing waits to be written: no deadline
        int accepted = socket.Fill(id);
        await AdvanceAsync(fixture, Nearly);
        Assert.Equal(1, socket.PeerCount);
        Task<(uint Id, DisconnectReason Reason)> ended = socket.NextDisconnectedAsync();
        while (!ended.IsCompleted)
        {
            await AdvanceAsync(fixture, Limit); // On a busy machine the systems' buffers take the last bytes late: that is progress.
        }

        Assert.Equal((id, DisconnectReason.WriteTimeout), await ended);
        SocketEvent closed = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal((id, 4L), (closed.PeerId, closed.ToNativeValue()));
        SocketEvent dropped = await monitor.NextAsync(SocketEventTypes.MessagesDropped);
        Assert.Equal((id, 5L), (dropped.PeerId, dropped.Value));
        SocketStatistics counters = socket.GetStatistics();
        Assert.Equal((accepted, 5), (counters.AcceptedMessages, counters.DroppedMessages));
    }

    [Fact]
    public async Task A_slow_but_reading_peer_outlives_WriteTimeout()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { WriteTimeout = Limit, SendBufferSize = 16 * 1024 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        byte[] payload = Wire.Pattern(4_000_000);
        socket.To(id).Send(payload);
        byte[] frame = Wire.Frame(payload);
        byte[] read = [];
        while (read.Length < frame.Length)
        {
            // More than one pending send's worth and the system's buffers, so that there is progress in every span.
            read = [.. read, .. await peer.ReadAsync(Math.Min(800_000, frame.Length - read.Length))];
            await AdvanceAsync(fixture, Nearly);
            Assert.Equal(1, socket.PeerCount);
        }

        Wire.AssertSame(frame, read);
    }

    [Fact]
    public async Task A_peer_that_takes_16_KiB_now_and_then_outlives_WriteTimeout()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { WriteTimeout = Limit, SendBufferSize = 16 * 1024 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        socket.To(id).Send(new byte[4_000_000]);
        await fixture.SettleAsync();
        for (int i = 0; i < 12; i++)
        {
            Assert.Equal(100_000, (await peer.ReadAsync(100_000)).Length);
            await fixture.SettleAsync();
            _time.Advance(Nearly);
            await fixture.SettleAsync();
            Assert.Equal(1, socket.PeerCount);
        }

        peer.Reset();
    }

    [Fact]
    public async Task A_peer_that_takes_all_there_is_at_once_is_not_judged_by_a_wait_that_is_over()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { WriteTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        byte[] big = new byte[30_000_000];
        const int Size = 16 * 1024;
        const int Messages = 60; // More than one turn of the writer, so that the shard looks at its timers in between.
        using var hasRead = new ManualResetEventSlim();
        socket.To(id).Send(big); // More than the system takes: it is waited for room.
        await socket.To(id).SendAsync(new Owned(Size, () => hasRead.Wait(Guard.Limit)), Size, Guard.Token).Guarded();
        for (int i = 0; i < Messages; i++)
        {
            // Each of these takes the writer a second, and is taken by the system at once.
            await socket.To(id).SendAsync(new Owned(Size, () => _time.Advance(TimeSpan.FromSeconds(1))), Size, Guard.Token).Guarded();
        }

        int first = big.Length + 4 + Size + 4;
        Assert.Equal(first, (await peer.ReadAsync(first)).Length);
        hasRead.Set();

        Assert.Equal(Messages * (Size + 4), (await peer.ReadAsync(Messages * (Size + 4))).Length);
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_peer_that_sends_a_large_frame_in_pieces_outlives_IdleTimeout()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { IdleTimeout = Limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await fixture.UntilAsync(() => _time.ArmedTimers > 0);
        byte[] frame = Wire.Frame(Wire.Pattern(30_000));
        for (int at = 0; at < frame.Length; at += 3_000)
        {
            // The first pieces wait in front of the next read, the later ones in a buffer of the frame's own.
            await peer.SendAsync(frame.AsMemory(at, Math.Min(3_000, frame.Length - at)));
            await fixture.SettleAsync();
            await AdvanceAsync(fixture, Nearly);
            Assert.Equal(1, socket.PeerCount);
        }

        Assert.Equal(30_000, (await socket.NextDataAsync(id)).Length);
    }

    // Stops at each timer on the way: a shard that arms its timer while the clock moves would arm it too late.
    private async Task AdvanceAsync(StreamFixture fixture, TimeSpan by)
    {
        await fixture.Context.WhenIdleAsync().Guarded();
        TimeSpan target = _time.Elapsed + by;
        while (_time.NextDue is { } due && due < target)
        {
            _time.Advance(due - _time.Elapsed);
            await fixture.Context.WhenIdleAsync().Guarded();
        }

        _time.Advance(target - _time.Elapsed);
        await fixture.Context.WhenIdleAsync().Guarded();
    }

    private sealed class Owned(int length, Action disposed) : IMemoryOwner<byte>
    {
        public Memory<byte> Memory { get; } = new byte[length];

        public void Dispose() => disposed();
    }
}
