using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

public sealed class MessageLeaseTests
{
    [Fact]
    public void A_message_that_was_never_received_is_of_no_kind() => Assert.Equal(StreamMessageKind.None, default(StreamMessage).Kind);

    [Fact]
    public async Task A_second_Dispose_is_harmless_and_use_after_Dispose_throws()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        await peer.SendAsync(Wire.Frames([1], [2]));
        StreamMessage first = await socket.NextAsync();
        StreamMessage copy = first;
        StreamMessage second = await socket.NextAsync();

        first.Dispose();
        copy.Dispose();
        first.Dispose();
        Assert.Throws<ObjectDisposedException>(() => first.Payload);
        Assert.Throws<ObjectDisposedException>(() => copy.Span.Length);
        Assert.Equal([2], second.Span.ToArray());
        second.Dispose();
        Assert.Throws<ObjectDisposedException>(() => second.Payload);
        Assert.Equal((StreamMessageKind.Data, 1u), (second.Kind, second.PeerId));
    }

    [Fact]
    public async Task An_ended_message_never_shows_or_ends_a_later_one()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        var ended = new List<StreamMessage>();
        for (int i = 0; i < 500; i++)
        {
            // Leases and their slots are reused: each new message may stand where an ended one stood.
            await peer.SendFrameAsync((byte)i, 1);
            StreamMessage message = await socket.NextAsync();
            ended.ForEach(static one => one.Dispose());
            Assert.Equal([(byte)i, 1], message.Span.ToArray());
            Assert.All(ended, static one => Assert.Throws<ObjectDisposedException>(() => one.Payload));
            message.Dispose();
            ended.Add(message);
            if (ended.Count > 20)
            {
                ended.RemoveAt(0);
            }
        }
    }

    [Fact]
    public async Task Messages_may_be_kept_for_long_and_stay_what_they_were()
    {
        await using var fixture = new StreamFixture(shards: 1);
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        var kept = new List<StreamMessage>();
        Task sending = peer.SendAsync(Wire.Frames(Enumerable.Range(0, 2000).Select(static i => Wire.Pattern(1000, i))));
        for (int i = 0; i < 2000; i++)
        {
            kept.Add(await socket.NextAsync());
        }

        await sending;
        for (int i = 0; i < kept.Count; i++)
        {
            Wire.AssertSame(Wire.Pattern(1000, i), kept[i].Span.ToArray());
            kept[i].Dispose();
        }
    }

    [Fact]
    public async Task Unreceived_messages_give_their_buffers_back_when_the_socket_ends()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Frames(Enumerable.Repeat(new byte[5000], 30)));
        await fixture.UntilAsync(() => socket.GetStatistics().UnreadMessages == 30);
        socket.Dispose();
        Assert.Equal(30, socket.GetStatistics().DroppedUnreadMessages);
        Assert.Equal(0, socket.GetStatistics().UnreadMessages);
    }

    [Fact]
    public void The_default_message_is_harmless()
    {
        StreamMessage none = default;
        none.Dispose();
        Assert.True(none.Payload.IsEmpty);
    }
}
