using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Protocol.Stream;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A connection whose wire always has more.</summary>
public sealed class ConnectionReaderTests
{
    [Fact]
    public async Task Other_work_of_a_shard_waits_for_one_read_only_when_a_read_takes_long_to_process() =>
        Assert.Equal(1, await ReadsBeforeTheNextWorkAsync(static () => Spin(TimeSpan.FromMilliseconds(3))));

    [Fact]
    public async Task The_reads_of_a_connection_are_the_same_frames_however_its_turns_are_cut()
    {
        // As many reads as a turn has at most, or fewer where the machine was busy with something else.
        Assert.InRange(await ReadsBeforeTheNextWorkAsync(static () => { }), 1, 4);
    }

    /// <summary>How many reads the connection gets before a work that is posted during the first of them.</summary>
    private static async Task<int> ReadsBeforeTheNextWorkAsync(Action workOff)
    {
        using BufferPool pool = TestPools.Create();
        ShardLoop shard = NewShard();
        var sink = new Sink(workOff, shard);
        var settings = new ConnectionSettings
        {
            MessageLimit = 100,
            Outbound = default,
            IdleTimeout = default,
            WriteTimeout = default,
            Linger = default,
            CloseTimeout = default
        };
        var connection = NewStreamConnection(new EndlessWire(), shard, pool, settings, sink);
        connection.Start();
        int reads = await sink.ReadsAtNext.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        await sink.Closed.Task.WaitAsync(Patience, TestContext.Current.CancellationToken);
        Assert.Equal(Sink.Reads, sink.Count);
        await OnShardAsync(shard, shard.ReceiveSlab.Release);
        return reads;
    }

    private sealed class Sink(Action workOff, ShardLoop shard) : IConnectionSink
    {
        public const int Reads = 8;

        public int Count { get; private set; }

        public TaskCompletionSource<int> ReadsAtNext { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public TaskCompletionSource Closed { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public string Name => "a test";

        public void OnOpened(Connection connection)
        {
        }

        public InboundResult OnBytes(Connection connection, in InboundBytes bytes)
        {
            if (Count++ == 0)
            {
                shard.Post(new TestWork(_ => ReadsAtNext.SetResult(Count)), 1);
            }

            workOff();
            if (Count == Reads)
            {
                connection.Close(DisconnectReason.Local, CloseMode.Abort, detail: null);
            }

            return FrameBatch.ResultOf(StreamFraming.Scan(bytes.Span, connection.Settings.MessageLimit));
        }

        public int MostToRead(Connection connection, bool pastLimits) => int.MaxValue;

        public void OnClosing(Connection connection, DisconnectReason reason, string? detail)
        {
        }

        public void OnClosed(Connection connection) => Closed.SetResult();

        public void OnFault(Connection connection, Exception exception) => Closed.TrySetException(exception);
    }

    /// <summary>Whatever is read, it is empty frames to the last byte.</summary>
    private sealed class EndlessWire : TestWire
    {
        public override int Available => 64 * 1024;

        public override bool WaitForInput() => false;

        public override WireStatus Receive(Span<byte> into, out int received)
        {
            received = into.Length / StreamFraming.HeaderSize * StreamFraming.HeaderSize;
            into[..received].Clear();
            return WireStatus.Done;
        }
    }
}
