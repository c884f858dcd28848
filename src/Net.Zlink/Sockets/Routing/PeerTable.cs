using System.Buffers.Binary;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;
using Net.Zlink.Sockets.Endpoints;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Peers by routing id (docs/protocol.md).</summary>
/// <param name="firstGenerated">Null: a random number, so two sockets, or two runs of a program, generate different ids.</param>
internal sealed class PeerTable<TPeer>(uint? firstGenerated = null)
    where TPeer : class
{
    /// <summary>A generated id: a zero byte, unlike any default id of 16 bytes, and a 4-byte counter in network order.</summary>
    private const int GeneratedLength = 5;

    private readonly Dictionary<byte[], TPeer> _peers = new(RoutingIdComparer.Instance);
    private ListsByKey<byte[], TPeer>? _older; // By the very arrays that are the keys of the peers.
    private uint _nextGenerated = firstGenerated ?? BinaryPrimitives.ReadUInt32BigEndian(RandomNumberGenerator.GetBytes(sizeof(uint)));

    public Dictionary<byte[], TPeer>.ValueCollection Peers => _peers.Values;

    private Dictionary<byte[], TPeer>.AlternateLookup<ReadOnlySpan<byte>> BySpan => _peers.GetAlternateLookup<ReadOnlySpan<byte>>();

    public bool TryGet(ReadOnlySpan<byte> id, [NotNullWhen(true)] out TPeer? peer) => BySpan.TryGetValue(id, out peer);

    public bool TryAdd(ReadOnlySpan<byte> id, TPeer peer, [NotNullWhen(true)] out byte[]? own)
    {
        Debug.Assert(!id.IsEmpty, "An empty id means: generate one.");
        own = null;
        if (BySpan.ContainsKey(id))
        {
            return false;
        }

        own = id.ToArray();
        _peers.Add(own, peer);
        return true;
    }

    public byte[] AddGenerated(TPeer peer)
    {
        Span<byte> id = stackalloc byte[GeneratedLength];
        id[0] = 0;
        byte[]? own;
        do
        {
            BinaryPrimitives.WriteUInt32BigEndian(id[1..], unchecked(_nextGenerated++));
        }
        while (!TryAdd(id, peer, out own));

        return own;
    }

    public TPeer? Replace(ReadOnlySpan<byte> id, TPeer peer, out byte[] own)
    {
        if (TryAdd(id, peer, out byte[]? added))
        {
            own = added;
            return null;
        }

        _ = BySpan.TryGetValue(id, out own!, out TPeer? previous);
        _peers[own] = peer;
        return previous;
    }

    public byte[] AddNewest(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (Replace(id, peer, out byte[] own) is { } previous)
        {
            (_older ??= new ListsByKey<byte[], TPeer>()).Add(own, previous);
        }

        return own;
    }

    public void RemoveIfShared(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (_older is not null && BySpan.TryGetValue(id, out byte[]? own, out _) && _older.Has(own))
        {
            Remove(id, peer);
        }
    }

    /// <summary>A shared id then finds the newest of the others.</summary>
    public bool Remove(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (!BySpan.TryGetValue(id, out byte[]? own, out TPeer? newest))
        {
            return false;
        }

        if (newest != peer)
        {
            _older?.Remove(own, peer);
            return false;
        }

        if (_older?.LastOf(own) is { } before)
        {
            _older.Remove(own, before);
            _peers[own] = before;
            return false;
        }

        _peers.Remove(own);
        return true;
    }
}
