using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class LengthLimitTests
{
    private const int DefaultLimit = 8 * 1024 * 1024;

    [Theory]
    [InlineData(0)]
    [InlineData(1)]
    [InlineData(100)]
    [InlineData(70_000)]
    public async Task A_payload_of_exactly_MaxMessageSize_is_taken_and_one_byte_more_ends_the_peer(int limit)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxMessageSize = limit });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        await peer.SendFrameAsync(Wire.Pattern(limit));
        Assert.Equal(Wire.Pattern(limit), await socket.NextDataAsync(id));

        await peer.SendAsync(Wire.Header((uint)limit + 1));
        Assert.Equal((id, DisconnectReason.ProtocolError), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
    }

    [Fact]
    public async Task The_default_limit_is_8_MiB()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        byte[] payload = Wire.Pattern(DefaultLimit);
        Task sending = peer.SendFrameAsync(payload);
        Wire.AssertSame(payload, await socket.NextDataAsync(id));
        await sending;

        await peer.SendAsync(Wire.Header(DefaultLimit + 1));
        Assert.Equal((id, DisconnectReason.ProtocolError), await socket.NextDisconnectedAsync());
    }

    [Theory]
    [InlineData(null)]
    [InlineData(long.MaxValue)]
    public async Task A_length_of_4_GB_ends_the_peer_on_its_header(long? limit)
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxMessageSize = limit });
        using EventReader monitor = socket.ReadEvents();
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        await peer.SendAsync(Wire.Header(uint.MaxValue));
        Assert.Equal((id, DisconnectReason.ProtocolError), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
        SocketEvent ended = await monitor.NextAsync(SocketEventTypes.Disconnected);
        Assert.Equal(3, ended.ToNativeValue());
        Assert.Contains("4294967295", ended.Detail, StringComparison.Ordinal);
        Assert.Contains("MaxMessageSize", ended.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Whole_frames_before_an_overlong_one_are_delivered_and_nothing_after_it_is()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxMessageSize = 10 });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();

        await peer.SendAsync((byte[])[.. Wire.Frames([1, 2], [3]), .. Wire.Header(11), .. Wire.Pattern(11), .. Wire.Frame([4])]);
        Assert.Equal([1, 2], await socket.NextDataAsync(id));
        Assert.Equal([3], await socket.NextDataAsync(id));
        Assert.Equal((id, DisconnectReason.ProtocolError), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
        Assert.False(socket.TryReceive(out _));
    }

    [Fact]
    public async Task An_overlong_frame_harms_no_other_peer()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint, new StreamOptions { MaxMessageSize = 10 });
        RawPeer good = await fixture.ConnectAsync(endpoint);
        RawPeer bad = await fixture.ConnectAsync(endpoint);

        await good.SendAsync(Wire.Header(5));
        await bad.SendAsync(Wire.Header(5000));
        Assert.Empty(await bad.ReadToEndAsync());
        await good.SendAsync(new byte[] { 1, 2, 3, 4, 5 });
        Assert.Equal([1, 2, 3, 4, 5], await good.ReadFrameAsync());
        Assert.Equal(1, socket.PeerCount);
    }
}
