using Net.Zlink.Conformance.Tests.Replay.WebSocket;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour.Fixtures;

/// <summary>A ws client over a plain socket: the upgrade, and the mask of its frames.</summary>
internal static class RawWs
{
    /// <summary>A mask that masks nothing, so that what is sent can be read in a dump.</summary>
    public static readonly byte[] Mask = [0, 0, 0, 0];

    public static readonly byte[] Request =
    [
        .. "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"u8,
        .. "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"u8,
    ];

    /// <summary>The tcp endpoint below a ws endpoint.</summary>
    public static string Below(string endpoint) => $"tcp://{new Uri(endpoint).Authority}";

    /// <summary>Connects and upgrades.</summary>
    public static async Task<RawPeer> ConnectAsync(string endpoint)
    {
        RawPeer peer = await RawPeer.ConnectAsync(Below(endpoint));
        await peer.SendAsync(Request);
        var answer = new List<byte>();
        while (HttpHead.LengthOf([.. answer]) is null)
        {
            byte[] one = await peer.ReadAsync(1);
            Assert.NotEmpty(one);
            answer.AddRange(one);
        }

        Assert.True(HttpHead.TryParse([.. answer]) is { IsUpgraded: true });
        return peer;
    }
}
