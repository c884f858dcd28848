using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Porting;

/// <summary>The native form: [id, payload] in both directions, where the payload 00 closes a peer.</summary>
public sealed class NativeStreamViewTests
{
    private static readonly byte[] First = [0, 0, 0, 1];

    [Fact]
    public async Task Events_and_data_have_the_same_shape()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var view = new NativeStreamView(socket);
        Assert.False(view.TryReceive(out _));
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await AssertNextAsync(view, First, [1]);
        await peer.SendAsync(Wire.Frames([5, 6], [], [0], [1]));
        await AssertNextAsync(view, First, [5, 6]);
        await AssertNextAsync(view, First, []);
        await AssertNextAsync(view, First, [0]);
        await AssertNextAsync(view, First, [1]);
        peer.EndSending();
        await AssertNextAsync(view, First, [0]);
        await fixture.ConnectAsync(endpoint);
        await AssertNextAsync(view, [0, 0, 0, 2], [1]);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => view.ReceiveAsync(new CancellationToken(canceled: true)).Guarded());
    }

    [Fact]
    public async Task Parts_are_an_id_and_a_payload_and_nothing_else()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var view = new NativeStreamView(socket);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();

        view.SendPart(First, more: false); // an id part without more to follow: dropped, whatever it says
        view.SendPart([1, 2, 3], more: false);
        AssertError(ZlinkError.InvalidArgument, () => view.SendPart([0, 0, 1], more: true));
        AssertError(ZlinkError.InvalidArgument, () => view.SendPart([], more: true));
        AssertError(ZlinkError.InvalidArgument, () => view.SendPart([0, 0, 0, 0, 1], more: true));
        view.SendPart([0, 0, 0, 0], more: true);
        AssertError(ZlinkError.HostUnreachable, () => view.SendPart([7], more: false));
        view.SendPart([0, 0, 0, 2], more: true);
        AssertError(ZlinkError.HostUnreachable, () => view.SendPart([0], more: false));

        view.SendPart(First, more: true); // after a failed part the next part is an id part again
        view.SendPart([7], more: false);
        view.SendPart(First, more: true);
        view.SendPart([8], more: true); // the flag is ignored: the message ends here,
        AssertError(ZlinkError.InvalidArgument, () => view.SendPart([9], more: true)); // and a third part is an id part
        view.SendPart(First, more: true);
        view.SendPart([], more: false);
        view.SendPart(First, more: true);
        view.SendPart([1], more: false);
        foreach (byte[] expected in (byte[][])[[7], [8], [], [1]])
        {
            Assert.Equal(expected, (await peer.ReadFrameAsync())!);
        }
    }

    [Fact]
    public async Task The_payload_00_closes_the_peer_after_flushing_and_drops_what_is_unread()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var view = new NativeStreamView(socket);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await AssertNextAsync(view, First, [1]);
        await peer.SendFrameAsync(42);
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 1);
        view.SendPart(First, more: true);
        view.SendPart([3, 4], more: false);
        view.SendPart(First, more: true);
        view.SendPart([0], more: false);
        Assert.Equal(Wire.Frame([3, 4]), await peer.ReadToEndAsync());
        await AssertNextAsync(view, First, [0]);
        Assert.False(view.TryReceive(out _));
        view.SendPart(First, more: true);
        AssertError(ZlinkError.HostUnreachable, () => view.SendPart([3], more: false));
    }

    [Fact]
    public async Task A_peer_at_its_mark_is_Again_at_the_payload_part()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { SendHighWaterMark = 2, SendBufferSize = 16 * 1024 });
        var view = new NativeStreamView(socket);
        RawPeer peer = await fixture.ConnectAsync(endpoint, 16 * 1024);
        uint id = await socket.NextConnectedAsync();
        int accepted = socket.Fill(id);
        view.SendPart(First, more: true);
        AssertError(ZlinkError.Again, () => view.SendPart([1], more: false));
        for (int i = 0; i < accepted; i++)
        {
            Assert.Equal(Wire.HugeSize, (await peer.ReadFrameAsync())!.Length);
        }

        await fixture.UntilAsync(() => socket.GetStatistics().WrittenMessages == accepted);
        view.SendPart(First, more: true);
        view.SendPart([1, 2], more: false);
        Assert.Equal([1, 2], (await peer.ReadFrameAsync())!);
    }

    [Fact]
    public async Task Each_view_has_a_send_state_of_its_own()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        var one = new NativeStreamView(socket);
        var other = new NativeStreamView(socket);
        one.SendPart(First, more: true);
        other.SendPart(First, more: true);
        other.SendPart([2], more: false);
        one.SendPart([1, 1], more: false);
        Assert.Equal([2], (await peer.ReadFrameAsync())!);
        Assert.Equal([1, 1], (await peer.ReadFrameAsync())!);
    }

    private static async Task AssertNextAsync(NativeStreamView view, byte[] id, byte[] payload)
    {
        NativeStreamMessage message = await view.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(id, message.Id);
        Assert.Equal(payload, message.Payload);
    }

    private static void AssertError(ZlinkError expected, Action action) =>
        Assert.Equal(expected, Assert.Throws<ZlinkException>(action).Error);
}
