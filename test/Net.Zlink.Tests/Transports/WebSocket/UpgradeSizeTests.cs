using System.Text;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Transports.WebSocket;

/// <summary>The option for the longest upgrade request.</summary>
public sealed class UpgradeSizeTests
{
    [Theory]
    [InlineData(1024, 1024, "HTTP/1.1 101 ")]
    [InlineData(1024, 1025, "HTTP/1.1 431 ")]
    [InlineData(40_000, 40_000, "HTTP/1.1 101 ")]
    [InlineData(40_000, 40_001, "HTTP/1.1 431 ")]
    [InlineData(1024 * 1024, 1024 * 1024, "HTTP/1.1 101 ")]
    [InlineData(1024 * 1024, (1024 * 1024) + 1, "HTTP/1.1 431 ")]
    public async Task An_upgrade_request_may_be_as_long_as_the_option_says_and_messages_follow(int limit, int length, string answer)
    {
        await using var fixture = new StreamFixture();
        StreamSocket server = fixture.Context.CreateStream();
        server.Options.WebSocket.MaxUpgradeSize = limit;
        var peer = new RawWebSocket(await fixture.ConnectAsync(RawWebSocket.TcpOf(server.Bind("ws://127.0.0.1:*"))));
        string padding = new('x', length - RawWebSocket.Request.Length - "X: \r\n".Length);
        byte[] message = RawWebSocket.Frame(RawWebSocket.Fin | RawWebSocket.Binary, Wire.Frame("behind"u8));
        await peer.SendAsync([.. Encoding.ASCII.GetBytes(RawWebSocket.Request[..^2] + $"X: {padding}\r\n\r\n"), .. message]);
        Assert.StartsWith(answer, await peer.ReadHeadAsync(), StringComparison.Ordinal);
        if (answer.Contains("101", StringComparison.Ordinal))
        {
            Assert.Equal("behind"u8.ToArray(), await server.NextDataAsync(await server.NextConnectedAsync()));
        }
    }

    [Theory]
    [InlineData(1023)]
    [InlineData((1024 * 1024) + 1)]
    public void A_size_out_of_range_is_refused(int size) => Assert.StartsWith("MaxUpgradeSize takes 1024 to 1048576, not ",
        Assert.Throws<ArgumentOutOfRangeException>(() => new DealerOptions().WebSocket.MaxUpgradeSize = size).Message,
        StringComparison.Ordinal);
}
