using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>A call that would block its own shard throws instead, and says what to use.</summary>
public sealed class BlockingInHandlerTests
{
    [Fact]
    public async Task A_Receive_that_would_wait_throws_in_a_handler()
    {
        await using var fixture = new StreamFixture();
        StreamSocket other = fixture.Bind(out _);
        Exception thrown = await InHandlerAsync(fixture, _ => other.Receive());
        Assert.Contains("ReceiveAsync", Assert.IsType<InvalidOperationException>(thrown).Message, StringComparison.Ordinal);
        thrown = await InHandlerAsync(fixture, _ => other.Receive(Guard.Limit));
        Assert.IsType<InvalidOperationException>(thrown);
        thrown = await InHandlerAsync(fixture, _ => other.Receive(TimeSpan.Zero)); // that never waits
        Assert.IsType<TimeoutException>(thrown);
    }

    [Fact]
    public async Task A_Send_that_would_wait_throws_in_a_handler()
    {
        await using var fixture = new StreamFixture();
        StreamSocket full = fixture.Bind(out string endpoint, new StreamOptions { SendHighWaterMark = 2, SendBufferSize = 16 * 1024 });
        await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await full.NextConnectedAsync();
        full.Fill(id);
        Exception thrown = await InHandlerAsync(fixture, _ => full.To(id).Send([1]));
        Assert.Contains("SendAsync", Assert.IsType<InvalidOperationException>(thrown).Message, StringComparison.Ordinal);
        thrown = await InHandlerAsync(fixture, _ => full.To(id).Send([1], TimeSpan.Zero));
        Assert.IsType<TimeoutException>(thrown);
    }

    [Fact]
    public async Task Calls_that_do_not_wait_work_in_a_handler()
    {
        await using var fixture = new StreamFixture();
        StreamSocket other = fixture.Bind(out string endpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        await raw.SendFrameAsync(9);
        await fixture.UntilAsync(() => other.GetStatistics().UnreadMessages == 1);
        Exception thrown = await InHandlerAsync(fixture, peer =>
        {
            Assert.Equal(StreamMessageKind.Connected, other.Receive().Kind);
            other.Receive(Guard.Limit).Dispose();
            other.To(1).Send([8]);
            throw new TimeZoneNotFoundException("got here");
        });
        Assert.IsType<TimeZoneNotFoundException>(thrown);
        Assert.Equal([8], (await raw.ReadFrameAsync())!);
    }

    /// <summary>Runs an action in a handler and returns what it threw.</summary>
    private static async Task<Exception> InHandlerAsync(StreamFixture fixture, Action<StreamPeer> action)
    {
        var thrown = new TaskCompletionSource<Exception>(TaskCreationOptions.RunContinuationsAsynchronously);
        var handler = new TestHandler
        {
            Received = (peer, _) =>
            {
                thrown.SetResult(Record.Exception(() => action(peer))!);
                return ValueTask.CompletedTask;
            },
        };
        fixture.Bind(handler, out string endpoint);
        RawPeer raw = await fixture.ConnectAsync(endpoint);
        await raw.SendFrameAsync(1);
        return await thrown.Task.Guarded();
    }
}
