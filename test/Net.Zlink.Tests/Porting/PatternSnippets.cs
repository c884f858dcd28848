using System.Diagnostics.Metrics;
using System.Runtime.InteropServices;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>Snippets of docs/patterns.md, compiled and run. The page's text must be found in these files word for word:
/// PortingGuideTests.</summary>
public sealed class PatternSnippets
{
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
    public async Task A_test_needs_no_port_with_inproc()
    {
        await using var context = new ZlinkContext();
        using RouterSocket server = context.CreateRouter();
        using DealerSocket client = context.CreateDealer();
        server.Bind("inproc://prices");
        client.Connect("inproc://prices");

        client.Send("EUR"u8);
        using Message request = server.Receive(TimeSpan.FromSeconds(10));
        server.Send(request.RoutingId.Span, "1.2"u8);
        using Message reply = client.Receive(TimeSpan.FromSeconds(10));
        Assert.Equal("1.2", reply.GetString());
    }

    [Fact]
    public async Task A_stream_handler_is_tested_without_a_socket()
    {
        var handler = new Echo();
        List<string> sent = [];
        StreamPeer peer = StreamPeer.Create(payload =>
        {
            sent.Add(Encoding.UTF8.GetString(payload.Span));
            return ZlinkError.None;
        });

        await handler.OnReceivedAsync(peer, StreamFrames.Create("hello"u8.ToArray(), "again"u8.ToArray()));
        Assert.Equal(["hello", "again"], sent);
    }

    [Fact]
    public async Task A_test_listens_to_the_metrics_of_its_own_context_only()
    {
        await using var context = new ZlinkContext();
        await using var other = new ZlinkContext();
        using DealerSocket ofOther = other.CreateDealer();
        using DealerSocket socket = context.CreateDealer();
        long sockets = 0;
        using var listener = new MeterListener();
        listener.InstrumentPublished = (instrument, self) =>
        {
            if (instrument.Name is "zlink.socket.count" && ReferenceEquals(instrument.Meter.Scope, context))
            {
                self.EnableMeasurementEvents(instrument);
            }
        };
        listener.SetMeasurementEventCallback<long>((instrument, value, tags, state) => sockets += value);
        listener.Start();
        listener.RecordObservableInstruments();
        Assert.Equal(1, sockets);
    }

    [Fact]
    public void Workers_are_known_by_their_routing_ids()
    {
        var busy = new Dictionary<RoutingId, int>();
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

    private static void ConnectAgain(ZmpSocket socket, TimeSpan pause, CancellationToken end)
    {
        socket.OnEvent(SocketEventTypes.ConnectGivenUp, given => _ = ConnectLaterAsync(given.RemoteAddress));

        async Task ConnectLaterAsync(string endpoint)
        {
            await Task.Delay(pause, end);
            socket.Connect(endpoint);
        }
    }

    internal static void LetIn(ZmpSocket socket, ISessions sessions)
    {
        socket.Options.WebSocket.Admission = async (request, cancellation) =>
            await sessions.FindAsync(request.GetHeader("Cookie"), cancellation) is null
                ? WebSocketAdmission.Refuse(401, "Sign in first")
                : WebSocketAdmission.Accept;
        socket.Bind("wss://*:8443/feed");
    }

    private sealed class Echo : StreamHandler
    {
        public override ValueTask OnReceivedAsync(StreamPeer peer, StreamFrames frames)
        {
            peer.SendMany(frames, out _);
            return default;
        }
    }

    internal interface ISessions
    {
        ValueTask<object?> FindAsync(string? cookie, CancellationToken cancellation);
    }
}
