using System.Buffers;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>Memory that was handed over, in a write that waits for room: the runtime reads it on a thread where whatever the owner throws
/// ends the process.</summary>
public sealed class WaitingWriteTests
{
    public enum Memories
    {
        OfTheLibrarysPool,
        OfTheRuntimesPool,
        Native,
    }

    [Theory]
    [InlineData(Memories.OfTheLibrarysPool)]
    [InlineData(Memories.OfTheRuntimesPool)]
    [InlineData(Memories.Native)]
    public async Task A_write_that_waits_asks_the_owner_for_nothing_and_takes_nobody_elses_bytes(Memories memories)
    {
        await using var bench = new Fixture();
        byte[] payload = Pattern(OutgoingMessage.LargePayload, 1);
        IMemoryOwner<byte> owner = memories switch
        {
            Memories.OfTheLibrarysPool => bench.Pool.Rent(payload.Length),
            Memories.OfTheRuntimesPool => MemoryPool<byte>.Shared.Rent(payload.Length),
            _ => new CountingOwner(new byte[payload.Length]),
        };
        payload.CopyTo(owner.Memory.Span);
        bench.Send(owner, payload.Length);
        ReadOnlyMemory<byte> waiting = await bench.Wire.Waiting;

        if (memories != Memories.OfTheRuntimesPool)
        {
            // Too early. The runtime's own pool has its buffer back at once: whoever rents it next writes into the message.
            owner.Dispose();
            byte[] next = bench.Pool.RentArray(payload.Length);
            next.AsSpan().Fill(0xEE);
            bench.Pool.ReturnArray(next);
        }

        Assert.Equal(payload, waiting.ToArray());
        bench.Wire.Complete();
        await DrainAsync(bench.Shard);
        Assert.Equal(1, bench.Connection.Outbound.Counts.TakenMessages);
        Assert.Empty(bench.Pool.GetOutstanding());
    }

    [Fact]
    public async Task Memory_is_disposed_once_behind_its_last_use_also_where_the_connection_is_cut_off_meanwhile()
    {
        await using var bench = new Fixture();
        var owner = new CountingOwner(new byte[OutgoingMessage.LargePayload]);
        bench.Send(owner, OutgoingMessage.LargePayload);
        await bench.Wire.Waiting;
        Assert.Equal(0, owner.Disposals);
        bench.Connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        await bench.Sink.Closed;
        await DrainAsync(bench.Shard);
        Assert.Equal(1, owner.Disposals);
    }

    [Fact]
    public async Task Memory_is_disposed_where_a_write_does_not_even_begin()
    {
        await using var bench = new Fixture();
        bench.Wire.Throws = true;
        var owner = new CountingOwner(new byte[OutgoingMessage.LargePayload]);
        bench.Send(owner, OutgoingMessage.LargePayload);
        await bench.Sink.Closed;
        await DrainAsync(bench.Shard);
        Assert.Equal(1, owner.Disposals);
    }

    /// <summary>Takes headers at once; the write of anything longer waits until the test, or the end of the wire, ends it.</summary>
    private sealed class FullWire : TestWire
    {
        private readonly TaskCompletionSource<ReadOnlyMemory<byte>> _waiting = new(TaskCreationOptions.RunContinuationsAsynchronously);
        private int _length;

        public Task<ReadOnlyMemory<byte>> Waiting => _waiting.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);

        public bool Throws { get; set; }

        public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
        {
            sent = bytes.Length < OutgoingMessage.LargePayload ? bytes.Length : 0;
            return sent > 0 ? WireStatus.Done : WireStatus.WouldWait;
        }

        public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame)
        {
            if (Throws)
            {
                throw new InvalidOperationException("does not begin");
            }

            _length = bytes.Length;
            _waiting.SetResult(bytes);
            return true;
        }

        public override WireStatus FinishSend()
        {
            SentBytes = _length;
            return WireStatus.Done;
        }

        public void Complete() => Events.OnSent();

        public override void Dispose()
        {
            base.Dispose();
            if (_waiting.Task.IsCompleted)
            {
                Complete();
            }
        }
    }

    private sealed class Fixture : IAsyncDisposable
    {
        public Fixture()
        {
            Shard = NewShard();
            var settings = new ConnectionSettings
            {
                MessageLimit = 1_000_000,
                Outbound = default,
                IdleTimeout = default,
                WriteTimeout = default,
                Linger = default,
                CloseTimeout = default
            };
            Connection = NewStreamConnection(Wire, Shard, Pool, settings, Sink);
            Connection.Start();
        }

        public BufferPool Pool { get; } = TestPools.Create(leakCheck: true);

        public FullWire Wire { get; } = new();

        public ShardLoop Shard { get; }

        public Connection Connection { get; }

        public Sink Sink { get; } = new();

        public void Send(IMemoryOwner<byte> owner, int length)
        {
            Connection.Outbound.TryAppend(new OutgoingMessage(owner.Memory[..length], owner),
                out bool schedule);
            Assert.True(schedule);
            Connection.ScheduleFlush();
        }

        public async ValueTask DisposeAsync()
        {
            Connection.RequestClose(DisconnectReason.ContextTerminated, CloseMode.Abort);
            await Sink.Closed;
            await DrainAsync(Shard);
            Assert.Empty(Pool.GetOutstanding());
            Pool.Dispose();
        }
    }

    private sealed class Sink : IConnectionSink
    {
        private readonly TaskCompletionSource _closed = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Task Closed => _closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);

        public string Name => "a test";

        public void OnOpened(Connection connection)
        {
            // Nothing to do: the test sends.
        }

        public InboundResult OnBytes(Connection connection, in InboundBytes bytes) =>
            FrameBatch.ResultOf(StreamFraming.Scan(bytes.Span, connection.Settings.MessageLimit));

        public int MostToRead(Connection connection, bool pastLimits) => int.MaxValue;

        public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
        {
            // The end is what counts.
        }

        public void OnClosed(Connection connection) => _closed.SetResult();

        public void OnFault(Connection connection, Exception exception)
        {
            // The connection ends.
        }
    }
}
