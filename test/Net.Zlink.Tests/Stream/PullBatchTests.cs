using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Taking several messages, or all of them.</summary>
public sealed class PullBatchTests
{
    [Fact]
    public async Task ReceiveMany_and_ReceiveManyAsync_take_what_there_is_up_to_the_room_given()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var capacity = new StreamMessage[4];
        Assert.Equal(0, socket.ReceiveMany(capacity));
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        Assert.Equal(1, await socket.ReceiveManyAsync(capacity, Guard.Token).Guarded());
        Assert.Equal(StreamMessageKind.Connected, capacity[0].Kind);

        Task<int> waiting = socket.ReceiveManyAsync(capacity, Guard.Token).AsTask();
        await peer.SendAsync(Wire.Frames(Enumerable.Range(0, 10).Select(static i => new[] { (byte)i })));
        var seen = new List<byte>();
        Take(capacity, await waiting.Guarded(), seen);
        Assert.InRange(seen.Count, 1, 4);
        while (seen.Count < 10)
        {
            int count = seen.Count < 5 ? socket.ReceiveMany(capacity) : await socket.ReceiveManyAsync(capacity, Guard.Token).Guarded();
            Take(capacity, count, seen);
        }

        Assert.Equal(Enumerable.Range(0, 10).Select(static i => (byte)i), seen);
        Assert.Equal(0, socket.ReceiveMany(capacity));
        Assert.Equal(0, socket.ReceiveMany([]));
    }

    [Fact]
    public async Task ReceiveAllAsync_gives_every_message_and_ends_when_the_socket_is_disposed()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Frames(Enumerable.Range(0, 100).Select(static i => new[] { (byte)i })));
        int next = -1;
        await foreach (StreamMessage message in socket.ReceiveAllAsync(Guard.Token))
        {
            using (message)
            {
                if (next >= 0)
                {
                    Assert.Equal([(byte)next], message.Span.ToArray());
                }

                if (++next == 100)
                {
                    socket.Dispose();
                }
            }
        }

        Assert.Equal(100, next);
    }

    [Fact]
    public async Task ReceiveAllAsync_ends_with_an_exception_when_it_is_cancelled()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out _);
        using var cancellation = new CancellationTokenSource();
        IAsyncEnumerator<StreamMessage> all = socket.ReceiveAllAsync(cancellation.Token).GetAsyncEnumerator(Guard.Token);
        Task<bool> waiting = all.MoveNextAsync().AsTask();
        await cancellation.CancelAsync();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => waiting.Guarded());
        await all.DisposeAsync();
    }

    private static void Take(StreamMessage[] capacity, int count, List<byte> into)
    {
        foreach (StreamMessage message in capacity.AsSpan(0, count))
        {
            into.Add(message.Span[0]);
            message.Dispose();
        }
    }
}
