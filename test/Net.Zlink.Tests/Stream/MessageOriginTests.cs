using System.Net;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Where a message came from.</summary>
public sealed class MessageOriginTests
{
    [Fact]
    public async Task Unread_messages_of_a_disconnected_peer_still_have_its_address()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer one = await fixture.ConnectAsync(endpoint);
        RawPeer two = await fixture.ConnectAsync(endpoint);
        EndPoint[] addresses = [one.Socket.LocalEndPoint!, two.Socket.LocalEndPoint!];
        foreach (RawPeer peer in (RawPeer[])[one, two])
        {
            await peer.SendAsync(Wire.Frames([1], [2]));
            peer.EndSending();
            await peer.ReadToEndAsync();
        }

        await fixture.UntilAsync(() => socket.GetStatistics().ClosedConnections == 2);
        Assert.Equal(0, socket.PeerCount);
        var seen = new Dictionary<uint, EndPoint>();
        for (int i = 0; i < 8; i++)
        {
            // Of each peer two messages, its coming and its end.
            using StreamMessage message = await socket.NextAsync();
            Assert.False(socket.TryGetPeer(message.PeerId, out _));
            Assert.NotNull(message.RemoteEndPoint);
            Assert.True(seen.TryAdd(message.PeerId, message.RemoteEndPoint) || seen[message.PeerId].Equals(message.RemoteEndPoint));
        }

        Assert.Equal(addresses.Order(Comparer<EndPoint>.Create(ByPort)), seen.Values.Order(Comparer<EndPoint>.Create(ByPort)));
    }

    [Fact]
    public async Task A_message_has_the_address_of_its_peer_until_it_is_disposed_and_an_event_for_ever()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        StreamMessage connected = await socket.NextAsync();
        Assert.True(socket.TryGetPeer(connected.PeerId, out StreamPeer? view));
        await peer.SendFrameAsync(1);
        StreamMessage message = await socket.NextAsync();
        Assert.Equal(peer.Socket.LocalEndPoint, message.RemoteEndPoint);
        Assert.Same(view.RemoteEndPoint, message.RemoteEndPoint);
        message.Dispose();
        connected.Dispose();
        Assert.Throws<ObjectDisposedException>(() => message.RemoteEndPoint);
        Assert.Same(view.RemoteEndPoint, connected.RemoteEndPoint);
        Assert.Null(default(StreamMessage).RemoteEndPoint);
    }

    [Fact]
    public void The_address_makes_no_message_longer() => Assert.Equal(32, System.Runtime.CompilerServices.Unsafe.SizeOf<StreamMessage>());

    private static int ByPort(EndPoint one, EndPoint other) => ((IPEndPoint)one).Port.CompareTo(((IPEndPoint)other).Port);
}
