using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>PINGs on ws connections that write nothing: proxies end a quiet connection, many after 60 s.</summary>
public sealed class QuietPingTests
{
    private const int Ping = RawWebSocket.Fin | RawWebSocket.Ping;
    private static readonly TimeSpan Interval = TimeSpan.FromSeconds(30);

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task A_connection_that_writes_nothing_sends_a_PING_every_30_seconds_and_its_PONG_is_no_message(bool weConnect)
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);
        for (int i = 0; i < 3; i++)
        {
            await fixture.SettleAsync(); // The shard has set the next time.
            time.Advance(Interval);
            WebSocketFrame ping = (await theirs.ReadFrameAsync())!;
            Assert.Equal((Ping, 0, weConnect), (ping.First, ping.Payload.Length, ping.IsMasked));
            await theirs.SendAsync(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Pong, [], masked: !weConnect));
        }

        await theirs.SendAsync(
            RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("data"u8), masked: !weConnect));
        Assert.Equal("data"u8.ToArray(), await ours.NextDataAsync(id));
    }

    [Fact]
    public async Task A_write_puts_the_next_PING_off()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: true);
        time.Advance(Interval / 2);
        await fixture.SettleAsync();
        Assert.True(ours.To(id).TrySend("data"u8));
        Assert.Equal(RawWebSocket.Fin | RawWebSocket.Binary, (await theirs.ReadFrameAsync())!.First);
        await fixture.SettleAsync(); // The shard has counted the write.
        time.Advance(Interval * 0.9);
        await fixture.SettleAsync();
        Assert.True(ours.To(id).TrySend("more"u8));
        Assert.Equal(RawWebSocket.Fin | RawWebSocket.Binary, (await theirs.ReadFrameAsync())!.First);
        await fixture.SettleAsync();
        time.Advance(Interval);
        Assert.Equal(Ping, (await theirs.ReadFrameAsync())!.First);
    }

    [Fact]
    public async Task Without_an_interval_no_PING_is_sent()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        StreamSocket ours = fixture.Context.CreateStream();
        ours.Options.WebSocket.PingInterval = TimeSpan.Zero;
        RawWebSocket theirs = fixture.Own(await RawWebSocket.ConnectAsync(ours.Bind("ws://127.0.0.1:*")));
        uint id = await ours.NextConnectedAsync();
        time.Advance(TimeSpan.FromDays(1));
        await fixture.SettleAsync();
        Assert.True(ours.To(id).TrySend("data"u8));
        Assert.Equal(RawWebSocket.Fin | RawWebSocket.Binary, (await theirs.ReadFrameAsync())!.First);
    }

    [Fact]
    public async Task Behind_our_end_no_PING_is_sent()
    {
        var time = new ManualTimeProvider();
        await using var fixture = new StreamFixture(time: time);
        (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect: false);
        ours.Disconnect(id);
        Assert.True((await theirs.ReadFrameAsync())!.IsClose);
        time.Advance(Interval);
        Assert.Null(await theirs.ReadFrameAsync());
    }

    [Theory]
    [InlineData("ws")]
    [InlineData("wss")]
    public async Task Two_sockets_that_are_quiet_for_an_hour_then_talk_on(string scheme)
    {
        using var certificates = new TestCertificates();
        var time = new ManualTimeProvider();
        await using var fixture = new ContextFixture(time: time);
        RouterSocket router = fixture.Context.CreateRouter();
        router.Options.Tls.Certificate = certificates.Server;
        DealerSocket dealer = fixture.Context.CreateDealer();
        dealer.Options.Tls.CaFile = certificates.CaFile;
        dealer.Connect(router.Bind($"{scheme}://127.0.0.1:*").Replace("127.0.0.1", "localhost", StringComparison.Ordinal));
        for (int i = 0; i < 12; i++)
        {
            dealer.Send("question"u8);
            using Message question = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.True(router.To(question.RoutingId).TrySend("answer"u8));
            (await dealer.ReceiveAsync(Guard.Token).Guarded()).Dispose();
            time.Advance(TimeSpan.FromMinutes(5));
            await fixture.SettleAsync();
        }

        Assert.Equal((1, 1), (router.GetStatistics().AcceptedConnections, dealer.GetStatistics().DialledConnections));
    }
}
