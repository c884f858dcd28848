using System.Diagnostics.CodeAnalysis;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>The end of a context while a handler blocks a shard: it comes all the same, and nothing is taken from under the
/// handler.</summary>
public sealed class BlockedShutdownTests
{
    private static readonly TimeSpan Deadline = TimeSpan.FromSeconds(3);
    private static readonly TimeSpan Grace = TimeSpan.FromSeconds(1);
    private readonly ManualTimeProvider _time = new();
    private readonly RecordingLoggers _log = new();

    [Theory]
    [InlineData("connected", "ShutdownAsync")]
    [InlineData("connected", "DisposeAsync")]
    [InlineData("connected", "Dispose")]
    [InlineData("received", "ShutdownAsync")]
    [InlineData("received", "DisposeAsync")]
    [InlineData("received", "Dispose")]
    [InlineData("disconnected", "ShutdownAsync")]
    [InlineData("disconnected", "DisposeAsync")]
    [InlineData("disconnected", "Dispose")]
    public async Task The_end_of_a_context_comes_a_second_behind_its_deadline_while_a_handler_blocks(string method, string way)
    {
        await using StreamFixture fixture = Fixture();
        using BlockingHandler handler = await HoldAsync(fixture, method);
        Task ending = End(fixture.Context, way);
        await PassAsync(ending, Deadline);
        Assert.False(ending.IsCompleted);
        await PassAsync(ending, Grace);
        await ending.Guarded();
        Assert.Single(_log.Lines, static line => line.Text.Contains(
            "without shard 0, which BlockingHandler of connection", StringComparison.Ordinal));

        // Another end does nothing more, and the first one's report stays.
        fixture.Context.Dispose();
        await fixture.Context.DisposeAsync().Guarded();
        ShutdownReport report = await fixture.Context.ShutdownAsync(TimeSpan.Zero, Guard.Token).Guarded();
        Assert.Equal([0], report.BlockedShards);
        Assert.False(report.Drained);

        handler.Open();
        Assert.Equal(method is "disconnected" ? DisconnectReason.Remote : DisconnectReason.ContextTerminated,
            await handler.Ended.Guarded());
    } // The fixture sees to it that every buffer comes back.

    [Fact]
    public async Task A_handler_that_returns_in_time_holds_up_nothing()
    {
        await using StreamFixture fixture = Fixture();
        using BlockingHandler handler = await HoldAsync(fixture, "received");
        Task<ShutdownReport> ending = fixture.Context.ShutdownAsync(Deadline, Guard.Token);
        await PassAsync(ending, Deadline);
        await Guard.UntilAsync(() => _time.ArmedTimers > 0, "the shutdown waits for what is aborted");
        handler.Open();
        ShutdownReport report = await ending.Guarded();
        Assert.Empty(report.BlockedShards);
        Assert.False(report.Drained);
    }

    [Fact]
    public async Task Messages_queued_on_a_blocked_shard_are_reported_as_undelivered()
    {
        await using StreamFixture fixture = Fixture();
        using BlockingHandler handler = await HoldAsync(fixture, "received", answer: [1, 2, 3]);
        Task<ShutdownReport> ending = fixture.Context.ShutdownAsync(Deadline, Guard.Token);
        await PassAsync(ending, Deadline);
        await PassAsync(ending, Grace);
        ShutdownReport report = await ending.Guarded();
        Assert.Equal((1L, 7L), (report.UndeliveredMessages, report.UndeliveredBytes));
        Assert.Equal((1u, 1L, 7L), Assert.Single(report.Peers) is var peer ? (peer.PeerId, peer.Messages, peer.Bytes) : default);
        handler.Open();
    }

    [Fact]
    public async Task A_context_keeps_its_own_pool_until_the_handler_returns()
    {
        await using var context = new ZlinkContext(
            new ZlinkContextOptions { ShardCount = 1, TimeProvider = _time, ShutdownTimeout = Deadline });
        using var handler = new BlockingHandler("received");
        using RawPeer peer = await RawPeer.ConnectAsync(context.CreateStream().Bind("tcp://127.0.0.1:0", handler));
        await peer.SendFrameAsync(1);
        await handler.EnteredAsync();
        Task ending = End(context, "DisposeAsync");
        await PassAsync(ending, Deadline);
        await PassAsync(ending, Grace);
        await ending.Guarded();
        context.Pool.Rent(1).Dispose();
        handler.Open();
        await Guard.UntilAsync(() => Record.Exception(() => context.Pool.Rent(1).Dispose()) is ObjectDisposedException,
            "the pool is let go");
    }

    private StreamFixture Fixture() => new(shards: 1, time: _time, shutdownTimeout: Deadline, log: _log);

    /// <summary>A handler that blocks the only shard.</summary>
    private static async Task<BlockingHandler> HoldAsync(StreamFixture fixture, string method, byte[]? answer = null)
    {
        var handler = new BlockingHandler(method) { Answer = answer };
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        if (method is "received")
        {
            await peer.SendFrameAsync(1);
        }
        else if (method is "disconnected")
        {
            peer.Dispose();
        }

        await handler.EnteredAsync();
        return handler;
    }

    [SuppressMessage("ApiDesign", "RS0030", Justification = "The blocking Dispose is what is tested.")]
    private static Task End(ZlinkContext context, string way) => way switch
    {
        "ShutdownAsync" => context.ShutdownAsync(Deadline, Guard.Token),
        "DisposeAsync" => context.DisposeAsync().AsTask(),
        _ => Task.Run(context.Dispose, Guard.Token),
    };

    /// <summary>Moves the clock when the shutdown waits for it: nothing else sets a timer while the only shard is held.</summary>
    private async Task PassAsync(Task ending, TimeSpan by)
    {
        await Guard.UntilAsync(() => _time.ArmedTimers > 0 || ending.IsCompleted, "the shutdown waits");
        _time.Advance(by);
    }
}
