using System.Text;
using Net.Zlink.Tests.Support;
using Net.Zlink.Tests.Transports.Tls;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>Peers that announce a frame, or begin it, and leave it at that: none of them holds more than what one read takes, over wss
/// neither.</summary>
public sealed class AnnouncedFrameTests
{
    private const int Peers = 40;

    // A read's headroom of 8 KiB and the 32 KiB that it reads into. Room by what has come would be less, and cost 8 % of the messages a
    // second (docs/benchmarks/log.md).
    private const int Bar = 40 * 1024;

    [Theory]
    [InlineData("ws", 0)]
    [InlineData("ws", 100)]
    [InlineData("ws", 1_000)]
    [InlineData("wss", 0)]
    [InlineData("wss", 100)]
    [InlineData("wss", 1_000)]
    public async Task A_frame_that_does_not_come_costs_one_read_and_no_more(string scheme, int begun)
    {
        using var own = new Authorities();
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.Tls.Certificate = own.Server;
        string endpoint = server.Bind($"{scheme}://127.0.0.1:0");

        // Binary, masked, of 60,000 bytes: a STREAM frame in it that is as long, and not all of which comes.
        byte[] message = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame(Wire.Pattern(60_000 - 4)));
        byte[] sent = message[..(8 + begun)];
        for (int i = 0; i < Peers; i++)
        {
            if (scheme is "ws")
            {
                await fixture.Own(await RawWebSocket.ConnectAsync(endpoint)).SendAsync(sent);
            }
            else
            {
                LayeredClient peer = fixture.Own(await LayeredClient.ConnectAsync(
                    endpoint.Replace("wss://", "tls://", StringComparison.Ordinal)));
                await peer.SendAsync(Encoding.ASCII.GetBytes(RawWebSocket.Request));
                Assert.StartsWith("HTTP/1.1 101 ", await RawWebSocket.ReadHeadAsync(() => peer.ReadAsync(1)), StringComparison.Ordinal);
                await peer.SendAsync(sent);
            }
        }

        await Guard.UntilAsync(() => server.PeerCount == Peers, "they are connected");
        long taken = 0;
        for (int i = 0; i < 3; i++)
        {
            await fixture.SettleAsync();
            taken = fixture.Pool.GetOutstanding().Sum(static buffer => (long)buffer.Length);
        }

        // And what the shards hold.
        Assert.True(taken <= (Peers * Bar) + (4L * 64 * 1024),
            $"{taken} bytes, the most of one {fixture.Pool.GetOutstanding().MaxBy(static buffer => buffer.Length)?.RentedBy}");
    }
}
