using System.IO.Pipelines;
using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Transports;
using Xunit;
using static Net.Zlink.Tests.Engine.EngineFixture;

namespace Net.Zlink.Tests.Engine;

/// <summary>A pipe's time limits where the reports of the socket come late, as behind a pause of the whole process.</summary>
public sealed class PipeTimeoutTests
{
    private static readonly TimeSpan s_limit = TimeSpan.FromSeconds(10);

    private static readonly ConnectionSettings Settings = new()
    {
        MessageLimit = 1,
        Outbound = default,
        IdleTimeout = s_limit,
        WriteTimeout = s_limit,
        Linger = Timeout.InfiniteTimeSpan,
        CloseTimeout = TimeSpan.FromSeconds(20),
    };

    [Fact]
    public async Task A_peer_whose_bytes_wait_unread_is_not_ended_for_its_silence_and_one_that_is_silent_is()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        var time = new ManualTimeProvider();
        var wire = new LateWire { HasBytes = true };
        var connection = new PipeConnection(wire, BufferPool.Shared, time, Settings, PipeScheduler.Inline);
        Task running = connection.RunAsync();
        time.Advance(s_limit);
        time.Advance(s_limit);
        Assert.Equal(DisconnectReason.Unknown, connection.EndReason);

        wire.HasBytes = false;
        time.Advance(s_limit);
        Assert.Equal(DisconnectReason.IdleTimeout, connection.EndReason);
        connection.RequestClose(DisconnectReason.Local, CloseMode.Abort);
        wire.Report();
        await running.WaitAsync(Patience, cancellation);
    }

    [Fact]
    public async Task A_peer_that_has_made_room_is_not_ended_for_taking_nothing_and_one_that_has_not_is()
    {
        CancellationToken cancellation = TestContext.Current.CancellationToken;
        var time = new ManualTimeProvider();
        var wire = new LateWire { HasRoom = true };
        var connection = new PipeConnection(wire, BufferPool.Shared, time, Settings with { IdleTimeout = default }, PipeScheduler.Inline);
        Task running = connection.RunAsync();
        await connection.Output.WriteAsync(new byte[] { 1 }, cancellation);
        time.Advance(s_limit);
        time.Advance(s_limit);
        Assert.Equal(DisconnectReason.Unknown, connection.EndReason);

        wire.HasRoom = false;
        time.Advance(s_limit);
        Assert.Equal(DisconnectReason.WriteTimeout, connection.EndReason);
        wire.Report();
        await running.WaitAsync(Patience, cancellation);
    }

    /// <summary>Tells of nothing until it is told to, and then that all has failed.</summary>
    private sealed class LateWire : TestWire
    {
        public bool HasBytes { get; set; }

        public bool HasRoom { get; set; }

        public override bool HasUnread => HasBytes;

        public override bool IsWritable => HasRoom;

        public override WireStatus FinishWait() => WireStatus.Failed;

        public override WireStatus FinishSend() => WireStatus.Failed;

        public override WireStatus Send(ReadOnlySpan<byte> bytes, out int sent)
        {
            sent = 0;
            return WireStatus.WouldWait;
        }

        public override bool BeginSend(ReadOnlyMemory<byte> bytes, bool endsMidFrame) => true;

        public override WireStatus EndSending(WireEnd end) => WireStatus.Failed;

        public void Report()
        {
            Events.OnInput();
            Events.OnSent();
        }
    }
}
