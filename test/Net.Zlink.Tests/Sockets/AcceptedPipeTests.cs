using System.Buffers;
using System.Buffers.Binary;
using System.IO.Pipelines;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>Connections that the application brings as pipes are connections like all others.</summary>
public sealed class AcceptedPipeTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);

    [Theory]
    [InlineData("PAIR", "PAIR", false)]
    [InlineData("DEALER", "ROUTER", true)]
    [InlineData("ROUTER", "DEALER", false)]
    [InlineData("PUB", "SUB", false)]
    [InlineData("SUB", "PUB", true)]
    [InlineData("XPUB", "XSUB", true)]
    [InlineData("XSUB", "XPUB", false)]
    public async Task Two_sockets_exchange_messages_over_a_pipe_and_hear_of_its_end(string one, string other, bool isOverStreams)
    {
        await using var fixture = new ContextFixture();
        using var ending = new CancellationTokenSource();
        var pipe = new PipePair();
        ZmpSocket here = Create(fixture.Context, one);
        ZmpSocket there = Create(fixture.Context, other);
        Task<DisconnectReason> accepted = here.AcceptAsync(isOverStreams ? PipePair.OverStream(pipe.One) : pipe.One, null, ending.Token);
        Task<DisconnectReason> alsoAccepted = there.AcceptAsync(pipe.Other, cancellationToken: Guard.Token);
        await ConverseAsync(fixture, here, there);
        await ending.CancelAsync();
        Assert.Equal((DisconnectReason.Local, DisconnectReason.Remote), (await accepted.Guarded(), await alsoAccepted.Guarded()));
        Assert.Equal((0, 0), (here.PeerCount, there.PeerCount));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_stream_socket_reads_and_writes_frames_by_a_pipe_and_the_peers_end_is_its_end(bool isPushed)
    {
        await using var fixture = new ContextFixture();
        StreamSocket stream = fixture.Context.CreateStream();
        var pipe = new PipePair();
        var details = new PeerDetails
        {
            Name = "chat",
            RemoteAddress = "192.0.2.7:5000",
            Headers = new Dictionary<string, string>(StringComparer.Ordinal) { ["Cookie"] = "secret" },
        };
        TestHandler echo = TestHandler.Echo();
        Task<DisconnectReason> accepted = isPushed ? stream.AcceptAsync(pipe.One, echo, details, Guard.Token)
            : stream.AcceptAsync(pipe.One, details, Guard.Token);
        await pipe.Other.Output.WriteAsync(Framed("hello"u8), Guard.Token);
        if (!isPushed)
        {
            using StreamMessage connected = await stream.ReceiveAsync(Guard.Token).Guarded();
            using StreamMessage hello = await stream.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal((StreamMessageKind.Connected, "hello"), (connected.Kind, System.Text.Encoding.UTF8.GetString(hello.Payload.Span)));
            stream.To(hello.PeerId).Send(hello.Payload.Span);
        }

        Assert.Equal(Framed("hello"u8), await ReadAsync(pipe.Other, 9));
        StreamPeer peer = Assert.Single(stream.GetPeers());
        Assert.Same(details, peer.Details);
        Assert.Equal(("pipe://chat", "192.0.2.7:5000"), (peer.Endpoint, $"{peer.RemoteEndPoint}"));
        Assert.DoesNotContain("secret", stream.Describe(), StringComparison.Ordinal);
        Assert.Empty(stream.BoundEndpoints);
        await pipe.Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Remote, await accepted.Guarded());
        Assert.True((await pipe.Other.Input.ReadAsync(Guard.Token)).IsCompleted);
        Assert.Equal(0, stream.PeerCount);
    }

    [Fact]
    public async Task What_the_application_knows_of_a_peer_stands_in_its_messages_and_descriptions_and_events()
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader events = router.ReadEvents(SocketEventTypes.Accepted | SocketEventTypes.Disconnected);
        var pipe = new PipePair();
        var details = new PeerDetails { Name = "orders", RemoteAddress = "192.0.2.7:5000", SubProtocol = "zmp" };
        Task<DisconnectReason> accepted = router.AcceptAsync(pipe.One, details, Guard.Token);
        await pipe.Other.Output.WriteAsync(new byte[][] { ZmpFixture.DealerGreeting("A"u8), ZmpFixture.Frame(0, "x"u8) }.SelectMany(
            static part => part).ToArray(), Guard.Token);
        using (Message message = await router.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Same(details, message.PeerDetails);
            Assert.True(message.TryGetProperty("Peer-Address", out string? address));
            Assert.Equal("192.0.2.7", address);
        }

        PeerInfo peer = Assert.Single(router.GetPeers());
        Assert.Same(details, peer.Details);
        Assert.Equal(("pipe://orders", "192.0.2.7:5000", "zmp"), (peer.Endpoint, peer.RemoteAddress, peer.SubProtocol));
        await pipe.Other.Output.CompleteAsync(new InvalidOperationException("the request was aborted"));
        Assert.Equal(DisconnectReason.TransportError, await accepted.Guarded());
        SocketEvent began = await events.ReadAsync(Guard.Token);
        SocketEvent ended = await events.ReadAsync(Guard.Token);
        Assert.Equal((SocketEventTypes.Accepted, "pipe://orders", "192.0.2.7:5000"), (began.Type, began.LocalAddress, began.RemoteAddress));
        Assert.Equal("the pipe failed: the request was aborted", ended.Detail);
    }

    [Fact]
    public async Task A_token_that_is_cancelled_ends_the_connection_behind_what_was_sent_and_what_came_stays_readable()
    {
        await using var fixture = new ContextFixture();
        using var ending = new CancellationTokenSource();
        PairSocket pair = fixture.Context.CreatePair();
        var pipe = new PipePair(Narrow);
        Task<DisconnectReason> accepted = pair.AcceptAsync(pipe.One, null, ending.Token);
        await pipe.Other.Output.WriteAsync(PairGreeting("first"u8), Guard.Token);
        await fixture.UntilAsync(() => pair.CanReceive);
        byte[] long_ = new byte[100_000];
        pair.Send(long_);
        await ending.CancelAsync();
        Assert.False(accepted.IsCompleted);
        byte[] read = await ReadToEndAsync(pipe.Other);
        Assert.True(read.AsSpan().EndsWith(long_));
        await pipe.Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Local, await accepted.Guarded());
        using Message first = await pair.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("first"u8, first.Span);
        var late = new PipePair();
        Task<DisconnectReason> atOnce = pair.AcceptAsync(late.One, null, ending.Token);
        await ReadToEndAsync(late.Other, completes: true);
        Assert.Equal(DisconnectReason.Local, await atOnce.Guarded());
    }

    [Fact]
    public async Task A_peer_that_does_not_read_fills_the_queue_and_one_that_is_not_received_from_waits()
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 10, ReceiveHighWaterMark = 10 });
        var pipe = new PipePair(Narrow);
        Task<DisconnectReason> accepted = pair.AcceptAsync(pipe.One, cancellationToken: Guard.Token);
        await pipe.Other.Output.WriteAsync(PairGreeting(), Guard.Token);
        await fixture.UntilAsync(() => pair.CanSend);
        byte[] payload = new byte[5_000];
        int sent = 0;
        while (pair.TrySend(payload))
        {
            sent++;
            Assert.True(sent < 100, "nothing holds back the sender");
            await fixture.Context.WhenIdleAsync().Guarded();
        }

        int written = 0;
        ValueTask<FlushResult> flush;
        do
        {
            Assert.True(++written < 100, "nothing holds back the peer");
            flush = pipe.Other.Output.WriteAsync(ZmpFixture.Frame(0, payload), Guard.Token);
            await fixture.SettleAsync();
        }
        while (flush.IsCompleted);

        for (int i = 0; i < written; i++)
        {
            using Message message = await pair.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(payload.Length, message.Span.Length);
        }

        await flush.Guarded();
        int greeting = (8 + 3) + (8 + 1);
        await ReadAsync(pipe.Other, greeting + (sent * (payload.Length + 8)));
        await pipe.Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Remote, await accepted.Guarded());
    }

    [Fact]
    public async Task A_pipe_beyond_MaxConnections_is_refused_and_its_place_is_free_when_the_task_has_completed()
    {
        await using var fixture = new ContextFixture();
        StreamSocket stream = fixture.Context.CreateStream(new StreamOptions { MaxConnections = 1 });
        PipePair[] pipes = [.. Enumerable.Range(0, 3).Select(static _ => new PipePair())];
        Task<DisconnectReason> first = stream.AcceptAsync(pipes[0].One, cancellationToken: Guard.Token);
        Assert.Equal(DisconnectReason.Refused, await stream.AcceptAsync(pipes[1].One, cancellationToken: Guard.Token).Guarded());
        await Assert.ThrowsAsync<IOException>(() => pipes[1].Other.Input.ReadAsync(Guard.Token).Guarded());
        await pipes[0].Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Remote, await first.Guarded());
        Task<DisconnectReason> third = stream.AcceptAsync(pipes[2].One, cancellationToken: Guard.Token);
        stream.Dispose();
        Assert.True((await pipes[2].Other.Input.ReadAsync(Guard.Token)).IsCompleted);
        await pipes[2].Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Local, await third.Guarded());
        await Assert.ThrowsAsync<ObjectDisposedException>(() => stream.AcceptAsync(pipes[2].One, cancellationToken: Guard.Token));
    }

    [Fact]
    public async Task A_second_peer_of_a_pair_is_refused()
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair();
        PairSocket first = fixture.Context.CreatePair();
        PairSocket second = fixture.Context.CreatePair();
        PipePair[] pipes = [new(), new()];
        Task<DisconnectReason> accepted = pair.AcceptAsync(pipes[0].One, cancellationToken: Guard.Token);
        _ = first.AcceptAsync(pipes[0].Other, cancellationToken: Guard.Token);
        await fixture.UntilAsync(() => pair.CanSend && first.CanSend);
        Task<DisconnectReason> refused = pair.AcceptAsync(pipes[1].One, cancellationToken: Guard.Token);
        _ = second.AcceptAsync(pipes[1].Other, cancellationToken: Guard.Token);
        Assert.Equal(DisconnectReason.Refused, await refused.Guarded());
        first.Dispose();
        Assert.Equal(DisconnectReason.Remote, await accepted.Guarded());
    }

    [Theory]
    [InlineData("474554202F20485454502F312E31")] // GET / HTTP/1.1
    [InlineData("5A010000FFFFFFFF")] // a frame of 4 GB before the handshake
    [InlineData("5A01020000000003010103 00")] // a socket type that there is not
    public async Task Bytes_that_are_no_ZMP_end_the_connection_and_cost_nothing(string hex)
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        var pipe = new PipePair();
        Task<DisconnectReason> accepted = dealer.AcceptAsync(pipe.One, cancellationToken: Guard.Token);
        await pipe.Other.Output.WriteAsync(ZmpFixture.Hex(hex), Guard.Token);
        await ReadToEndAsync(pipe.Other);
        await pipe.Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.ProtocolError, await accepted.Guarded());
    }

    [Fact]
    public async Task A_silent_pipe_has_the_handshake_interval_and_a_peer_that_does_not_read_the_end_has_the_close_timeout()
    {
        var clock = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: clock);
        DealerSocket dealer = fixture.Context.CreateDealer(new DealerOptions { HandshakeInterval = 3 * Second, CloseTimeout = 2 * Second });
        var pipe = new PipePair(Narrow);
        Task<DisconnectReason> accepted = dealer.AcceptAsync(pipe.One, cancellationToken: Guard.Token);
        while (!accepted.IsCompleted && clock.Elapsed < 20 * Second)
        {
            await fixture.SettleAsync();
            clock.Advance(Second);
        }

        // The pool may still be about to complete the pipe; the clock goes no further.
        Assert.Equal(DisconnectReason.HandshakeFailed, await accepted.Guarded());
        Assert.True(clock.Elapsed >= 3 * Second);
    }

    [Fact]
    public async Task The_shutdown_of_the_context_delivers_what_was_sent()
    {
        var pipe = new PipePair(Narrow);
        Task<DisconnectReason> accepted;
        Task<byte[]> reading;
        byte[] payload = new byte[50_000];
        await using (var fixture = new ContextFixture())
        {
            PairSocket pair = fixture.Context.CreatePair();
            accepted = pair.AcceptAsync(pipe.One, cancellationToken: Guard.Token);
            await pipe.Other.Output.WriteAsync(PairGreeting(), Guard.Token);
            await fixture.UntilAsync(() => pair.CanSend);
            pair.Send(payload);
            reading = ReadToEndAsync(pipe.Other, completes: true);
        }

        Assert.Equal(DisconnectReason.ContextTerminated, await accepted.Guarded());
        Assert.True((await reading.Guarded()).AsSpan().EndsWith(payload));
    }

    [Fact]
    public async Task A_peer_that_reads_nothing_is_left_after_the_linger_time()
    {
        await using var fixture = new ContextFixture();
        PairSocket pair = fixture.Context.CreatePair(new PairOptions { Linger = TimeSpan.Zero, CloseTimeout = Second / 10 });
        var pipe = new PipePair(Narrow);
        Task<DisconnectReason> accepted = pair.AcceptAsync(pipe.One, cancellationToken: Guard.Token);
        await pipe.Other.Output.WriteAsync(PairGreeting(), Guard.Token);
        await fixture.UntilAsync(() => pair.CanSend);
        pair.Send(new byte[1_000_000]);

        // What the shard has not begun to write is dropped, and an orderly end follows.
        ReadResult begun = await pipe.Other.Input.ReadAtLeastAsync(1_024, Guard.Token);
        pipe.Other.Input.AdvanceTo(begun.Buffer.Start);
        pair.Dispose();
        Assert.Equal(DisconnectReason.Local, await accepted.Guarded());
        await Assert.ThrowsAnyAsync<Exception>(() => ReadToEndAsync(pipe.Other));
    }

    [Fact]
    public async Task A_handler_does_not_run_on_the_stack_of_the_call_that_wrote_to_the_pipe()
    {
        await using var fixture = new ContextFixture();
        StreamSocket stream = fixture.Context.CreateStream();
        using var isWriting = new ThreadLocal<bool>();
        var received = new TaskCompletionSource<bool>(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Received = (peer, frames) =>
            {
                received.TrySetResult(isWriting.Value);
                return TestHandler.EchoAsync(peer, frames);
            },
        };
        var pipe = new PipePair(new PipeOptions(readerScheduler: PipeScheduler.Inline, writerScheduler: PipeScheduler.Inline,
            useSynchronizationContext: false));
        Task<DisconnectReason> accepted = stream.AcceptAsync(pipe.One, handler, cancellationToken: Guard.Token);
        await fixture.SettleAsync();
        isWriting.Value = true;
        ValueTask<FlushResult> flush = pipe.Other.Output.WriteAsync(Framed("x"u8), Guard.Token);
        isWriting.Value = false;
        await flush;
        Assert.False(await received.Task.Guarded());
        Assert.Equal(Framed("x"u8), await ReadAsync(pipe.Other, 5));
        await pipe.Other.Output.CompleteAsync();
        Assert.Equal(DisconnectReason.Remote, await accepted.Guarded());
    }

    private static PipeOptions Narrow => new(pauseWriterThreshold: 4_096, resumeWriterThreshold: 1_024, useSynchronizationContext: false);

    private static ZmpSocket Create(ZlinkContext context, string type) => type switch
    {
        "PAIR" => context.CreatePair(),
        "DEALER" => context.CreateDealer(),
        "ROUTER" => context.CreateRouter(),
        "PUB" => context.CreatePub(),
        "SUB" => context.CreateSub(),
        "XPUB" => context.CreateXPub(),
        _ => context.CreateXSub(),
    };

    private static async Task ConverseAsync(ContextFixture fixture, ZmpSocket one, ZmpSocket other)
    {
        (ZmpSocket sender, ZmpSocket receiver) = one is SubSocket or XSubSocket or DealerSocket ? (one, other) : (other, one);
        switch (sender)
        {
            case SubSocket sub:
                sub.Subscribe("");
                var pub = (PubSocket)receiver;
                await fixture.UntilAsync(() => pub.GetPeers() is [{ MessagesReceived: > 0 }]);
                pub.Send("news"u8);
                await ExpectAsync(sub, "news"u8.ToArray());
                break;
            case XSubSocket xsub:
                var xpub = (XPubSocket)receiver;
                xsub.Send(new byte[] { 1 });
                await ExpectAsync(xpub, [1]);
                xpub.Send("news"u8);
                await ExpectAsync(xsub, "news"u8.ToArray());
                break;
            case DealerSocket dealer:
                var router = (RouterSocket)receiver;
                await fixture.UntilAsync(() => dealer.CanSend);
                dealer.Send("question"u8);
                using (Message question = await router.ReceiveAsync(Guard.Token).Guarded())
                {
                    router.To(question).Send("answer"u8);
                }

                await ExpectAsync(dealer, "answer"u8.ToArray());
                break;
            case PairSocket pair:
                await fixture.UntilAsync(() => pair.CanSend);
                pair.Send("hello"u8);
                await ExpectAsync((PairSocket)receiver, "hello"u8.ToArray());
                break;
            default:
                Assert.Fail(sender.GetType().Name);
                break;
        }
    }

    private static async Task ExpectAsync(ReceivingSocket socket, byte[] payload)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(payload, message.Span);
    }

    private static byte[] PairGreeting(ReadOnlySpan<byte> message = default) => message.IsEmpty ? ZmpFixture.Greeting(0)
        : [.. ZmpFixture.Greeting(0), .. ZmpFixture.Frame(0, message)];

    private static byte[] Framed(ReadOnlySpan<byte> payload)
    {
        byte[] frame = new byte[4 + payload.Length];
        BinaryPrimitives.WriteInt32BigEndian(frame, payload.Length);
        payload.CopyTo(frame.AsSpan(4));
        return frame;
    }

    private static async Task<byte[]> ReadAsync(IDuplexPipe pipe, int count)
    {
        byte[] bytes = new byte[count];
        for (int read = 0; read < count;)
        {
            ReadResult result = await pipe.Input.ReadAsync(Guard.Token).Guarded();
            ReadOnlySequence<byte> part = result.Buffer.Slice(0, Math.Min(count - read, result.Buffer.Length));
            part.CopyTo(bytes.AsSpan(read));
            read += (int)part.Length;
            pipe.Input.AdvanceTo(part.End);
            Assert.True(read == count || !result.IsCompleted, $"ended after {read} bytes");
        }

        return bytes;
    }

    private static async Task<byte[]> ReadToEndAsync(IDuplexPipe pipe, bool completes = false)
    {
        var all = new MemoryStream();
        await pipe.Input.CopyToAsync(all, Guard.Token).Guarded();
        if (completes)
        {
            await pipe.Output.CompleteAsync();
        }

        return all.ToArray();
    }
}
