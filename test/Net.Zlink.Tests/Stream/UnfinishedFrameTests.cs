using Net.Zlink.Monitoring;
using Net.Zlink.Porting;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

/// <summary>Peers begin frames and do not end them.</summary>
public sealed class UnfinishedFrameTests
{
    private const int KiB = 1024;
    private const int Limit = 1024 * KiB;

    [Fact]
    public async Task A_peer_above_the_mean_is_disconnected_at_the_limit_for_unfinished_frames_and_one_below_continues()
    {
        await using var fixture = new StreamFixture(unfinishedByteLimit: Limit);
        StreamSocket socket = fixture.Bind(out string endpoint);
        using EventReader monitor = socket.ReadEvents(SocketEventTypes.Disconnected);
        RawPeer[] peers = new RawPeer[3];
        byte[] begun = Wire.Frame(Wire.Pattern(Limit))[..(150 * KiB)]; // Its buffer is up to twice as long.
        for (int i = 0; i < peers.Length; i++)
        {
            peers[i] = await fixture.ConnectAsync(endpoint);
            await socket.NextConnectedAsync();
            await peers[i].SendAsync(begun);
            long expected = (i + 1) * 150 * KiB;
            await fixture.UntilAsync(() => fixture.Context.GetStatistics().UnfinishedBytes >= expected);
        }

        RawPeer small = await fixture.ConnectAsync(endpoint);
        await socket.NextConnectedAsync();
        byte[] frame = Wire.Frame(Wire.Pattern(100 * KiB));
        long before = fixture.Context.GetStatistics().UnfinishedBytes;
        await small.SendAsync(frame.AsMemory(0, 50 * KiB));
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().UnfinishedBytes >= before + (50 * KiB));
        Task more = peers[0].SendAsync(new byte[700 * KiB]);
        SocketEvent told = await monitor.ReadAsync(Guard.Token).Guarded();
        Assert.Equal(4, told.ToNativeValue());
        Assert.Contains("UnfinishedByteLimit", told.Detail, StringComparison.Ordinal);
        await fixture.UntilAsync(() => fixture.Context.GetStatistics().UnfinishedBytes < Limit); // Though the peer has not ended its side.
        await more;
        Assert.Empty(await peers[0].ReadToEndAsync());
        Assert.Equal(DisconnectReason.UnfinishedByteLimit, (await socket.NextDisconnectedAsync()).Reason);
        await small.SendAsync(frame.AsMemory(50 * KiB));
        Wire.AssertSame(frame[Wire.HeaderSize..], await socket.NextDataAsync(4));
    }
}
