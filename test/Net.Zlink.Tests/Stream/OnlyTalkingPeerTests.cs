using System.Buffers;
using System.Net.Sockets;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Peers that were disconnected, do not read what still waits for them, and talk on or stay.</summary>
public sealed class OnlyTalkingPeerTests
{
    private const int KernelBuffer = 16 * 1024;

    [Fact]
    public async Task One_that_talks_on_and_reads_nothing_is_not_read_for_ever_though_what_waits_for_it_may_linger()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer, CloseTimeout = TimeSpan.FromMilliseconds(50), MaxConnections = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        for (int i = 0; i < 4; i++)
        {
            Assert.True(socket.TrySend(id, Wire.Huge));
        }

        Assert.True(socket.Disconnect(id));
        await TalkToTheEndAsync(peer);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
        Assert.InRange(socket.GetStatistics().DroppedMessages, 1, 4);
        await socket.NextDisconnectedAsync();
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync(); // Its place is free.
    }

    [Fact]
    public async Task One_that_reads_meanwhile_gets_all_of_it()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        const int Messages = 200;
        for (int i = 0; i < Messages; i++)
        {
            Assert.True(socket.TrySend(id, Wire.Huge));
        }

        Assert.True(socket.Disconnect(id));
        Task talking = TalkToTheEndAsync(peer);
        for (int i = 0; i < Messages; i++)
        {
            Wire.AssertSame(Wire.Huge, (await peer.ReadFrameAsync())!);
        }

        peer.Dispose();
        await talking;
    }

    [Fact]
    public async Task An_aborted_one_is_gone_at_once_with_what_waits_for_it()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendBufferSize = KernelBuffer, MaxConnections = 1 });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        uint id = await socket.NextConnectedAsync();
        Assert.True(socket.TrySend(id, Wire.Huge));
        Assert.True(socket.TrySend(id, Wire.Huge));
        Assert.True(socket.Abort(id));
        Assert.False(socket.Abort(id));
        await fixture.UntilAsync(() => socket.GetStatistics() is { ClosedConnections: 1, DroppedMessages: 2 });
        await socket.NextDisconnectedAsync();
        await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
    }

    [Fact]
    public async Task A_pipe_that_its_handler_has_disposed_is_not_read_for_ever_either()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { SendBufferSize = KernelBuffer, CloseTimeout = TimeSpan.FromMilliseconds(50) });
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            pipe.Output.Write(Wire.Huge);
            _ = pipe.Output.FlushAsync(Guard.Token).AsTask(); // Waits for room that does not come.
            await pipe.DisposeAsync();
        });
        RawPeer peer = await fixture.ConnectAsync(endpoint, KernelBuffer);
        await TalkToTheEndAsync(peer);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    [Fact]
    public async Task A_pipe_whose_peer_is_silent_and_does_not_read_ends_behind_its_IdleTimeout()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Context.CreateStream(new StreamOptions { SendBufferSize = KernelBuffer, IdleTimeout = TimeSpan.FromMilliseconds(50), CloseTimeout = TimeSpan.FromMilliseconds(50) });
        string endpoint = socket.BindPipe("tcp://127.0.0.1:0", static async pipe =>
        {
            pipe.Output.Write(Wire.Huge);
            await pipe.Output.FlushAsync(Guard.Token);
            await pipe.Input.ReadAsync(Guard.Token);
        });
        await fixture.ConnectAsync(endpoint, KernelBuffer);
        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 1);
    }

    private static async Task TalkToTheEndAsync(RawPeer peer)
    {
        byte[] talk = Wire.Frames(Enumerable.Repeat(new byte[64 * 1024], 4));
        try
        {
            while (true)
            {
                await peer.SendAsync(talk);
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // There it is.
        }
    }
}
