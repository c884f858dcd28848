using System.Buffers;
using System.Collections.Concurrent;
using System.Net.Sockets;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A connection over a real socket, below all that knows of peers and ids.</summary>
public sealed class ConnectionTests
{
    [Fact]
    public async Task Accepted_messages_arrive_before_the_end_of_a_connection_that_closes_in_order()
    {
        await using var bench = await Fixture.OpenAsync();
        byte[] payload = Pattern(3_000_000, 1);
        Assert.Equal(SendStatus.Accepted, bench.Send(payload));
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        Assert.Equal(OutboundFixture.Frame(payload), await bench.ReadToEndAsync());
        bench.Peer.Dispose();
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "closing Local", "closed");
        Assert.Equal(SendStatus.Closed, bench.Send([1]));
        bench.ExpectBooks(written: 1, dropped: 0);
    }

    [Fact]
    public async Task A_connection_that_is_told_to_close_before_it_starts_waits_for_input_once_and_ends_in_order()
    {
        // Its shard is further than the thread that makes it: our end is sent, and the peer's is to be waited for.
        await using var bench = await Fixture.OpenAsync(start: false);
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        Assert.Empty(await bench.ReadToEndAsync());
        await DrainAsync(bench.Shard);
        bench.Connection.Start();
        await DrainAsync(bench.Shard);
        Assert.False(bench.Sink.Closed.Task.IsCompleted);
        bench.Peer.Dispose();
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_peer_that_is_stuck_writing_to_us_still_gets_everything()
    {
        // It sends without reading until we close: it reads only when its own writes are through, which needs us to read on.
        await using var bench = await Fixture.OpenAsync();
        byte[] payload = Pattern(3_000_000, 2);
        bench.Send(payload);
        byte[] flood = OutboundFixture.Frame(Pattern(900_000, 3));
        var sending = Task.Run(
            async () =>
            {
                for (int i = 0; i < 5; i++)
                {
                    await bench.Peer.SendAsync(flood, TestContext.Current.CancellationToken);
                }
            },
            TestContext.Current.CancellationToken);
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        await sending.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(payload.Length + 4, (await bench.ReadToEndAsync()).Length);
    }

    [Fact]
    public async Task One_write_of_mixed_buffers_arrives_in_order_however_full_the_peer_is()
    {
        await using var bench = await Fixture.OpenAsync();
        OutboundQueue queue = bench.Connection.Outbound;
        var slabs = new Slab.SlabCache(bench.Pool);
        var owners = new List<CountingOwner>();
        var expected = new MemoryStream();
        bool schedule = false;
        Hold(bench.Shard, () =>
        {
            // 12 MB, more than the system takes at once: copied, small ones packed between, handed over with and without an array beneath,
            // shared.
            for (int i = 0; i < 200; i++)
            {
                byte[] payload = Pattern(i % 5 == 0 ? 100 : OutgoingMessage.LargePayload + (i * 500), i);
                expected.Write(OutboundFixture.Frame(payload));
                bool mine = false;
                switch (i % 4)
                {
                    case 0:
                        Slab slab = slabs.Rent(payload.Length + 4);
                        OutboundFixture.Frame(payload).CopyTo(slab.Array, 0);
                        queue.TryAppendShared(slab, 0, payload.Length + 4, 1, out mine);
                        slab.Release();
                        break;
                    case 1:
                        var owner = new CountingOwner(payload);
                        owners.Add(owner);
                        queue.TryAppend(new OutgoingMessage(owner.Memory, owner), out mine);
                        break;
                    case 2:
                        queue.TryAppend(new OutgoingMessage(payload, new CountingOwner([])), out mine);
                        break;
                    default:
                        queue.TryAppend(new OutgoingMessage(payload), out mine);
                        break;
                }

                schedule |= mine;
            }

            bench.Connection.ScheduleFlush();
        });
        Assert.True(schedule);
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        byte[] arrived = await bench.ReadToEndAsync();
        Assert.True(expected.ToArray().AsSpan().SequenceEqual(arrived),
            $"{arrived.Length} bytes arrived of {expected.Length}, or in another order.");
        bench.Peer.Dispose();
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.ExpectBooks(written: 200, dropped: 0);
        Assert.All(owners, static owner => Assert.Equal(1, owner.Disposals));
    }

    [Fact]
    public async Task An_abort_is_not_taken_back_by_a_later_wish_to_close_in_order()
    {
        await using var bench = await Fixture.OpenAsync(linger: Timeout.InfiniteTimeSpan);

        // The peer reads nothing: an orderly close would wait for it for ever. Both wishes come before the shard runs.
        bench.Send(new byte[20_000_000]);
        await DrainAsync(bench.Shard);
        Hold(bench.Shard, () =>
        {
            bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
            bench.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Orderly, Timeout.InfiniteTimeSpan);
        });
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal("closing Local", bench.Sink.Events.ToArray()[1]);
        bench.ExpectBooks(written: 0, dropped: 1);
    }

    [Fact]
    public async Task An_abort_speeds_up_an_orderly_close_that_is_stuck()
    {
        await using var bench = await Fixture.OpenAsync(linger: Timeout.InfiniteTimeSpan);
        bench.Send(new byte[20_000_000]);
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        await DrainAsync(bench.Shard);
        Assert.False(bench.Sink.Closed.Task.IsCompleted);
        bench.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Abort);
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "closing Local", "closed");
    }

    [Fact]
    public async Task The_linger_time_bounds_what_waits_and_the_close_time_bounds_what_has_begun_and_the_wait_for_the_peers_end()
    {
        await using (var stuck = await Fixture.OpenAsync(linger: TimeSpan.FromSeconds(3)))
        {
            stuck.Send(new byte[20_000_000]);
            stuck.Send([1]);
            stuck.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
            await DrainAsync(stuck.Shard);
            stuck.Time.Advance(TimeSpan.FromSeconds(2.9));
            await DrainAsync(stuck.Shard);
            Assert.Equal(2, stuck.Connection.Outbound.Counts.QueuedMessages);
            stuck.Time.Advance(TimeSpan.FromSeconds(0.1));
            await DrainAsync(stuck.Shard);
            Assert.Equal(1, stuck.Connection.Outbound.Counts.DroppedMessages);

            // A later wish does not begin the time again.
            stuck.Time.Advance(TimeSpan.FromSeconds(4.9));
            stuck.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Orderly, TimeSpan.FromSeconds(3));
            stuck.Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Orderly, TimeSpan.Zero);
            await DrainAsync(stuck.Shard);
            Assert.False(stuck.Sink.Closed.Task.IsCompleted);
            stuck.Time.Advance(TimeSpan.FromSeconds(0.1));
            await stuck.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        }

        await using var silent = await Fixture.OpenAsync(linger: TimeSpan.FromSeconds(3));
        silent.Connection.RequestClose(DisconnectReason.Local, CloseMode.Orderly);
        Assert.Empty(await silent.ReadToEndAsync());
        await DrainAsync(silent.Shard); // The wait is armed after our end was sent.
        Assert.False(silent.Sink.Closed.Task.IsCompleted);
        silent.Time.Advance(TimeSpan.FromSeconds(5));
        await silent.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
    }

    [Fact]
    public async Task A_receiver_that_throws_closes_its_connection_also_when_reporting_that_throws()
    {
        foreach (bool reportThrows in (bool[])[false, true])
        {
            await using var bench = await Fixture.OpenAsync();
            bench.Sink.OnFramesThrows = true;
            bench.Sink.OnFaultThrows = reportThrows;
            await bench.Peer.SendAsync(OutboundFixture.Frame([1]), TestContext.Current.CancellationToken);
            await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
            bench.Sink.Expect("opened", "fault", "closing HandlerFailed", "closed");
            bool alive = false;
            await OnShardAsync(bench.Shard, () => alive = true);
            Assert.True(alive);
        }
    }

    [Fact]
    public async Task A_parked_connection_reads_nothing_until_it_is_resumed()
    {
        await using var bench = await Fixture.OpenAsync();
        bench.Sink.Pauses = true;
        await bench.Peer.SendAsync(OutboundFixture.Frame([1]), TestContext.Current.CancellationToken);
        await bench.Sink.NextFramesAsync();
        await bench.Peer.SendAsync(OutboundFixture.Frame([2]), TestContext.Current.CancellationToken);
        await DrainAsync(bench.Shard);
        await DrainAsync(bench.Shard);
        Assert.True(bench.Connection.IsPaused);
        Assert.Equal(1, bench.Sink.Frames);
        bench.Connection.Resume();
        await bench.Sink.NextFramesAsync();
        Assert.Equal(2, bench.Sink.Frames);
    }

    [Fact]
    public async Task An_idle_connection_ends_in_its_time_and_a_parked_one_does_not()
    {
        await using var bench = await Fixture.OpenAsync(idle: TimeSpan.FromSeconds(10));
        bench.Sink.Pauses = true;
        await bench.Peer.SendAsync(OutboundFixture.Frame([1]), TestContext.Current.CancellationToken);
        await bench.Sink.NextFramesAsync();
        await DrainAsync(bench.Shard);
        for (int i = 0; i < 3; i++)
        {
            bench.Time.Advance(TimeSpan.FromSeconds(10));
            await DrainAsync(bench.Shard);
        }

        bench.Connection.Resume();
        await DrainAsync(bench.Shard);
        bench.Time.Advance(TimeSpan.FromSeconds(9.9));
        await DrainAsync(bench.Shard);
        bench.Sink.Expect("opened");
        bench.Time.Advance(TimeSpan.FromSeconds(10));
        await DrainAsync(bench.Shard);
        bench.Time.Advance(TimeSpan.FromSeconds(0.1));
        await DrainAsync(bench.Shard);
        bench.Peer.Dispose();
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "closing IdleTimeout", "closed");
    }

    [Fact]
    public async Task A_peer_that_takes_nothing_is_cut_off_after_the_write_time()
    {
        await using var bench = await Fixture.OpenAsync(write: TimeSpan.FromSeconds(4));
        bench.Send(new byte[20_000_000]);
        await DrainAsync(bench.Shard);
        Assert.True(SpinWait.SpinUntil(() => bench.Time.ArmedTimers == 1, Patience));
        bench.Time.Advance(TimeSpan.FromSeconds(3.9));
        await DrainAsync(bench.Shard);
        bench.Sink.Expect("opened");
        bench.Time.Advance(TimeSpan.FromSeconds(0.1));
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "closing WriteTimeout", "closed");
        bench.ExpectBooks(written: 0, dropped: 1);
    }

    [Theory]
    [InlineData(false, DisconnectReason.Remote)]
    [InlineData(true, DisconnectReason.TransportError)]
    public async Task The_peers_end_in_the_middle_of_a_frame_and_its_reset_are_told_apart(bool reset, DisconnectReason reason)
    {
        await using var bench = await Fixture.OpenAsync();
        await bench.Peer.SendAsync((byte[])[0, 0, 0x40, 0, 1, 2, 3], TestContext.Current.CancellationToken);
        await DrainAsync(bench.Shard);
        bench.Peer.Close(reset ? 0 : -1);
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", $"closing {reason}", "closed");
    }

    [Fact]
    public async Task A_close_before_the_start_has_run_ends_the_connection_all_the_same()
    {
        await using var bench = await Fixture.OpenAsync(start: false);
        Hold(bench.Shard, () =>
        {
            bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
            bench.Connection.Start();
        });
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        await DrainAsync(bench.Shard);
        bench.Sink.Expect("closing Local", "closed");
        Assert.Equal(0, bench.Shard.Counters.Connections);
    }

    [Fact]
    public async Task Donated_memory_that_is_disposed_too_early_costs_its_own_connection_only()
    {
        await using var bench = await Fixture.OpenAsync();
        var owner = new CountingOwner(new byte[OutgoingMessage.LargePayload]);
        bool schedule = false;
        Hold(bench.Shard, () =>
        {
            bench.Connection.Outbound.TryAppend(new OutgoingMessage(owner.Memory, owner), out schedule);
            ((IDisposable)owner).Dispose();
            bench.Connection.ScheduleFlush();
        });
        Assert.True(schedule);
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "fault", "closing HandlerFailed", "closed");
        await DrainAsync(bench.Shard);
    }

    [Fact]
    public async Task Donated_memory_that_is_disposed_too_early_is_all_that_a_queue_that_goes_on_loses()
    {
        await using var bench = await Fixture.OpenAsync();
        OutboundQueue queue = bench.Connection.Outbound;
        byte[] payload = Pattern(100, 1);
        IMemoryOwner<byte> owner = bench.Pool.Rent(OutgoingMessage.LargePayload);
        Hold(bench.Shard, () =>
        {
            bench.Connection.OutboundSurvives = true;
            queue.TryAppend(new OutgoingMessage(owner.Memory[..OutgoingMessage.LargePayload], owner), out _);
            queue.TryAppend(new OutgoingMessage(payload), out _);
            owner.Dispose();
            bench.Connection.ScheduleFlush();
        });
        await bench.Sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        bench.Sink.Expect("opened", "fault", "closing HandlerFailed", "closed");
        Assert.Equal((2, 1, 1), (queue.Counts.AcceptedMessages, queue.Counts.DroppedMessages, queue.Counts.QueuedMessages));
        queue.Abandon();
    }

    private sealed class Fixture : IAsyncDisposable
    {
        private readonly BufferPool _pool = TestPools.Create();
        private readonly Slab.SlabCache _slabs;

        private Fixture(Socket peer, Socket ours, TimeSpan linger, TimeSpan idle, TimeSpan write)
        {
            Peer = peer;
            _slabs = new Slab.SlabCache(_pool);
            Shard = new ShardLoop(0, new RecordingObserver(), Time, new ReceiveSlab(_slabs));
            Connection = NewStreamConnection(
                new SocketWire(ours, Tcp),
                Shard,
                _pool,
                new ConnectionSettings
                {
                    MessageLimit = 1_000_000,
                    Outbound = default,
                    IdleTimeout = idle,
                    WriteTimeout = write,
                    Linger = linger,
                    CloseTimeout = TimeSpan.FromSeconds(5),
                },
                Sink);
        }

        public ManualTimeProvider Time { get; } = new();

        public BufferPool Pool => _pool;

        public Socket Peer { get; }

        public ShardLoop Shard { get; }

        public Connection Connection { get; }

        public Sink Sink { get; } = new();

        public static async Task<Fixture> OpenAsync(
            TimeSpan? linger = null, TimeSpan idle = default, TimeSpan write = default, bool start = true)
        {
            (Socket peer, Socket ours) = await ConnectedPairAsync();
            var bench = new Fixture(peer, ours, linger ?? TimeSpan.FromSeconds(30), idle, write);
            if (start)
            {
                bench.Connection.Start();
                await DrainAsync(bench.Shard);
            }

            return bench;
        }

        public SendStatus Send(byte[] payload)
        {
            SendStatus status = Connection.Outbound.TryAppend(
                new OutgoingMessage(payload), out bool schedule);
            if (schedule)
            {
                Connection.ScheduleFlush();
            }

            return status;
        }

        public async Task<byte[]> ReadToEndAsync()
        {
            using var all = new MemoryStream();
            byte[] buffer = new byte[100_000];
            int read;
            while ((read = await Peer.ReceiveAsync(buffer, SocketFlags.None, TestContext.Current.CancellationToken).AsTask()
                .WaitAsync(Patience)) > 0)
            {
                all.Write(buffer, 0, read);
            }

            return all.ToArray();
        }

        public void ExpectBooks(long written, long dropped)
        {
            QueueCounts counts = Connection.Outbound.Counts;
            Assert.Equal((written + dropped, written, dropped, 0),
                (counts.AcceptedMessages, counts.TakenMessages, counts.DroppedMessages, counts.QueuedMessages));
        }

        public async ValueTask DisposeAsync()
        {
            Peer.Dispose();
            Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Abort);
            await Sink.Closed.Task.WaitAsync(Patience);
            await OnShardAsync(Shard, Shard.ReceiveSlab.Release);

            // A send that was under way gives its buffer back when the system has let go of it.
            Assert.True(SpinWait.SpinUntil(() => _pool.GetStatistics().Live == 0, Patience),
                $"{_pool.GetStatistics().Live} buffers did not come back.");
            Assert.InRange(Time.ArmedTimers, 0, 1);
            _pool.Dispose();
        }
    }

    private sealed class Sink : IConnectionSink
    {
        private readonly SemaphoreSlim _arrived = new(0);
        private int _frames;

        public ConcurrentQueue<string> Events { get; } = new();

        public TaskCompletionSource Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public bool OnFramesThrows { get; set; }

        public bool OnFaultThrows { get; set; }

        public bool Pauses { get; set; }

        public int Frames => Volatile.Read(ref _frames);

        public string Name => "a test";

        public void Expect(params string[] events) => Assert.Equal(events, Events, StringComparer.Ordinal);

        public async Task NextFramesAsync() => Assert.True(await _arrived.WaitAsync(Patience, TestContext.Current.CancellationToken));

        public void OnOpened(Connection connection) => Events.Enqueue("opened");

        public InboundResult OnBytes(Connection connection, in InboundBytes bytes)
        {
            if (OnFramesThrows)
            {
                throw new FormatException("frames");
            }

            FrameScan scan = StreamFraming.Scan(bytes.Span, connection.Settings.MessageLimit);
            if (scan.Frames > 0)
            {
                Interlocked.Add(ref _frames, scan.Frames);
                _arrived.Release();
            }

            return FrameBatch.ResultOf(scan) with { MostToRead = Pauses ? 0 : int.MaxValue };
        }

        public int MostToRead(Connection connection, bool pastLimits) => int.MaxValue;

        public void OnClosing(Connection connection, DisconnectReason reason, string? detail) => Events.Enqueue($"closing {reason}");

        public void OnClosed(Connection connection)
        {
            Events.Enqueue("closed");
            Closed.SetResult();
        }

        public void OnFault(Connection connection, Exception exception)
        {
            Events.Enqueue("fault");
            if (OnFaultThrows)
            {
                throw new FormatException("fault");
            }
        }
    }
}
