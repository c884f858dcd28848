using System.Text;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Proxying;

/// <summary>Messages of several parts, which anybody may send to a proxy, and sockets with Conflate, which take messages of one
/// part.</summary>
public sealed class ProxyConflateTests : IAsyncDisposable
{
    // Its end checks that every buffer has come back.
    private readonly ContextFixture _fixture = new();
    private readonly PairSocket _client;
    private readonly PairSocket _front;

    public ProxyConflateTests() => (_client, _front) = Pairs();

    public ValueTask DisposeAsync() => _fixture.DisposeAsync();

    [Theory]
    [InlineData("DEALER")]
    [InlineData("PUB")]
    public async Task A_message_of_several_parts_to_a_conflating_socket_is_counted_and_the_proxy_goes_on(string type)
    {
        (ZmpSocket back, ReceivingSocket reader) = await ConflatingAsync(type);
        var proxy = new SocketProxy(_front, back);
        Task run = proxy.RunAsync(Guard.Token);
        await SendPartsAsync();
        await _client.SendAsync("one"u8.ToArray(), Guard.Token);

        Assert.Equal("one", await HearAsync(reader));
        await Guard.UntilAsync(() => proxy.GetStatistics().BackSent.Messages == 1, "what is read already is counted");
        Assert.Equal((2, 1), (proxy.GetStatistics().FrontReceived.Messages, proxy.GetStatistics().Undeliverable));
        proxy.Stop();
        await run.Guarded();

        // And nothing is left that the next run would stumble over.
        run = proxy.RunAsync(Guard.Token);
        await _client.SendAsync("two"u8.ToArray(), Guard.Token);
        Assert.Equal("two", await HearAsync(reader));
        proxy.Stop();
        await run.Guarded();
    }

    [Fact]
    public async Task A_conflating_capture_misses_a_message_of_several_parts_that_is_counted_and_passed_on()
    {
        (PairSocket back, PairSocket worker) = Pairs();
        (ZmpSocket capture, ReceivingSocket log) = await ConflatingAsync("DEALER");
        var proxy = new SocketProxy(_front, back, capture);
        Task run = proxy.RunAsync(Guard.Token);
        await SendPartsAsync();
        await _client.SendAsync("one"u8.ToArray(), Guard.Token);

        Assert.Equal("a|b", await HearAsync(worker));
        Assert.Equal("one", await HearAsync(worker));
        Assert.Equal("one", await HearAsync(log));
        Assert.Equal(1, proxy.GetStatistics().Undeliverable);
        proxy.Stop();
        await run.Guarded();
    }

    [Fact]
    public async Task A_conflating_control_socket_is_refused_for_its_answers_have_several_parts()
    {
        (PairSocket back, _) = Pairs();
        (ZmpSocket control, _) = await ConflatingAsync("DEALER");
        Assert.Equal("control", Assert.Throws<ArgumentException>(
            () => { _ = NativeProxy.RunAsync(new SocketProxy(_front, back), (DealerSocket)control, Guard.Token); }).ParamName);
    }

    [Theory]
    [InlineData("DEALER")]
    [InlineData("PUB")]
    public async Task A_router_and_a_conflating_socket_are_refused(string type)
    {
        RouterSocket router = _fixture.Context.CreateRouter();
        (ZmpSocket conflating, _) = await ConflatingAsync(type);
        Assert.Equal("back", Assert.Throws<ArgumentException>(() => new SocketProxy(router, conflating)).ParamName);
        Assert.Equal("front", Assert.Throws<ArgumentException>(() => new SocketProxy(conflating, router)).ParamName);
        Assert.Equal("capture", Assert.Throws<ArgumentException>(() => new SocketProxy(router, _front, conflating)).ParamName);
        Assert.Equal("capture", Assert.Throws<ArgumentException>(() => new SocketProxy(_front, router, conflating)).ParamName);
    }

    [Fact]
    public async Task A_router_goes_with_a_conflating_socket_that_nothing_is_sent_to()
    {
        RouterSocket router = _fixture.Context.CreateRouter();
        DealerSocket worker = _fixture.Context.CreateDealer(new DealerOptions { RoutingId = "me"u8.ToArray() });
        worker.Connect(router.Bind("tcp://127.0.0.1:0"));
        await worker.SendAsync("hello"u8.ToArray(), Guard.Token);
        Assert.Equal("hello", await HearAsync(router));
        SubSocket front = _fixture.Context.CreateSub(new SubOptions { Conflate = true });
        PubSocket publisher = _fixture.Context.CreatePub();
        front.Subscribe([]);
        front.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await Guard.UntilAsync(() => publisher.TopicCount == 1, "the subscription is there");
        var proxy = new SocketProxy(front, router);
        Task run = proxy.RunAsync(Guard.Token);
        using var message = new MessageBuilder();
        await publisher.SendAsync(message.Add("me"u8).Add("b"u8), Guard.Token);
        Assert.Equal("b", await HearAsync(worker));
        proxy.Stop();
        await run.Guarded();
    }

    private static async Task<string> HearAsync(ReceivingSocket socket)
    {
        using Message message = await socket.ReceiveAsync(Guard.Token).Guarded();
        return string.Join('|', message.ToArrays().Select(Encoding.ASCII.GetString));
    }

    private async Task SendPartsAsync()
    {
        using var message = new MessageBuilder();
        await _client.SendAsync(message.Add("a"u8).Add("b"u8), Guard.Token);
    }

    /// <summary>A socket that conflates, and one that hears what it sends.</summary>
    private async Task<(ZmpSocket Conflating, ReceivingSocket Reader)> ConflatingAsync(string type)
    {
        if (string.Equals(type, "DEALER", StringComparison.Ordinal))
        {
            DealerSocket dealer = _fixture.Context.CreateDealer(new DealerOptions { Conflate = true });
            DealerSocket other = _fixture.Context.CreateDealer();
            other.Connect(dealer.Bind("tcp://127.0.0.1:0"));
            return (dealer, other);
        }

        PubSocket publisher = _fixture.Context.CreatePub(new PubOptions { Conflate = true });
        SubSocket subscriber = _fixture.Context.CreateSub();
        subscriber.Subscribe([]);
        subscriber.Connect(publisher.Bind("tcp://127.0.0.1:0"));
        await Guard.UntilAsync(() => publisher.TopicCount == 1, "the subscription is there");
        return (publisher, subscriber);
    }

    private (PairSocket There, PairSocket Here) Pairs()
    {
        PairSocket here = _fixture.Context.CreatePair();
        PairSocket there = _fixture.Context.CreatePair();
        there.Connect(here.Bind("tcp://127.0.0.1:0"));
        return (there, here);
    }
}
