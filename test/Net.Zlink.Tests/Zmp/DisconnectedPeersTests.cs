using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>Peers that come, leave messages unread and go.</summary>
public sealed class DisconnectedPeersTests
{
    private const int Limit = 256 * 1024;
    private const int LeastCostOfPlace = 1024;

    [Theory]
    [InlineData(16_000)]
    [InlineData(1)]
    public async Task Unread_messages_of_disconnected_peers_count_in_the_context_limit_and_keep_new_peers_out_at_it(int size)
    {
        await using var fixture = new ContextFixture(queuedByteLimit: Limit);
        RouterSocket router = fixture.Context.CreateRouter();
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected | SocketEventTypes.ConnectionRefused);
        string endpoint = router.Bind("tcp://127.0.0.1:0");
        int left = 0;
        for (long before = 0; await IsLetInAsync(endpoint, monitor, size); left++)
        {
            Assert.InRange(left * (size + 8), 0, Limit);

            // It counts, and so does its place, a moment after its end is told of: who came in between would still be let in.
            await fixture.UntilAsync(() => fixture.Context.GetStatistics().QueuedBytes > before + size + LeastCostOfPlace);
            before = fixture.Context.GetStatistics().QueuedBytes;
        }

        Assert.InRange(fixture.Context.GetStatistics().QueuedBytes, Limit, Limit + size + (4 * 1024));
        Assert.InRange(left, size == 1 ? 100 : 10, size == 1 ? 200 : 16);

        // All that was let in is there.
        for (int i = 0; i < left; i++)
        {
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(size, message.Span.Length);
        }

        Assert.False(router.TryReceive(out _));
        Assert.Equal(0, fixture.Context.GetStatistics().QueuedBytes);
        Assert.True(await IsLetInAsync(endpoint, monitor, size));
        using Message last = await router.ReceiveAsync(Guard.Token).Guarded();
        Assert.Equal(size, last.Span.Length);
    }

    /// <summary>A peer that sends one message and ends: gone when this returns.</summary>
    private static async Task<bool> IsLetInAsync(string endpoint, EventReader monitor, int size)
    {
        using RawPeer peer = await RawPeer.ConnectAsync(endpoint);
        try
        {
            await peer.SendAsync((byte[])[.. ZmpFixture.DealerGreeting([]), .. ZmpFixture.Frame(0, new byte[size])]);
            peer.EndSending();
        }
        catch (System.Net.Sockets.SocketException)
        {
            // Refused, and reset since it had sent something.
        }

        await peer.ReadToAnyEndAsync();
        SocketEvent end = await monitor.ReadAsync(Guard.Token).Guarded();
        if (end.Type == SocketEventTypes.ConnectionRefused)
        {
            Assert.Contains("QueuedByteLimit", end.Detail, StringComparison.Ordinal);
        }

        return end.Type == SocketEventTypes.Disconnected;
    }
}
