using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_stream_fastpath, which asks the same as test_stream_socket; here by the typed receive, which is our fast
/// path.</summary>
public sealed class StreamFastpathTests
{
    [Fact]
    public async Task A_raw_client_connects_asks_is_answered_and_leaves()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer client = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await client.SendFrameAsync(SocketWords.Bytes("hello"));
        Assert.Equal("hello", SocketWords.Text(await socket.NextDataAsync(id)));
        Assert.True(socket.To(id).TrySend("world"u8));
        Assert.Equal("world", SocketWords.Text((await client.ReadFrameAsync())!));
        client.Dispose();
        Assert.Equal(id, (await socket.NextDisconnectedAsync()).PeerId);
    }
}
