using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>
/// Peers that a ROUTER has sent to, by the last byte of their id: found without the socket's lock. With one place, a gateway with three
/// receivers took the lock for every message, at half the rate of one receiver.
/// </summary>
internal readonly struct RecentPeers()
{
    private const int Places = 16;

    private readonly PeerLink?[] _peers = new PeerLink?[Places];

    public PeerLink? Find(ReadOnlySpan<byte> id)
    {
        PeerLink? peer = Volatile.Read(ref _peers[PlaceOf(id)]);
        return peer?.RouteId is { } own && id.SequenceEqual(own) ? peer : null;
    }

    public void Set(ReadOnlySpan<byte> id, PeerLink? peer) => Volatile.Write(ref _peers[PlaceOf(id)], peer);

    public void Remove(ReadOnlySpan<byte> id, PeerLink peer)
    {
        ref PeerLink? place = ref _peers[PlaceOf(id)];
        if (ReferenceEquals(place, peer))
        {
            Volatile.Write(ref place, null);
        }
    }

    private static int PlaceOf(ReadOnlySpan<byte> id) => id.IsEmpty ? 0 : id[^1] % Places;
}
