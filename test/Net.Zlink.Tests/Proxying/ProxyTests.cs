using System.Runtime.InteropServices;
using System.Text;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Proxying;

public sealed class ProxyTests : IAsyncDisposable
{
    private static int s_names;

    private readonly ZlinkContext _context = new();

    public ValueTask DisposeAsync() => _context.DisposeAsync();

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("inproc")]
    public async Task Requests_of_many_clients_reach_workers_and_each_reply_its_client(string transport)
    {
        RouterSocket front = _context.CreateRouter();
        DealerSocket back = _context.CreateDealer();
        string clients = front.Bind(EndpointOf(transport));
        string workers = back.Bind(EndpointOf(transport));
        var proxy = new SocketProxy(front, back);
        Task run = proxy.RunAsync(Guard.Token);
        for (int i = 0; i < 3; i++)
        {
            // A worker sees [id, body] and sends the id back, as with the native core.
            DealerSocket worker = _context.CreateDealer();
            worker.Connect(workers);
            _ = Task.Run(
                async () =>
                {
                    using var reply = new MessageBuilder();
                    await foreach (Message request in worker.ReceiveAllAsync(Guard.Token))
                    {
                        using (request)
                        {
                            Assert.Equal(2, request.PartCount);
                            reply.Add(request[0].Span).Add("re:"u8).Add(request[1].Span);
                        }

                        await worker.SendAsync(reply, Guard.Token);
                    }
                },
                Guard.Token);
        }

        const int Count = 300;
        await Task.WhenAll(Enumerable.Range(0, 4).Select(async client =>
        {
            DealerSocket socket = _context.CreateDealer();
            socket.Connect(clients);
            var open = new HashSet<string>(StringComparer.Ordinal);
            for (int i = 0; i < Count; i++)
            {
                open.Add($"{client}:{i}");
                await socket.SendAsync(Encoding.ASCII.GetBytes($"{client}:{i}"), Guard.Token);
            }

            for (int i = 0; i < Count; i++)
            {
                using Message reply = await socket.ReceiveAsync(Guard.Token);
                Assert.Equal(2, reply.PartCount);
                Assert.Equal("re:", Encoding.ASCII.GetString(reply[0].Span));
                Assert.True(open.Remove(Encoding.ASCII.GetString(reply[1].Span)));
            }
        })).Guarded();

        // What a client has received the proxy may still be about to count.
        await Guard.UntilAsync(() => proxy.GetStatistics().FrontSent.Messages == 4 * Count, "the proxy counts all replies");
        ProxyStatistics done = proxy.GetStatistics();
        Assert.Equal((4 * Count, 8 * Count), (done.FrontReceived.Messages, done.FrontReceived.Parts));
        Assert.Equal((4 * Count, 12 * Count), (done.FrontSent.Messages, done.FrontSent.Parts));
        Assert.Equal(done.FrontReceived, done.BackSent);
        Assert.Equal(done.BackReceived, done.FrontSent);
        Assert.Equal(0, done.Undeliverable);
        proxy.Stop();
        await run.Guarded();
        Assert.False(proxy.IsRunning);
    }

    [Fact]
    public async Task Between_routers_the_senders_id_names_the_receiver()
    {
        RouterSocket front = _context.CreateRouter();
        RouterSocket back = _context.CreateRouter();
        DealerSocket left = Dealer("same");
        DealerSocket right = Dealer("same");
        left.Connect(front.Bind("tcp://127.0.0.1:0"));
        right.Connect(back.Bind("tcp://127.0.0.1:0"));
        using (Message hello = await ExchangeAsync(right, back))
        {
            Assert.Equal("hello", TextOf(hello));
        }

        Task run = new SocketProxy(front, back).RunAsync(Guard.Token);
        using Message message = await ExchangeAsync(left, right);
        Assert.Equal("hello", TextOf(message));
        Assert.False(run.IsCompleted);
    }

    [Fact]
    public async Task Subscriptions_go_one_way_and_messages_the_other()
    {
        XSubSocket front = _context.CreateXSub();
        XPubSocket back = _context.CreateXPub();
        XPubSocket publisher = _context.CreateXPub();
        SubSocket subscriber = _context.CreateSub();
        publisher.Connect(front.Bind("tcp://127.0.0.1:0"));
        subscriber.Connect(back.Bind("tcp://127.0.0.1:0"));
        var proxy = new SocketProxy(front, back);
        Task run = proxy.RunAsync(Guard.Token);

        subscriber.Subscribe("a"u8);
        using (Message notice = await publisher.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("\u0001a", TextOf(notice));
        }

        using var message = new MessageBuilder();
        await publisher.SendAsync(message.Add("b"u8).Add("not this"u8), Guard.Token);
        await publisher.SendAsync(message.Add("ab"u8).Add("this"u8), Guard.Token);
        using Message received = await subscriber.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("ab|this", TextOf(received));
        Assert.False(run.IsCompleted);
    }

    [Fact]
    public async Task Pairs_of_one_socket_get_back_what_they_send()
    {
        PairSocket socket = _context.CreatePair();
        PairSocket client = _context.CreatePair();
        client.Connect(socket.Bind("tcp://127.0.0.1:0"));
        var proxy = new SocketProxy(socket, socket);
        Task run = proxy.RunAsync(Guard.Token);
        using var message = new MessageBuilder();

        await client.SendAsync(message.Add("a"u8).Add([]).Add("b"u8), Guard.Token);

        using Message echo = await client.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("a||b", TextOf(echo));
        await Guard.UntilAsync(() => proxy.GetStatistics().BackSent.Messages == 1, "the proxy counts what the client has already");
        Assert.Equal(new ProxyTraffic { Messages = 1, Parts = 3, Bytes = 2 }, proxy.GetStatistics().FrontReceived);
        Assert.Equal(new ProxyTraffic { Messages = 1, Parts = 3, Bytes = 2 }, proxy.GetStatistics().BackSent);
        Assert.False(run.IsCompleted);
    }

    [Fact]
    public async Task A_capture_gets_every_message_of_both_directions_in_the_native_shape()
    {
        RouterSocket front = _context.CreateRouter();
        DealerSocket back = _context.CreateDealer();
        (PairSocket capture, PairSocket log) = Pairs();
        DealerSocket client = Dealer("me");
        DealerSocket worker = _context.CreateDealer();
        client.Connect(front.Bind("tcp://127.0.0.1:0"));
        worker.Connect(back.Bind("tcp://127.0.0.1:0"));
        Task run = new SocketProxy(front, back, capture).RunAsync(Guard.Token);
        await client.SendAsync("ask"u8.ToArray(), Guard.Token);
        using (Message request = await worker.ReceiveAsync(Guard.Token).Guarded())
        {
            using var reply = new MessageBuilder();
            await worker.SendAsync(reply.Add(request[0].Span).Add("answer"u8), Guard.Token);
        }

        using Message answer = await client.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("answer", TextOf(answer));
        foreach (string expected in (string[])["me|ask", "me|answer"])
        {
            using Message captured = await log.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(expected, TextOf(captured));
        }

        Assert.False(run.IsCompleted);
    }

    [Fact]
    public async Task The_control_socket_takes_the_native_commands()
    {
        (PairSocket front, PairSocket client) = Pairs();
        (PairSocket back, PairSocket worker) = Pairs();
        (PairSocket control, PairSocket commander) = Pairs();
        var proxy = new SocketProxy(front, back);
        Task run = NativeProxy.RunAsync(proxy, control, Guard.Token);
        using var message = new MessageBuilder();
        await client.SendAsync(message.Add("ab"u8).Add("cde"u8), Guard.Token);
        (await worker.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        await worker.SendAsync(message.Add("1"u8), Guard.Token);
        (await client.ReceiveAsync(Guard.Token).Guarded()).Dispose();

        Assert.Equal((ulong[])[2, 5, 1, 1, 1, 1, 2, 5], await CommandAsync("STATISTICS"));
        Assert.Empty(await CommandAsync("PAUSE"));
        Assert.True(proxy.IsPaused);
        await client.SendAsync("later"u8.ToArray(), Guard.Token);
        await UntilReadableAsync(front);
        Assert.Empty(await CommandAsync("nonsense"));
        Assert.Equal((ulong[])[2, 5, 1, 1, 1, 1, 2, 5], await CommandAsync("STATISTICS"));
        Assert.Empty(await CommandAsync("RESUME"));
        using (Message later = await worker.ReceiveAsync(Guard.Token).Guarded())
        {
            Assert.Equal("later", TextOf(later));
        }

        Assert.Empty(await CommandAsync("TERMINATE"));
        await run.Guarded();

        async Task<ulong[]> CommandAsync(string command)
        {
            await commander.SendAsync(Encoding.ASCII.GetBytes(command), Guard.Token);
            using Message answer = await commander.ReceiveAsync(Guard.Token).Guarded();
            if (answer.PartCount == 1)
            {
                Assert.Equal(0, answer.Memory.Length);
                return [];
            }

            return [.. Enumerable.Range(0, answer.PartCount).Select(i => MemoryMarshal.Read<ulong>(answer[i].Span))];
        }
    }

    [Fact]
    public async Task A_control_socket_that_cannot_send_commands_without_an_answer()
    {
        (PairSocket front, PairSocket client) = Pairs();
        (PairSocket back, PairSocket worker) = Pairs();
        SubSocket control = _context.CreateSub();
        XPubSocket commander = _context.CreateXPub();
        control.Subscribe([]);
        control.Connect(commander.Bind("tcp://127.0.0.1:0"));
        (await commander.ReceiveAsync(Guard.Token).Guarded()).Dispose();
        Task run = NativeProxy.RunAsync(new SocketProxy(front, back), control, Guard.Token);
        await client.SendAsync("x"u8.ToArray(), Guard.Token);
        (await worker.ReceiveAsync(Guard.Token).Guarded()).Dispose();

        await commander.SendAsync("TERMINATE"u8.ToArray(), Guard.Token);

        await run.Guarded();
    }

    [Fact]
    public async Task A_control_socket_that_ends_ends_the_run()
    {
        PairSocket control = _context.CreatePair();
        var proxy = new SocketProxy(_context.CreatePair(), _context.CreatePair());
        Task run = NativeProxy.RunAsync(proxy, control, Guard.Token);
        control.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => run.Guarded());
        Assert.False(proxy.IsRunning);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_run_with_a_control_socket_ends_as_one_without(bool cancels)
    {
        PairSocket front = _context.CreatePair();
        using var cancel = new CancellationTokenSource();
        Task run = NativeProxy.RunAsync(new SocketProxy(front, _context.CreatePair()), _context.CreatePair(), cancel.Token);
        if (cancels)
        {
            await cancel.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => run.Guarded());
        }
        else
        {
            front.Dispose();
            await Assert.ThrowsAsync<ObjectDisposedException>(() => run.Guarded());
        }
    }

    [Fact]
    public async Task A_blocked_run_passes_messages_on_and_ends_when_told_to()
    {
        (PairSocket front, PairSocket client) = Pairs();
        (PairSocket back, PairSocket worker) = Pairs();
        var proxy = new SocketProxy(front, back);
        var thread = new Thread(proxy.Run);
        thread.Start();
        for (int i = 0; i < 5_000; i++)
        {
            await client.SendAsync(BitConverter.GetBytes(i), Guard.Token);
        }

        for (int i = 0; i < 5_000; i++)
        {
            using Message message = await worker.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }

        Assert.Throws<InvalidOperationException>(proxy.Run);
        proxy.Stop();
        thread.JoinGuarded();
    }

    [Fact]
    public async Task A_slow_back_pushes_back_on_the_sender_and_nothing_is_lost()
    {
        PairSocket client = NarrowPair();
        PairSocket front = NarrowPair();
        PairSocket back = NarrowPair();
        PairSocket worker = NarrowPair();
        client.Connect(front.Bind(EndpointOf("inproc")));
        worker.Connect(back.Bind(EndpointOf("inproc")));
        Task run = new SocketProxy(front, back).RunAsync(Guard.Token);
        const int Count = 2_000;
        int sent = 0;
        Task sending = Task.Run(
            async () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    await client.SendAsync(BitConverter.GetBytes(i), Guard.Token);
                    Volatile.Write(ref sent, i + 1);
                }
            },
            Guard.Token);

        for (int i = 0; i < Count; i++)
        {
            using Message message = await worker.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));

            // Two pipes of 16 each (both ends' marks together), and one message in the proxy's hand.
            Assert.InRange(Volatile.Read(ref sent), 0, i + 1 + 33);
        }

        await sending.Guarded();
        Assert.False(run.IsCompleted);
    }

    [Fact]
    public async Task A_cancelled_run_can_be_followed_by_another_and_loses_nothing()
    {
        (PairSocket front, PairSocket client) = Pairs();
        (PairSocket back, PairSocket worker) = Pairs();
        var proxy = new SocketProxy(front, back);
        const int Count = 2_000;
        Task sending = Task.Run(
            async () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    await client.SendAsync(BitConverter.GetBytes(i), Guard.Token);
                }
            },
            Guard.Token);
        int received = 0;
        while (received < Count)
        {
            using var cancel = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
            Task run = proxy.RunAsync(cancel.Token);
            int until = Math.Min(Count, received + 100);
            for (; received < until; received++)
            {
                using Message message = await worker.ReceiveAsync(Guard.Token).Guarded();
                Assert.Equal(received, BitConverter.ToInt32(message.Span));
            }

            await cancel.CancelAsync();
            await Assert.ThrowsAnyAsync<OperationCanceledException>(() => run.Guarded());
        }

        await sending.Guarded();
    }

    [Fact]
    public async Task A_lone_part_towards_a_router_goes_nowhere_and_an_unknown_peer_of_a_mandatory_one_is_counted()
    {
        (PairSocket front, PairSocket client) = Pairs();
        RouterSocket back = _context.CreateRouter(new RouterOptions { Mandatory = true });
        DealerSocket known = Dealer("known");
        known.Connect(back.Bind("tcp://127.0.0.1:0"));
        using (Message hello = await ExchangeAsync(known, back))
        {
            Assert.Equal("hello", TextOf(hello));
        }

        var proxy = new SocketProxy(front, back);
        Task run = proxy.RunAsync(Guard.Token);
        using var message = new MessageBuilder();
        await client.SendAsync(message.Add("known"u8), Guard.Token);
        await client.SendAsync(message.Add("stranger"u8).Add("x"u8), Guard.Token);
        await client.SendAsync(message.Add("known"u8).Add("y"u8).Add("z"u8), Guard.Token);

        using Message received = await known.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal("y|z", TextOf(received));
        Assert.Equal(1, proxy.GetStatistics().Undeliverable);
        Assert.False(run.IsCompleted);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task A_context_that_is_shut_down_ends_the_proxy_paused_or_not(bool paused)
    {
        var proxy = new SocketProxy(_context.CreateRouter(), _context.CreateDealer());
        Task run = proxy.RunAsync(Guard.Token);
        if (paused)
        {
            proxy.Pause();
        }

        await _context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();

        Assert.Equal(ZlinkError.ContextTerminated, (await Assert.ThrowsAsync<ZlinkException>(() => run.Guarded())).Error);
    }

    [Fact]
    public async Task A_disposed_socket_ends_the_proxy()
    {
        PairSocket front = _context.CreatePair();
        Task run = new SocketProxy(front, _context.CreatePair()).RunAsync(Guard.Token);
        front.Dispose();
        await Assert.ThrowsAsync<ObjectDisposedException>(() => run.Guarded());
    }

    [Fact]
    public void Nonsense_is_refused()
    {
        PairSocket pair = _context.CreatePair();
        Assert.Throws<ArgumentNullException>(() => new SocketProxy(null!, pair));
        Assert.Throws<ArgumentNullException>(() => new SocketProxy(pair, null!));
        Assert.Throws<ArgumentException>(() => new SocketProxy(pair, pair, _context.CreateSub()));
    }

    private static string TextOf(Message message) => string.Join('|', message.ToArrays().Select(Encoding.ASCII.GetString));

    private static string EndpointOf(string transport) =>
        string.Equals(transport, "inproc", StringComparison.Ordinal) ? $"inproc://proxy-{Interlocked.Increment(ref s_names)}" : transport;

    /// <summary>Sends "hello" from one to the other.</summary>
    private static async Task<Message> ExchangeAsync(DealerSocket from, ReceivingSocket to)
    {
        await from.SendAsync("hello"u8.ToArray(), Guard.Token);
        return await to.ReceiveAsync(Guard.Token).Guarded();
    }

    private static async Task UntilReadableAsync(ZmpSocket socket)
    {
        using var poller = new SocketPoller();
        poller.Add(socket, PollEvents.In);
        Assert.Equal(1, await poller.PollAsync(new PollResult[1], Guard.Token).Guarded());
    }

    private PairSocket NarrowPair() => _context.CreatePair(new PairOptions { SendHighWaterMark = 8, ReceiveHighWaterMark = 8 });

    private DealerSocket Dealer(string id) => _context.CreateDealer(new DealerOptions { RoutingId = Encoding.ASCII.GetBytes(id) });

    private (PairSocket Here, PairSocket There) Pairs()
    {
        PairSocket here = _context.CreatePair();
        PairSocket there = _context.CreatePair();
        there.Connect(here.Bind("tcp://127.0.0.1:0"));
        return (here, there);
    }
}
