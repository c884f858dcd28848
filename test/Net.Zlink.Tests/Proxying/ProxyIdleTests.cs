using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Proxying;

/// <summary>What a proxy holds between its runs: a message that it took in and that found no room.</summary>
public sealed class ProxyIdleTests : IAsyncDisposable
{
    // Its end checks that every buffer has come back.
    private readonly ContextFixture _fixture = new();
    private readonly DealerSocket _client;
    private readonly DealerSocket _front;
    private readonly DealerSocket _back;
    private readonly PairSocket _capture;
    private readonly SocketProxy _proxy;

    public ProxyIdleTests()
    {
        _client = _fixture.Context.CreateDealer();
        _front = _fixture.Context.CreateDealer();
        _client.Connect(_front.Bind("tcp://127.0.0.1:0"));
        _back = _fixture.Context.CreateDealer();
        _back.Bind("inproc://rest");
        _fixture.Context.CreateDealer().Connect("inproc://rest");
        _capture = _fixture.Context.CreatePair(); // Nobody reads what it is to copy there, so nothing moves.
        _proxy = new SocketProxy(_front, _back, _capture);
    }

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Theory]
    [InlineData("front")]
    [InlineData("back")]
    [InlineData("capture")]
    public async Task Is_given_back_and_counted_when_a_socket_ends(string which)
    {
        await HoldAsync();
        (which switch
        {
            "front" => _front,
            "back" => _back,
            _ => (ZmpSocket)_capture,
        }).Dispose();

        Assert.Equal(1, _proxy.GetStatistics().Undeliverable);
        await Assert.ThrowsAsync<ObjectDisposedException>(() => _proxy.RunAsync(Guard.Token).Guarded());
    }

    [Fact]
    public async Task Is_given_back_when_the_context_ends()
    {
        await HoldAsync();
        await _fixture.Context.ShutdownAsync(Guard.Limit, Guard.Token).Guarded();
        Assert.Equal(1, _proxy.GetStatistics().Undeliverable);
    }

    [Fact]
    public async Task Goes_on_in_the_next_run()
    {
        await HoldAsync();
        PairSocket reader = _fixture.Context.CreatePair();
        reader.Connect(_capture.Bind("inproc://captured"));
        Task run = _proxy.RunAsync(Guard.Token);

        using Message copy = await reader.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(5000, copy.Memory.Length);
        await Guard.UntilAsync(() => _proxy.GetStatistics().BackSent.Messages == 1, "it is passed on");
        _proxy.Stop();
        await run.Guarded();
        Assert.False(_proxy.IsRunning);
        Assert.Equal(0, _proxy.GetStatistics().Undeliverable);
    }

    private async Task HoldAsync()
    {
        Task run = _proxy.RunAsync(Guard.Token);
        _client.Send(new byte[5000]);
        await Guard.UntilAsync(() => _proxy.GetStatistics().FrontReceived.Messages == 1, "it is taken in");
        _proxy.Stop();
        await run.Guarded();
        Assert.False(_proxy.IsRunning);
    }
}
