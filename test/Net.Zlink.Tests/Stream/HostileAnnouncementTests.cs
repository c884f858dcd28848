using Net.Zlink.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Stream;

[Collection(Alone.Name)]
public sealed class HostileAnnouncementTests
{
    private const int Peers = 1000;
    private const long Allowed = 20L * 1024 * 1024;

    [Fact]
    public async Task A_thousand_peers_that_announce_2_GiB_and_send_1_byte_cost_next_to_nothing()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint, new StreamOptions { MaxMessageSize = long.MaxValue });
        var peers = new RawPeer[Peers];
        for (int i = 0; i < Peers; i++)
        {
            peers[i] = await fixture.ConnectAsync(endpoint);
        }

        await fixture.UntilAsync(() => socket.PeerCount == Peers);
        long before = GC.GetTotalMemory(forceFullCollection: true);

        // The largest length that a .NET array could hold: 2 GiB less a few bytes. A byte more is refused, see the next test.
        byte[] hostile = [.. Wire.Header((uint)Array.MaxLength - 4), 1];
        foreach (RawPeer peer in peers)
        {
            await peer.SendAsync(hostile);
        }

        await fixture.UntilAsync(() => fixture.Pool.GetStatistics().Live >= Peers);
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, 0, Allowed);
        Assert.InRange(GC.GetTotalMemory(forceFullCollection: true) - before, long.MinValue, Allowed);
        Assert.Equal(Peers, socket.PeerCount);
    }

    [Fact]
    public async Task Memory_for_an_announced_length_is_not_rented_before_half_of_it_has_come()
    {
        const int Sent = 3_000_000;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(TestHandler.Echo(), out string endpoint, new StreamOptions { MaxMessageSize = long.MaxValue });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        await peer.SendAsync(Wire.Header(2_000_000_000));
        await peer.SendAsync(new byte[Sent]);
        await fixture.UntilAsync(() => fixture.Pool.GetStatistics().BytesRented >= Sent);
        await fixture.Context.WhenIdleAsync().Guarded();

        // At most twice what has come, and the shards' two slabs.
        Assert.InRange(fixture.Pool.GetStatistics().BytesRented, Sent, (2 * Sent) + (2 * 1024 * 1024));
        Assert.Equal(1, socket.PeerCount);
    }

    [Fact]
    public async Task A_length_that_no_array_holds_is_refused_even_without_a_limit()
    {
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint, new StreamOptions { MaxMessageSize = long.MaxValue });
        RawPeer peer = await fixture.ConnectAsync(endpoint);
        uint id = await socket.NextConnectedAsync();
        await peer.SendAsync(Wire.Header(0x8000_0000));
        Assert.Equal((id, DisconnectReason.ProtocolError), await socket.NextDisconnectedAsync());
        Assert.Empty(await peer.ReadToEndAsync());
    }
}
