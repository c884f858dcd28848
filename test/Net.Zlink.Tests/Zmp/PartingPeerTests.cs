using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Protocol.Zmp;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Zmp;

/// <summary>A peer that goes with its messages on their way, and is found to be gone by what is sent to it.</summary>
public sealed class PartingPeerTests
{
    // 150 messages of 1 KB: they fit into what the system keeps (208 KiB of a Unix domain socket), and are more than the mark and the one
    // read of 64 KiB that are taken in.
    private const int Messages = 150;
    private const int Size = 1_000;
    private const int Buffer = 4 * 1024 * 1024;

    [Theory]
    [InlineData("tcp://127.0.0.1:0")]
    [SlowInlineData("ipc://*")]
    public async Task Messages_of_a_parting_peer_are_received_though_the_answers_to_it_fail(string endpoint)
    {
        await using var fixture = new ContextFixture();
        RouterSocket router = fixture.Context.CreateRouter(
            new RouterOptions { Mandatory = true, ReceiveHighWaterMark = 10, ReceiveBufferSize = Buffer, Linger = TimeSpan.Zero });
        using EventReader monitor = router.ReadEvents(SocketEventTypes.Disconnected);
        endpoint = router.Bind(endpoint);
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(ZmpFixture.DealerGreeting("A"u8));
        byte[] frames = [.. Enumerable.Repeat(ZmpFixture.Frame(0, new byte[Size]), Messages).SelectMany(static frame => frame)];
        await peer.SendAsync(frames);
        await fixture.UntilAsync(() => router.GetPeers().Any(static p => p.IsPaused));
        peer.Dispose();

        // The first answer is what the peer's system refuses, the next one hears of it.
        while (!monitor.TryRead(out _))
        {
            router.To("A"u8).TrySend("answer"u8);
            await fixture.SettleAsync();
        }

        for (int i = 0; i < Messages; i++)
        {
            using Message message = await router.ReceiveAsync(Guard.Token).Guarded();
            Assert.Equal(Size, message[message.PartCount - 1].Length);
        }

        Assert.False(router.TryReceive(out _));
    }
}
