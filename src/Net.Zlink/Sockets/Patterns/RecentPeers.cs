using Net.Zlink.Sockets.Links;

namespace Net.Zlink.Sockets.Patterns;

/// <summary>Peers that a ROUTER has sent to, one for each last byte of an id modulo 16. They are found without the socket's lock, as long
/// as the id is still theirs; changes are under the lock.</summary>
/// <remarks>With one place, a gateway with three receivers took the lock for every message, at half the rate of one receiver. Ids that
/// count, generated ones and those of a gateway, differ in their last byte.</remarks>
internal readonly struct RecentPeers()
{
    private const int Places = 16;

    private readonly PeerLink?[] _peers = new PeerLink?[Places];

    public PeerLink? Find(ReadOnlySpan<byte> id)
    {
        PeerLink? peer = Volatile.Read(ref _peers[PlaceOf(id)]);
        return peer?.RouteId is { } own && id.SequenceEqual(own) ? peer : null;
    }

    /// <summary>Null: the peer that is next found in the table.</summary>
    public void Set(ReadOnlySpan<byte> id, PeerLink? peer) => Volatile.Write(ref _peers[PlaceOf(id)], peer);

    /// <summary>The peer leaves, and may be collected.</summary>
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
