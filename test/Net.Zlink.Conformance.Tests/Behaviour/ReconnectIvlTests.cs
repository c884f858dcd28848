using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_reconnect_ivl: no reconnecting. The native -1 and 0 both mean never; here it is zero.</summary>
public sealed class ReconnectIvlTests
{
    [Theory]
    [InlineData("ipc")]
    [InlineData("tcp://127.0.0.1:0")]
    [InlineData("tcp://[::1]:0")]
    public async Task Without_an_interval_only_a_second_connect_reaches_the_peer_again(string where)
    {
        Assert.SkipUnless(!where.Contains("::1", StringComparison.Ordinal) || System.Net.Sockets.Socket.OSSupportsIPv6,
            "this machine has no IPv6");
        await using var fixture = new StreamFixture();
        PairSocket server = fixture.Context.CreatePair(new PairOptions { IPv6 = true });
        PairSocket client = fixture.Context.CreatePair(new PairOptions { IPv6 = true, ReconnectInterval = TimeSpan.Zero });
        string endpoint = server.Bind(where is "ipc" ? $"ipc://@reconnect-{Guid.NewGuid():N}" : where);
        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client);

        server.Unbind(endpoint);
        await fixture.UntilAsync(() => client.PeerCount == 0);
        Assert.False(client.TrySay("lost?"));
        Assert.False(server.TrySay("lost?"));

        server.Bind(endpoint);
        await fixture.SettleAsync();
        Assert.False(client.TrySay("lost?"));
        Assert.Equal(0, server.PeerCount);

        client.Connect(endpoint);
        await SocketWords.BounceAsync(server, client);
    }
}
