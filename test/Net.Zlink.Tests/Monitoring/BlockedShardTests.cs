using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Monitoring;

/// <summary>A handler that blocks is to be seen while it does.</summary>
public sealed class BlockedShardTests
{
    private static readonly TimeSpan Second = TimeSpan.FromSeconds(1);
    private readonly ManualTimeProvider _time = new();
    private readonly RecordingLoggers _log = new();

    [Theory]
    [InlineData("connected")]
    [InlineData("received")]
    public async Task A_handler_that_blocks_for_more_than_a_second_is_logged_once_while_it_does_with_its_type_and_its_peer(string method)
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time, log: _log);
        using var handler = new BlockingHandler(method);
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        await handler.EnteredAsync();
        _time.Advance(0.9 * Second);
        Assert.Empty(HeldLines());
        Tick(2);
        string line = Assert.Single(HeldLines());
        Assert.Contains($"Shard 0 has been held for 1.0 s by BlockingHandler of connection {peer.Socket.LocalEndPoint}", line,
            StringComparison.Ordinal);
        Tick(60);
        Assert.Single(HeldLines());
        handler.Open();
    }

    [Fact]
    public async Task Each_call_that_blocks_is_logged()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time, log: _log);
        using var handler = new BlockingHandler("received");
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (int calls = 1; calls <= 3; calls++)
        {
            handler.Close();
            await peer.SendFrameAsync(1);
            await handler.EnteredAsync();
            Tick(3);
            Assert.Equal(calls, HeldLines().Length);
            handler.Open();
            await fixture.Context.WhenIdleAsync().Guarded();
        }
    }

    [Fact]
    public async Task A_shard_that_is_only_busy_is_not_logged()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time, log: _log);
        fixture.Bind(TestHandler.Echo(), out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (byte i = 0; i < 20; i++)
        {
            await peer.SendFrameAsync(i);
            Assert.Equal([i], (await peer.ReadFrameAsync())!);
            await fixture.Context.WhenIdleAsync().Guarded();
            _time.Advance(Second);
        }

        Assert.Empty(HeldLines());
    }

    [Fact]
    public async Task The_shards_are_looked_after_only_while_one_has_work()
    {
        await using var fixture = new StreamFixture(shards: 1, time: _time);
        using var handler = new BlockingHandler("received");
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        for (int round = 0; round < 3; round++)
        {
            handler.Close();
            await peer.SendFrameAsync(1);
            await handler.EnteredAsync();
            Tick(5);
            Assert.True(_time.HasWatchdog);
            handler.Open();
            await Guard.UntilAsync(() => fixture.Context.GetStatistics().Shards.All(static shard => !shard.IsBusy),
                "the shard is at rest");
            Tick(1);
            Assert.False(_time.HasWatchdog);
        }
    }

    [Fact]
    public async Task The_longest_run_and_the_busy_time_grow_while_a_handler_blocks_and_never_shrink()
    {
        await using var fixture = new StreamFixture(shards: 1);
        using var handler = new BlockingHandler("received");
        fixture.Bind(handler, out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendFrameAsync(1);
        await handler.EnteredAsync();
        TimeSpan longest = TimeSpan.Zero;
        TimeSpan busy = TimeSpan.Zero;
        for (int i = 1; i <= 5; i++)
        {
            TimeSpan least = TimeSpan.FromMilliseconds(10 * i);
            await Guard.UntilAsync(() => Shard(fixture) is var shard && shard.LongestRun >= least && shard.BusyTime >= least,
                "the turn in progress counts");
            Assert.True(Shard(fixture).LongestRun >= longest && Shard(fixture).BusyTime >= busy);
            (longest, busy) = (Shard(fixture).LongestRun, Shard(fixture).BusyTime);
        }

        handler.Open();
        await fixture.Context.WhenIdleAsync().Guarded();
        Assert.True(Shard(fixture).LongestRun >= longest && Shard(fixture).BusyTime >= busy);
    }

    /// <summary>Lets the watchdog look once a second.</summary>
    private void Tick(int seconds)
    {
        for (int i = 0; i < seconds; i++)
        {
            _time.Advance(Second);
        }
    }

    private static ShardStatistics Shard(StreamFixture fixture) => fixture.Context.GetStatistics().Shards[0];

    private string[] HeldLines() => [.. _log.Lines.Where(static line => line.Text.Contains("has been held for", StringComparison.Ordinal))
        .Select(static line => line.Text)];
}
