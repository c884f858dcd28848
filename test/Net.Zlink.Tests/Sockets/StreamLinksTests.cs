using Net.Zlink.Buffers;
using Net.Zlink.Engine;
using Net.Zlink.Monitoring;
using Net.Zlink.Sockets;
using Net.Zlink.Sockets.Endpoints;
using Net.Zlink.Tests.Buffers;
using Net.Zlink.Tests.Engine;
using Net.Zlink.Tests.Monitoring;
using Net.Zlink.Tests.Support;
using Xunit;

namespace Net.Zlink.Tests.Sockets;

/// <summary>The connections of a STREAM socket, by whom they came, and their books.</summary>
public sealed class StreamLinksTests : IDisposable
{
    private readonly TestWire _wire = new();
    private readonly BufferPool _pool = TestPools.Create();
    private readonly StreamHub _hub;
    private readonly StreamLinks _links;

    public StreamLinksTests()
    {
        _hub = new StreamHub(new EngineHost(1, _pool, TimeProvider.System, new RecordingLoggers(), new RecordingObserver()), total: null);
        _links = _hub.Links;
    }

    public void Dispose()
    {
        _wire.Dispose();
        _pool.Dispose();
    }

    [Fact]
    public void STREAM_links_of_an_endpoint_are_found_until_they_are_closed()
    {
        var one = new Origin();
        var other = new Origin();
        StreamLink first = Register(one);
        StreamLink second = Register(other);
        StreamLink third = Register(one);
        Assert.Equal([1u, 2u, 3u], [first.Id, second.Id, third.Id]);
        Assert.Equal([first, third], _links.Of(one));
        _links.Close(first);
        Assert.Equal([third], _links.Of(one));
        Assert.Equal([second], _links.Of(other));
        Assert.Equal([2u, 3u], _links.All.Select(static link => link.Id).Order());
        Assert.Equal(1, _hub.Counters.Closed);
    }

    [Fact]
    public void A_closed_socket_is_over_with_the_last_connection()
    {
        StreamLink link = Register(new Origin());
        Assert.True(_hub.Parts.TryClose());
        _hub.Parts.Leave();
        Assert.Single(_links.All);
        Assert.False(_hub.Parts.AllClosed.IsCompleted);
        _links.Close(link);
        Assert.True(_hub.Parts.AllClosed.IsCompleted);
    }

    [Fact]
    public void STREAM_links_of_one_endpoint_among_thousands_are_found_without_a_copy_of_all()
    {
        const int Endpoints = 5_000;
        Origin[] origins = [.. Enumerable.Range(0, Endpoints).Select(static _ => new Origin())];
        Array.ForEach(origins, origin => Register(origin));

        // An array of one. A list of all has 40,000 bytes.
        Assert.InRange(Allocations.Of(() => Assert.Same(origins[7], _links.Of(origins[7])[0].Origin), rounds: 10), 0, 10 * 100);
    }

    [Fact]
    public async Task Messages_of_STREAM_peers_are_counted_once_at_every_moment_while_the_peers_leave()
    {
        const int Peers = 30;
        const int Each = 10;
        await using var fixture = new StreamFixture();
        StreamSocket socket = fixture.Bind(out string endpoint);
        var peers = new List<RawPeer>();
        for (int i = 0; i < Peers; i++)
        {
            RawPeer peer = await fixture.ConnectAsync(endpoint);
            peers.Add(peer);
            await peer.SendAsync(Support.Wire.Frames([.. Enumerable.Repeat<byte[]>([1], Each)]));
        }

        await fixture.UntilAsync(() => socket.GetStatistics().ReceivedMessages == Peers * Each);
        peers.ForEach(static peer => peer.Reset());
        SocketStatistics statistics;
        do
        {
            statistics = socket.GetStatistics();
            Assert.Equal(Peers * Each, statistics.ReceivedMessages);
        }
        while (statistics.ClosedConnections < Peers);
    }

    private StreamLink Register(Origin origin) => _links.Register("tcp://test", origin, _wire);

    private sealed class Origin : IConnectionOrigin
    {
        public void OnConnectionEnded(DisconnectReason reason)
        {
        }
    }
}
