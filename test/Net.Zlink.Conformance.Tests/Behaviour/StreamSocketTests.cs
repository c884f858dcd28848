using Net.Zlink.Conformance.Tests.Behaviour.Fixtures;
using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Conformance.Tests.Behaviour;

/// <summary>As the native test_stream_socket: a raw client of a STREAM socket, seen through the two-part view that the native core
/// gives.</summary>
public sealed class StreamSocketTests
{
    [Fact]
    public async Task A_raw_client_connects_asks_is_answered_and_leaves()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var view = new NativeStreamView(socket);
        RawPeer client = await fixture.ConnectAsync(endpoint);
        NativeStreamMessage connected = await view.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(4, connected.Id.Length);
        Assert.Equal([1], connected.Payload);

        await client.SendFrameAsync(SocketWords.Bytes("hello"));
        NativeStreamMessage hello = await view.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(connected.Id, hello.Id);
        Assert.Equal("hello", SocketWords.Text(hello.Payload));

        view.SendPart(hello.Id, more: true);
        view.SendPart("world"u8, more: false);
        Assert.Equal("\0\0\0\u0005world", SocketWords.Text(await client.ReadAsync(9)));

        client.Dispose();
        NativeStreamMessage gone = await view.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(connected.Id, gone.Id);
        Assert.Equal([0], gone.Payload);
    }

    [Fact]
    public async Task A_payload_over_the_limit_disconnects_its_sender()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxMessageSize = 4 });
        RawPeer client = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await client.SendFrameAsync(SocketWords.Bytes("toolarge"));
        (uint gone, DisconnectReason reason) = await socket.NextDisconnectedAsync();
        Assert.Equal((id, 3L), (gone, reason.ToNativeReason()));
    }
}
