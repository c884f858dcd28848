using System.Buffers.Binary;
using System.Collections.Concurrent;
using System.Runtime.InteropServices;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The snippets of docs/patterns.md, compiled and run. The page's text must be found here word for word: PortingGuideTests.</summary>
public sealed class PatternSnippets
{
    [Fact]
    public async Task A_late_reply_is_not_taken_for_the_answer_to_the_next_request()
    {
        await using var fixture = new ContextFixture();
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        RouterSocket router = fixture.Context.CreateRouter();
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Connect(router.Bind("tcp://127.0.0.1:0"));
        var requester = new Requester(dealer);
        Task reading = requester.ReadRepliesAsync(end.Token);

        // Nobody answers yet.
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => requester.AskAsync("first"u8.ToArray(), TimeSpan.FromMilliseconds(20), end.Token));
        Task serving = ServeAsync(router, end.Token);
        Assert.Equal("second"u8.ToArray(), await requester.AskAsync("second"u8.ToArray(), TimeSpan.FromSeconds(30), end.Token));

        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => reading);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => serving);
    }

    [Fact]
    public async Task Slow_subscribers_are_found_by_what_was_dropped_for_them()
    {
        await using var fixture = new ContextFixture();
        PubSocket publisher = fixture.Context.CreatePub(new PubOptions { SendHighWaterMark = 1 });
        SubSocket subscriber = fixture.Context.CreateSub(new SubOptions { ReceiveHighWaterMark = 1 });
        subscriber.Subscribe(""u8);
        subscriber.Connect(publisher.Bind("inproc://slow"));
        await fixture.UntilAsync(() => publisher.TopicCount == 1);
        while (publisher.GetStatistics().DroppedAtHighWaterMark == 0)
        {
            publisher.Send("price"u8);
        }

        foreach (PeerInfo peer in publisher.GetPeers().Where(static p => p.MessagesDropped > 0))
        {
            Console.WriteLine($"{peer.RemoteAddress}: {peer.Outbound.Messages} messages wait, {peer.MessagesDropped} dropped");
        }

        Assert.Single(publisher.GetPeers(), static p => p.MessagesDropped > 0);
    }

    [Fact]
    public async Task A_program_that_is_interrupted_disposes_its_context()
    {
        using var end = new CancellationTokenSource();
        using PosixSignalRegistration interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, signal => { signal.Cancel = true; end.Cancel(); });
        using PosixSignalRegistration terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, signal => { signal.Cancel = true; end.Cancel(); });
        await using var context = new ZlinkContext();
        Assert.False(end.IsCancellationRequested);
    }

    [Fact]
    public void Workers_are_known_by_their_routing_ids()
    {
        var busy = new Dictionary<ReadOnlyMemory<byte>, int>(RoutingIdEqualityComparer.Instance);
        busy["worker"u8.ToArray()] = 1;
        Assert.Equal(1, busy["worker"u8.ToArray()]);
    }

    [Fact]
    public async Task What_a_relay_passes_on_in_batches_arrives_in_order()
    {
        const int Count = 1_000;
        await using var fixture = new ContextFixture();
        PairSocket first = fixture.Context.CreatePair();
        PairSocket source = fixture.Context.CreatePair();
        PairSocket target = fixture.Context.CreatePair(new PairOptions { SendHighWaterMark = 10 });
        PairSocket last = fixture.Context.CreatePair(new PairOptions { ReceiveHighWaterMark = 10 });
        source.Connect(first.Bind("tcp://127.0.0.1:0"));
        last.Connect(target.Bind("tcp://127.0.0.1:0"));
        using var end = CancellationTokenSource.CreateLinkedTokenSource(Guard.Token);
        Task relaying = RelayAsync(source, target, end.Token);
        Task sending = Task.Run(
            async () =>
            {
                for (int i = 0; i < Count; i++)
                {
                    await first.SendAsync(BitConverter.GetBytes(i), end.Token);
                }
            },
            end.Token);
        for (int i = 0; i < Count; i++)
        {
            using Message message = await last.ReceiveAsync(end.Token).Guarded();
            Assert.Equal(i, BitConverter.ToInt32(message.Span));
        }

        await sending.Guarded();
        await end.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => relaying.Guarded());
    }

    [Fact]
    public async Task An_endpoint_that_was_given_up_is_connected_again()
    {
        await using var fixture = new ContextFixture();
        DealerSocket dealer = fixture.Context.CreateDealer();
        ConnectAgain(dealer, TimeSpan.FromMilliseconds(1), Guard.Token);
        using RawListener balancer = fixture.Listen();
        dealer.Connect(balancer.Endpoint);
        using (RawPeer refused = await balancer.AcceptAsync())
        {
            await refused.SendAsync("HTTP/1.1 503 Service Unavailable\r\n\r\n"u8.ToArray());
            await refused.ReadToAnyEndAsync();
        }

        using RawPeer again = await balancer.AcceptAsync();
    }

    private static async Task RelayAsync(ReceivingSocket source, DuplexSocket target, CancellationToken cancellation)
    {
        var batch = new Message[64];
        while (true)
        {
            int count = await source.ReceiveManyAsync(batch, cancellation);
            try
            {
                await target.SendManyAsync(batch.AsMemory(0, count), cancellation);
            }
            finally
            {
                // Those that were passed on have ended: for them this does nothing.
                Array.ForEach(batch, static message => message.Dispose());
            }
        }
    }

    private static async Task ServeAsync(RouterSocket router, CancellationToken cancellation)
    {
        using var reply = new MessageBuilder();
        await foreach (Message request in router.ReceiveAllAsync(cancellation))
        {
            using (request)
            {
                if (request.PartCount == 2) // Else it is not from a client of this kind.
                {
                    reply.Add(request[0].Span).Add(request[1].Span);
                    await router.SendAsync(request.RoutingId, reply, cancellation);
                }
            }
        }
    }

    private static void ConnectAgain(ZlinkSocket socket, TimeSpan pause, CancellationToken end)
    {
        socket.OnEvent(SocketEventTypes.ConnectGivenUp, given => _ = ConnectLaterAsync(given.RemoteAddress));

        async Task ConnectLaterAsync(string endpoint)
        {
            await Task.Delay(pause, end);
            socket.Connect(endpoint);
        }
    }

    internal static void LetIn(ZlinkSocket socket, ISessions sessions)
    {
        socket.Options.WebSocket.Admission = async (request, cancellation) =>
            await sessions.FindAsync(request.GetHeader("Cookie"), cancellation) is null
                ? WebSocketAdmission.Refuse(401, "Sign in first")
                : WebSocketAdmission.Accept;
        socket.Bind("wss://*:8443/feed");
    }

    internal interface ISessions
    {
        ValueTask<object?> FindAsync(string? cookie, CancellationToken cancellation);
    }

    private sealed class Requester(DealerSocket dealer)
    {
        private readonly ConcurrentDictionary<long, TaskCompletionSource<byte[]>> _waiting = new();
        private long _last;

        public async Task<byte[]> AskAsync(ReadOnlyMemory<byte> question, TimeSpan patience, CancellationToken cancellation)
        {
            using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
            limit.CancelAfter(patience);
            long number = Interlocked.Increment(ref _last);
            var answer = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
            _waiting[number] = answer;
            try
            {
                using var request = new MessageBuilder();
                BinaryPrimitives.WriteInt64BigEndian(request.AddSpace(sizeof(long)), number);
                request.Add(question.Span);
                await dealer.SendAsync(request, limit.Token);
                return await answer.Task.WaitAsync(limit.Token);
            }
            finally
            {
                _waiting.TryRemove(number, out _);
            }
        }

        public async Task ReadRepliesAsync(CancellationToken cancellation)
        {
            await foreach (Message reply in dealer.ReceiveAllAsync(cancellation))
            {
                using (reply)
                {
                    bool isReply = reply.PartCount == 2 && reply[0].Span.Length == sizeof(long);
                    if (isReply && _waiting.TryRemove(BinaryPrimitives.ReadInt64BigEndian(reply[0].Span), out TaskCompletionSource<byte[]>? answer))
                    {
                        answer.TrySetResult(reply[1].Span.ToArray());
                    }
                }
            }
        }
    }
}
