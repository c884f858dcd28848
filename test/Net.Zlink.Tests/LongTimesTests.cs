using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.WebSocket;
using Xunit;

namespace Net.Zlink.Tests;

/// <summary>Times that no timer of the runtime takes: they mean the longest that one does.</summary>
public sealed class LongTimesTests
{
    public static TheoryData<TimeSpan> Times { get; } = [TimeSpan.FromDays(60), TimeSpan.MaxValue];

    [Theory]
    [MemberData(nameof(Times))]
    public async Task A_context_shuts_down(TimeSpan time)
    {
        await using var context = new ZlinkContext();
        context.CreatePair();
        await context.ShutdownAsync(time, Guard.Token).Guarded();
        new ZlinkContext(new ZlinkContextOptions { ShutdownTimeout = time }).Dispose();
    }

    [Theory]
    [MemberData(nameof(Times))]
    public async Task A_handshake_over_ws_is_waited_for_at_both_ends(TimeSpan time)
    {
        await using var fixture = new ContextFixture();
        DealerSocket server = fixture.Context.CreateDealer(new DealerOptions { HandshakeInterval = time, CloseTimeout = time });
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { HandshakeInterval = time, ConnectTimeout = time });
        client.Connect(server.Bind("ws://127.0.0.1:0"));
        client.Send("hi"u8);
        (await server.ReceiveAsync(Guard.Token).Guarded()).Dispose();
    }

    [Theory]
    [MemberData(nameof(Times))]
    public async Task A_dial_that_failed_is_to_be_tried_again_and_ends_with_its_socket(TimeSpan time)
    {
        await using var fixture = new ContextFixture(shutdownTimeout: TimeSpan.FromSeconds(1));
        DealerSocket client = fixture.Context.CreateDealer(new DealerOptions { ReconnectInterval = time, Linger = time });
        using EventReader monitor = client.ReadEvents(SocketEventTypes.ConnectRetried);
        client.Connect(RawListener.NobodyListens());
        client.Send("hi"u8);
        await monitor.ReadAsync(Guard.Token).Guarded();
        client.Dispose();
    }

    [Theory]
    [MemberData(nameof(Times))]
    public async Task The_end_of_a_peer_is_waited_for(TimeSpan time)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { CloseTimeout = time });
        using RawWebSocket webSocket = await RawWebSocket.ConnectAsync(socket.Bind("ws://127.0.0.1:0"));
        await webSocket.SendAsync(RawWebSocket.CloseFrame(1000));
        Assert.True((await webSocket.ReadFrameAsync())!.IsClose);
        RawPeer peer = await fixture.ConnectAsync(
            socket.BindPipe("tcp://127.0.0.1:0", static async pipe => await pipe.Output.WriteAsync(new byte[] { 1 }, Guard.Token)));
        Assert.Equal([1], await peer.ReadToEndAsync());
        peer.Dispose();
        webSocket.Dispose();
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 2);
    }
}
