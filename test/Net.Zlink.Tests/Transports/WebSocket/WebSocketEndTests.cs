using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>How connections over ws end: what the peer is told, and peers that do not answer.</summary>
public sealed class WebSocketEndTests
{
    [Fact]
    public async Task Disconnect_tells_the_peer_1000_behind_everything_sent()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        Assert.True(server.To(id).TrySend(Wire.Huge));
        server.Disconnect(id);
        Assert.Equal((id, DisconnectReason.Local), await server.NextDisconnectedAsync());
        byte[] payload = [];
        WebSocketFrame? frame;
        while (!(frame = await client.ReadFrameAsync())!.IsClose)
        {
            payload = [.. payload, .. frame.Payload];
        }

        Wire.AssertSame(Wire.Frame(Wire.Huge), payload);
        Assert.Equal(1000, frame.Code);
        Assert.Null(await client.ReadFrameAsync());
        await client.SendAsync(RawWebSocket.CloseFrame(1000));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Disposing_the_context_tells_the_peer_1001(bool isPipe)
    {
        RawWebSocket client;
        await using (var context = new ZlinkContext())
        {
            StreamSocket server = context.CreateStream();
            const string Any = "ws://127.0.0.1:0";
            client = await RawWebSocket.ConnectAsync(
                isPipe ? server.BindPipe(Any, static pipe => pipe.Input.CopyToAsync(pipe.Output)) : server.Bind(Any));
            await Guard.UntilAsync(() => server.PeerCount == 1, "it is connected");
            ValueTask disposing = context.DisposeAsync();
            WebSocketFrame? frame = await client.ReadFrameAsync();
            Assert.True(frame!.IsClose);
            Assert.Equal(1001, frame.Code);
            await client.SendAsync(RawWebSocket.CloseFrame(1001));
            client.Dispose();
            await disposing.Guarded();
        }
    }

    [Fact]
    public async Task A_peer_that_never_answers_our_CLOSE_is_cut_off_when_the_time_is_up()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.CloseTimeout = TimeSpan.FromSeconds(3);
        server.Options.WebSocket.PingInterval = TimeSpan.Zero; // The only timer that is armed is that of the end.
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        int armed = time.ArmedTimers;
        server.Disconnect(id);
        Assert.Equal(1000, (await client.ReadFrameAsync())!.Code);
        await server.NextDisconnectedAsync();

        // It goes on as if nothing had been said; all of that is thrown away.
        await client.SendMessageAsync(Wire.Frame("still here"u8));
        await fixture.SettleAsync();
        await fixture.UntilAsync(() => time.ArmedTimers > armed);
        Assert.Equal(0, server.GetStatistics().ClosedConnections);
        time.Advance(TimeSpan.FromSeconds(2));
        await fixture.SettleAsync();
        Assert.Equal(0, server.GetStatistics().ClosedConnections);
        time.Advance(TimeSpan.FromSeconds(2));
        await fixture.UntilAsync(() => server.GetStatistics().ClosedConnections == 1);
        await client.Peer.ReadToAnyEndAsync();
    }

    [Fact]
    public async Task A_client_that_sends_CLOSE_and_stays_is_gone_when_the_time_is_up()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket server = fixture.Context.CreateStream();
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        await client.SendAsync(RawWebSocket.CloseFrame(4000));
        Assert.Equal(4000, (await client.ReadFrameAsync())!.Code);
        Assert.Null(await client.ReadFrameAsync());
        await fixture.SettleAsync();
        Assert.False(server.TryReceive(out StreamMessage _)); // As natively: the application hears of it when the peer's TCP has ended.
        time.Advance(server.Options.CloseTimeout);
        Assert.Equal((id, DisconnectReason.Remote), await server.NextDisconnectedAsync());
        await fixture.UntilAsync(() => server.GetStatistics().ClosedConnections == 1);
    }

    [Fact]
    public async Task A_server_that_sends_CLOSE_and_stays_is_left_when_the_time_is_up()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        await server.SendAsync(RawWebSocket.CloseFrame(1001, masked: false));
        WebSocketFrame? answer = await server.ReadFrameAsync();
        Assert.True(answer!.IsMasked);
        Assert.Equal(1001, answer.Code);
        await fixture.SettleAsync();
        Assert.False(client.TryReceive(out StreamMessage _)); // RFC 6455, 7.1.1: the server's TCP ends first.
        time.Advance(client.Options.CloseTimeout);
        Assert.Equal((id, DisconnectReason.Remote), await client.NextDisconnectedAsync());
        Assert.Null(await server.ReadFrameAsync());
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
    }

    [Fact]
    public async Task A_server_that_sends_CLOSE_and_ends_TCP_is_left_at_once()
    {
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        await server.SendAsync(RawWebSocket.CloseFrame(1001, masked: false));
        server.Peer.EndSending();
        Assert.Equal((id, DisconnectReason.Remote), await client.NextDisconnectedAsync());
        Assert.Equal(1001, (await server.ReadFrameAsync())!.Code);
        Assert.Null(await server.ReadFrameAsync());
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
    }

    [Fact]
    public async Task A_server_that_answers_our_CLOSE_and_stays_is_left_at_once()
    {
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        (StreamSocket client, RawWebSocket server, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        client.Disconnect(id);
        WebSocketFrame? close = await server.ReadFrameAsync();
        Assert.True(close!.IsMasked);
        Assert.Equal(1000, close.Code);
        await server.SendAsync(RawWebSocket.CloseFrame(1000, masked: false));
        await fixture.UntilAsync(() => client.GetStatistics().ClosedConnections == 1);
        Assert.Null(await server.ReadFrameAsync());
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Frames_between_our_CLOSE_and_the_peers_CLOSE_are_discarded_unanswered(bool weConnect)
    {
        await using var fixture = new StreamFixture(time: new ManualTimeProvider()); // Whose time never comes: the end is the peer's.
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);
        ours.Disconnect(id);
        Assert.Equal((id, DisconnectReason.Local), await ours.NextDisconnectedAsync());
        Assert.Equal(1000, (await theirs.ReadFrameAsync())!.Code);
        byte[] message = Wire.Frame("late"u8);
        await theirs.SendAsync(
        [
            .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, message, masked: !weConnect),
            .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "?"u8, masked: !weConnect),
            .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, message, masked: weConnect), // A fault.
            .. RawWebSocket.CloseFrame(1001, masked: !weConnect),
        ]);
        theirs.Peer.EndSending();
        Assert.Null(await theirs.ReadFrameAsync());
        await fixture.UntilAsync(() => ours.GetStatistics().ClosedConnections == 1);
        Assert.False(ours.TryReceive(out StreamMessage _));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_breaks_the_protocol_and_stays_is_cut_off_when_the_time_is_up(bool weConnect)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);

        // A server's frames have no mask, a client's have one: this is the wrong way round.
        using EventReader monitor = ours.ReadEvents(SocketEventTypes.Disconnected);
        int armed = time.ArmedTimers;
        await theirs.SendAsync(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("?"u8), masked: weConnect));
        WebSocketFrame? close = await theirs.ReadFrameAsync();
        Assert.Equal(1002, close!.Code);
        Assert.Equal(weConnect, close.IsMasked);
        if (!weConnect)
        {
            Assert.Null(await theirs.ReadFrameAsync()); // The server's TCP ends first.
        }

        await theirs.SendAsync(new byte[100_000]);
        await fixture.UntilAsync(() => time.ArmedTimers > armed); // Set behind the CLOSE that we have read.
        await fixture.SettleAsync();
        Assert.False(ours.TryReceive(out StreamMessage _));
        Assert.Equal(0, ours.GetStatistics().ClosedConnections);
        time.Advance(ours.Options.CloseTimeout);
        Assert.Equal((id, DisconnectReason.TransportError), await ours.NextDisconnectedAsync());
        Assert.Contains("broke the WebSocket protocol", (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail,
            StringComparison.Ordinal);
        await fixture.UntilAsync(() => ours.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_ends_TCP_without_a_CLOSE_gets_none(bool inTheMiddleOfAFrame)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        byte[] frame = RawWebSocket.Frame(0x82, Wire.Frame("x"u8));
        await client.SendAsync(inTheMiddleOfAFrame ? frame[..^1] : frame);
        if (!inTheMiddleOfAFrame)
        {
            Assert.Equal("x"u8.ToArray(), await server.NextDataAsync(id));
        }

        client.Peer.EndSending();
        Assert.Equal((id, DisconnectReason.Remote), await server.NextDisconnectedAsync());
        Assert.Null(await client.ReadFrameAsync());
    }

    [Fact]
    public async Task Messages_queued_for_a_peer_that_ends_TCP_without_a_CLOSE_are_dropped_and_counted()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        string endpoint = server.Bind("ws://127.0.0.1:0");
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(endpoint));
        uint id = await server.NextConnectedAsync();
        for (int i = 0; i < 64; i++)
        {
            Assert.True(server.To(id).TrySend(Wire.Huge)); // 16 MiB: more than the two systems hold.
        }

        client.Peer.EndSending();
        Assert.Equal((id, DisconnectReason.Remote), await server.NextDisconnectedAsync());
        await fixture.UntilAsync(() => server.GetStatistics().ClosedConnections == 1);
        Assert.InRange(server.GetStatistics().DroppedMessages, 1, 64);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_peer_that_closes_while_we_send_gets_our_answer_and_counts_as_gone_in_order(bool weConnect)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);

        await theirs.SendAsync(RawWebSocket.CloseFrame(1000, masked: !weConnect));
        WebSocketFrame? frame = await theirs.ReadFrameAsync();
        Assert.Equal(1000, frame!.Code);

        // The application does not know yet, and goes on.
        Assert.True(ours.To(id).TrySend("more"u8));
        Assert.True(ours.To(id).TrySend(Wire.Huge));
        await fixture.SettleAsync();
        Assert.False(ours.TryReceive(out StreamMessage _));
        theirs.Peer.EndSending();
        Assert.Equal((id, DisconnectReason.Remote), await ours.NextDisconnectedAsync());
        Assert.Null(await theirs.ReadFrameAsync());
        await fixture.UntilAsync(() => ours.GetStatistics().ClosedConnections == 1);
        Assert.Equal(2, ours.GetStatistics().DroppedMessages);
    }

    [Fact]
    public async Task A_peer_that_closes_and_stays_while_we_send_can_be_let_go()
    {
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        StreamSocket ours = fixture.Context.CreateStream();
        RawWebSocket theirs = fixture.Own(await RawWebSocket.ConnectAsync(ours.Bind("ws://127.0.0.1:0")));
        uint id = await ours.NextConnectedAsync();
        await theirs.SendAsync(RawWebSocket.CloseFrame(1000));
        Assert.Equal(1000, (await theirs.ReadFrameAsync())!.Code);
        Assert.True(ours.To(id).TrySend("more"u8));
        await fixture.SettleAsync();
        ours.Options.Linger = TimeSpan.Zero;
        ours.Dispose();
        theirs.Dispose();
        await fixture.UntilAsync(() => ours.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task An_answer_to_a_peer_that_has_closed_and_gone_holds_up_nothing(bool dispose)
    {
        using var isAt = new ManualResetEventSlim();
        using var goOn = new ManualResetEventSlim();
        // Whose time never comes: nothing here may wait for it.
        await using var fixture = new StreamFixture(time: new ManualTimeProvider());
        StreamSocket socket = fixture.Context.CreateStream();
        var handler = new TestHandler
        {
            Received = (peer, frames) =>
            {
                isAt.Set();
                goOn.Wait(Guard.Limit, Guard.Token);
                return TestHandler.EchoAsync(peer, frames);
            },
        };
        RawWebSocket web = fixture.Own(await RawWebSocket.ConnectAsync(socket.Bind("ws://127.0.0.1:0", handler)));
        await web.SendAsync([.. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("last"u8)),
            .. RawWebSocket.CloseFrame(1000)]);
        web.Peer.EndSending();
        await Guard.UntilAsync(() => isAt.IsSet, "the last frame is being handled");
        if (dispose)
        {
            socket.Dispose();
        }

        goOn.Set();
        Assert.Equal(1000, (await web.ReadFrameAsync())!.Code);
        Assert.Null(await web.ReadFrameAsync());
        DisconnectReason reason = (await handler.NextDisconnectedAsync()).Reason;
        Assert.True(reason == DisconnectReason.Remote || dispose, $"{reason}"); // Disposed of, it is whichever is seen first.
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_message_of_more_than_64_MiB_is_answered_with_1009(bool weConnect)
    {
        await using var fixture = new StreamFixture();
        var handler = new TestHandler();
        (StreamSocket ours, RawWebSocket theirs, _) = await RawWebSocket.PairAsync(fixture, weConnect, handler);
        await theirs.SendAsync(HeaderOf64MiB(weConnect, andOne: 1));
        await SendMiBAsync(theirs, 64);
        await theirs.SendAsync(0);
        WebSocketFrame? close = await theirs.ReadFrameAsync();
        Assert.Equal(1009, close!.Code);
        Assert.Equal(weConnect, close.IsMasked);
        theirs.Peer.EndSending();
        Assert.Null(await theirs.ReadFrameAsync());
        Assert.Equal(DisconnectReason.TransportError, (await handler.NextDisconnectedAsync()).Reason);
        Assert.Equal(64, ours.GetStatistics().ReceivedMessages);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_message_of_64_MiB_is_taken(bool weConnect)
    {
        await using var fixture = new StreamFixture();
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect, new TestHandler());
        await theirs.SendAsync(HeaderOf64MiB(weConnect));
        await SendMiBAsync(theirs, 64);
        await fixture.UntilAsync(() => ours.GetStatistics().ReceivedMessages == 64);
        Assert.True(ours.To(id).TrySend("thanks"u8));
        Assert.Equal(Wire.Frame("thanks"u8), (await theirs.ReadFrameAsync())!.Payload);
    }

    [Fact]
    public async Task A_frame_above_what_one_write_takes_is_one_message_in_fragments_and_frames_end_with_messages()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(server.Bind("ws://127.0.0.1:0")));
        uint id = await server.NextConnectedAsync();
        byte[] huge = Wire.Pattern(3_000_000);
        await server.To(id).SendAsync(huge, Guard.Token).Guarded();
        await server.To(id).SendAsync("next"u8.ToArray(), Guard.Token).Guarded();
        byte[] all = [];
        bool isOpen = false;
        while (all.Length < huge.Length + 4 + 8)
        {
            WebSocketFrame? frame = await client.ReadFrameAsync();
            Assert.NotEmpty(frame!.Payload);
            Assert.Equal(isOpen ? 0 : RawWebSocket.Binary, frame.First & 0x7F);
            isOpen = (frame.First & RawWebSocket.Fin) == 0;
            all = [.. all, .. frame.Payload];
        }

        Assert.False(isOpen);
        Wire.AssertSame([.. Wire.Frame(huge), .. Wire.Frame("next"u8)], all);
    }

    /// <summary>A message's header; a client's has a mask of zeros.</summary>
    private static byte[] HeaderOf64MiB(bool fromServer, byte andOne = 0) =>
        [0x82, (byte)(fromServer ? 0x7F : 0xFF), 0, 0, 0, 0, 0x04, 0, 0, andOne, .. fromServer ? (byte[])[] : new byte[4]];

    /// <summary>STREAM frames of 1 MiB each, with their lengths.</summary>
    private static async Task SendMiBAsync(RawWebSocket theirs, int count)
    {
        byte[] piece = Wire.Frame(new byte[(1024 * 1024) - Wire.HeaderSize]);
        for (int i = 0; i < count; i++)
        {
            await theirs.SendAsync(piece);
        }
    }
}
