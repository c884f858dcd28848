using System.Buffers.Binary;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;

namespace Net.Zlink.Sockets.Routing;

/// <summary>
/// Peers by routing id (docs/protocol.md). Lookups take spans and allocate nothing. Not thread-safe: under the socket's lock.
/// </summary>
internal sealed class PeerTable<TPeer>
    where TPeer : class
{
    /// <summary>A generated id: a zero byte, unlike any default id of 16 bytes, and a 4-byte counter in network order.</summary>
    private const int GeneratedLength = 5;

    private readonly Dictionary<byte[], TPeer> _peers = new(RoutingIdComparer.Instance);
    private readonly Dictionary<byte[], TPeer>.AlternateLookup<ReadOnlySpan<byte>> _bySpan;
    private ListsByKey<byte[], TPeer>? _older;
    private uint _nextGenerated;

    /// <summary>Generated ids start at a random number, so two sockets, or two runs of a program, have different ids.</summary>
    public PeerTable()
        : this(BinaryPrimitives.ReadUInt32BigEndian(RandomNumberGenerator.GetBytes(sizeof(uint))))
    {
    }

    /// <param name="firstGenerated">The first value of the counter.</param>
    internal PeerTable(uint firstGenerated)
    {
        _bySpan = _peers.GetAlternateLookup<ReadOnlySpan<byte>>();
        _nextGenerated = firstGenerated;
    }

    public int Count => _peers.Count;

    /// <summary>The peer of each id that messages go to, in no particular order.</summary>
    public Dictionary<byte[], TPeer>.ValueCollection Peers => _peers.Values;

    public bool TryGet(ReadOnlySpan<byte> id, [NotNullWhen(true)] out TPeer? peer) => _bySpan.TryGetValue(id, out peer);

    /// <summary>Adds a peer if its id is free.</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The peer.</param>
    /// <param name="own">The table's copy of the id, for the peer to keep. Null if the id is in use.</param>
    public bool TryAdd(ReadOnlySpan<byte> id, TPeer peer, [NotNullWhen(true)] out byte[]? own)
    {
        Debug.Assert(!id.IsEmpty, "An empty id means: generate one.");
        own = null;
        if (_bySpan.ContainsKey(id))
        {
            return false;
        }

        own = id.ToArray();
        _peers.Add(own, peer);
        return true;
    }

    /// <summary>Adds a peer with the next free generated id.</summary>
    /// <returns>The table's copy of the id, for the peer to keep.</returns>
    public byte[] AddGenerated(TPeer peer)
    {
        Span<byte> id = stackalloc byte[GeneratedLength];
        id[0] = 0;
        byte[]? own;
        do
        {
            // Peers may choose such ids too. Each one costs one step, once in 2^32 ids.
            BinaryPrimitives.WriteUInt32BigEndian(id[1..], unchecked(_nextGenerated++));
        }
        while (!TryAdd(id, peer, out own));

        return own;
    }

    /// <summary>Adds a peer with an id that may be in use (handover).</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The new peer.</param>
    /// <param name="own">The table's copy of the id, for the new peer to keep.</param>
    /// <returns>The previous peer, which has no id now, or null.</returns>
    public TPeer? Replace(ReadOnlySpan<byte> id, TPeer peer, out byte[] own)
    {
        if (TryAdd(id, peer, out byte[]? added))
        {
            own = added;
            return null;
        }

        _ = _bySpan.TryGetValue(id, out own!, out TPeer? previous);
        _peers[own] = peer;
        return previous;
    }

    /// <summary>Adds a peer with an id that others may share. From now on the id finds this peer.</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The new peer.</param>
    /// <returns>The table's copy of the id, for the new peer to keep.</returns>
    public byte[] AddNewest(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (Replace(id, peer, out byte[] own) is { } previous)
        {
            (_older ??= new ListsByKey<byte[], TPeer>(RoutingIdComparer.Instance)).Add(own, previous);
        }

        return own;
    }

    /// <summary>Removes a peer's id if another peer shares it.</summary>
    public void RemoveIfShared(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (_older is not null && _bySpan.TryGetValue(id, out byte[]? own, out _) && _older.Has(own))
        {
            Remove(id, peer);
        }
    }

    /// <summary>Removes a peer's id, unless the peer was replaced. A shared id then finds the newest of the others.</summary>
    /// <returns>True: no peer has this id any more.</returns>
    public bool Remove(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (!_bySpan.TryGetValue(id, out byte[]? own, out TPeer? newest))
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
