using System.Net.Security;
using System.Net.Sockets;
using System.Text;
using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>A peer that goes on, with PINGs among what it says, behind the end of our side, or that makes an end of it: nothing of ours can
/// answer it any more.</summary>
public sealed class PingBehindEndTests
{
    private static readonly byte[] Ping = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "?"u8);

    [Theory]
    [InlineData("ws", false)]
    [InlineData("ws", true)]
    [InlineData("wss", false)]
    [InlineData("wss", true)]
    public async Task A_slow_reader_that_goes_on_pinging_gets_everything_that_was_sent_before_our_end(string scheme, bool endsForAFault)
    {
        using var certificates = new TestCertificates();
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = certificates.Server;
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");
        // Most of it stays in our system's queue, which a reset empties.
        RawPeer peer = await fixture.ConnectAsync(RawWebSocket.TcpOf(endpoint), receiveBuffer: 4096);
        System.IO.Stream stream = fixture.Own(await OpenAsync(peer, isSecure: scheme is "wss"));
        uint id = await server.NextConnectedAsync();
        Assert.True(server.To(id).TrySend(Wire.Huge));
        if (endsForAFault)
        {
            await stream.WriteAsync(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Header(9 * 1024 * 1024)), Guard.Token)
                .Guarded();
            Assert.Equal((id, DisconnectReason.ProtocolError), await server.NextDisconnectedAsync());
        }
        else
        {
            server.Disconnect(id);
            await server.NextDisconnectedAsync();
        }

        byte[] more = [.. Ping, .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("more"u8))];
        var all = new List<byte>();
        byte[] some = new byte[8192];
        int read;
        do
        {
            await stream.WriteAsync(more, Guard.Token).Guarded();
            await fixture.SettleAsync();
            read = await stream.ReadAsync(some, Guard.Token).Guarded();
            all.AddRange(some.AsSpan(0, read));
        }
        while (read > 0);

        // One message, perhaps in fragments, and our CLOSE, which a fault does not have; here and there an answer to a PING before the end
        // of our side.
        Assert.InRange(all.Count, Wire.HugeSize, Wire.HugeSize + 2000);
        Assert.Equal(!endsForAFault, all[^4..].SequenceEqual(RawWebSocket.CloseFrame(1000, masked: false)));
        Assert.Equal(0, server.GetStatistics().DroppedMessages);
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Nothing_of_ours_comes_behind_our_CLOSE(bool weConnect)
    {
        byte[] pings = [.. Enumerable.Repeat(RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Ping, "?"u8, masked: !weConnect), 50)
            .SelectMany(static ping => ping)];
        await using var fixture = new StreamFixture();
        for (int i = 0; i < 200; i++)
        {
            (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);
            Task pinging = theirs.SendAsync(pings);
            ours.Disconnect(id);
            WebSocketFrame? frame;
            do
            {
                frame = await theirs.ReadFrameAsync();
            }
            while (frame is { IsClose: false });

            Assert.Equal(1000, frame!.Code);
            Assert.Null(await theirs.ReadFrameAsync());
            await pinging.Guarded();
            theirs.Dispose();
            await ours.NextDisconnectedAsync();
            ours.Dispose();
        }
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public async Task Nothing_of_ours_comes_behind_the_CLOSE_for_a_fault_though_we_are_sending(bool weConnect)
    {
        byte[] fault = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("?"u8), masked: weConnect);
        await using var fixture = new StreamFixture();
        for (int i = 0; i < 200; i++)
        {
            (StreamSocket ours, RawWebSocket theirs, uint id) = await RawWebSocket.PairAsync(fixture, weConnect);
            using EventReader monitor = ours.ReadEvents(SocketEventTypes.Disconnected);
            Task faulting = theirs.SendAsync(fault);
            for (int sent = 0; sent < 50 && ours.To(id).TrySend("data"u8); sent++)
            {
                await Task.Yield();
            }

            WebSocketFrame? frame;
            do
            {
                frame = await theirs.ReadFrameAsync();
            }
            while (frame is { IsClose: false });

            Assert.Equal(1002, frame!.Code);
            await faulting.Guarded();
            theirs.Peer.EndSending();
            Assert.Null(await theirs.ReadFrameAsync());
            Assert.Equal((id, DisconnectReason.TransportError), await ours.NextDisconnectedAsync());
            Assert.StartsWith("the peer broke the WebSocket protocol: ", (await monitor.NextAsync(SocketEventTypes.Disconnected)).Detail,
                StringComparison.Ordinal);
            ours.Dispose();
        }
    }

    [Fact]
    public async Task Over_wss_the_CLOSE_for_a_fault_is_the_last_that_is_sent_too()
    {
        byte[] fault = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("?"u8), masked: false);
        using var certificates = new TestCertificates();
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = certificates.Server;
        string endpoint = RawWebSocket.TcpOf(server.Bind("wss://127.0.0.1:0"));
        for (int i = 0; i < 50; i++)
        {
            using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
            await using System.IO.Stream stream = await OpenAsync(peer, isSecure: true);
            uint id = await server.NextConnectedAsync();
            await stream.WriteAsync(fault, Guard.Token).Guarded();
            for (int sent = 0; sent < 50 && server.To(id).TrySend("data"u8); sent++)
            {
                await Task.Yield();
            }

            using var all = new MemoryStream();
            await stream.CopyToAsync(all, Guard.Token).Guarded(); // Up to close_notify.
            Assert.Equal(RawWebSocket.CloseFrame(1002, masked: false), all.ToArray()[^4..]);
            peer.EndSending();
            Assert.Equal((id, DisconnectReason.TransportError), await server.NextDisconnectedAsync());
        }
    }

    [Fact]
    public async Task A_pipe_whose_Output_is_completed_reads_on_past_PINGs_to_the_peers_CLOSE()
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        var read = new TaskCompletionSource<byte[]>(TaskCreationOptions.RunContinuationsAsynchronously);
        string endpoint = server.BindPipe("ws://127.0.0.1:0", async pipe =>
        {
            try
            {
                await pipe.Output.CompleteAsync();
                using var all = new MemoryStream();
                await pipe.Input.CopyToAsync(all, Guard.Token);
                read.SetResult(all.ToArray());
            }
            catch (IOException e)
            {
                read.SetException(e);
            }
        });
        RawWebSocket client = fixture.Own(await RawWebSocket.ConnectAsync(endpoint));
        Assert.Equal(1000, (await client.ReadFrameAsync())!.Code);
        Assert.Null(await client.ReadFrameAsync());
        await client.SendAsync([.. Ping, .. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, "one"u8), .. Ping]);
        await fixture.SettleAsync();
        await client.SendAsync([.. RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, "two"u8), .. RawWebSocket.CloseFrame(1000)]);
        Assert.Equal("onetwo"u8.ToArray(), await read.Task.Guarded());
    }

    /// <summary>A WebSocket's bytes behind its upgrade, over TLS or not.</summary>
    private static async Task<System.IO.Stream> OpenAsync(RawPeer peer, bool isSecure)
    {
        System.IO.Stream stream = new NetworkStream(peer.Socket);
        if (isSecure)
        {
            var secure = new SslStream(stream);
            await secure.AuthenticateAsClientAsync(
                new SslClientAuthenticationOptions
                {
                    TargetHost = "localhost",
                    RemoteCertificateValidationCallback = LayeredClient.AnyCertificate
                }, Guard.Token).Guarded();
            stream = secure;
        }

        await stream.WriteAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request), Guard.Token).Guarded();
        byte[] one = new byte[1];
        string head = await RawWebSocket.ReadHeadAsync(async () => one[..await stream.ReadAsync(one, Guard.Token).Guarded()]);
        Assert.StartsWith("HTTP/1.1 101 ", head, StringComparison.Ordinal);
        return stream;
    }
}
