using System.Buffers.Binary;
using System.Diagnostics;
using System.Diagnostics.CodeAnalysis;
using System.Security.Cryptography;

namespace Net.Zlink.Sockets.Routing;

/// <summary>Peers by routing id (docs/protocol.md). Lookups take spans and allocate nothing. Not thread-safe: the socket's lock is held
/// around every call.</summary>
internal sealed class PeerTable<TPeer>
    where TPeer : class
{
    /// <summary>A generated id: a zero byte, which no default id of 16 bytes can be confused with, and a counter of 4 bytes in network
    /// order.</summary>
    private const int GeneratedLength = 5;

    private readonly Dictionary<byte[], TPeer> _peers = new(RoutingIdComparer.Instance);
    private readonly Dictionary<byte[], TPeer>.AlternateLookup<ReadOnlySpan<byte>> _bySpan;
    private ListsByKey<byte[], TPeer>? _older;
    private uint _nextGenerated;

    /// <summary>A table whose generated ids start anywhere: two sockets, or two runs of a program, do not name their peers alike.</summary>
    public PeerTable()
        : this(BinaryPrimitives.ReadUInt32BigEndian(RandomNumberGenerator.GetBytes(sizeof(uint))))
    {
    }

    /// <param name="firstGenerated">Where the counter of generated ids starts.</param>
    internal PeerTable(uint firstGenerated)
    {
        _bySpan = _peers.GetAlternateLookup<ReadOnlySpan<byte>>();
        _nextGenerated = firstGenerated;
    }

    public int Count => _peers.Count;

    /// <summary>The peers that messages by id go to, one of each id, in no particular order.</summary>
    public Dictionary<byte[], TPeer>.ValueCollection Peers => _peers.Values;

    public bool TryGet(ReadOnlySpan<byte> id, [NotNullWhen(true)] out TPeer? peer) => _bySpan.TryGetValue(id, out peer);

    /// <summary>Gives a peer an id that is free.</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The peer.</param>
    /// <param name="own">The table's copy of the id, for the peer to keep; null if another peer has this id.</param>
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

    /// <summary>Gives a peer without an id of its own the next generated one that is free.</summary>
    /// <returns>The table's copy of the id, for the peer to keep.</returns>
    public byte[] AddGenerated(TPeer peer)
    {
        Span<byte> id = stackalloc byte[GeneratedLength];
        id[0] = 0;
        byte[]? own;
        do
        {
            // Peers may choose such ids too: each one taken costs one step, once in 2^32 ids.
            BinaryPrimitives.WriteUInt32BigEndian(id[1..], unchecked(_nextGenerated++));
        }
        while (!TryAdd(id, peer, out own));

        return own;
    }

    /// <summary>Gives a peer an id whether it is free or not (handover).</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The newcomer.</param>
    /// <param name="own">The table's copy of the id, for the newcomer to keep.</param>
    /// <returns>The peer that had it, which has no id now, or null.</returns>
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

    /// <summary>Gives a peer an id that others may have too. From here on the id finds this peer.</summary>
    /// <param name="id">At least one byte.</param>
    /// <param name="peer">The newcomer.</param>
    /// <returns>The table's copy of the id, for the newcomer to keep.</returns>
    public byte[] AddNewest(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (Replace(id, peer, out byte[] own) is { } previous)
        {
            (_older ??= new ListsByKey<byte[], TPeer>(RoutingIdComparer.Instance)).Add(own, previous);
        }

        return own;
    }

    /// <summary>Takes a peer's id away if another peer shares it.</summary>
    public void RemoveIfShared(ReadOnlySpan<byte> id, TPeer peer)
    {
        if (_older is not null && _bySpan.TryGetValue(id, out byte[]? own, out _) && _older.Has(own))
        {
            Remove(id, peer);
        }
    }

    /// <summary>Takes a peer's id away, if it is still the peer's: it may have been replaced. If others share the id, it finds the newest
    /// of them.</summary>
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
