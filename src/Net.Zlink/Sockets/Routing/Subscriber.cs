namespace Net.Zlink.Sockets.Routing;

internal sealed class Subscriber<TPeer>(SubscriptionTrie<TPeer> trie, TPeer peer)
    where TPeer : class
{
    private const int SmallestTrimmed = 32;

    public TPeer Peer => peer;

    public int PrefixCount => Slots.Count;

    public long StoredBytes { get; internal set; }

    /// <summary>It is being removed, and matches nothing.</summary>
    public bool HasLeft { get; set; }

    internal SubscriptionTrie<TPeer> Trie => trie;

    /// <summary>True: nobody else has subscribed to it.</summary>
    public IEnumerable<(byte[] Prefix, bool IsLast)> Prefixes => Slots.Keys.Select(static node => (node.Prefix, node.Value.Count == 1));

    /// <summary>Its position in the set of each of its prefixes, so a removal from a set of thousands is one step.</summary>
    internal Dictionary<PrefixNode<SubscriberSet<TPeer>>, int> Slots { get; } = [];

    /// <summary>The last match that found this subscriber: a second prefix of the same topic does not report it again.</summary>
    internal long MatchStamp { get; set; }

    /// <summary>Shrinks a table of positions that was large, because its memory is not charged.</summary>
    internal void TrimSlots()
    {
        if (Slots.Capacity > SmallestTrimmed && Slots.Count < Slots.Capacity / 4)
        {
            Slots.TrimExcess(Slots.Count * 2);
        }
    }
}

internal struct SubscriberSet<TPeer>
    where TPeer : class
{
    private Subscriber<TPeer>[]? _items;

    public int Count { get; private set; }

    public readonly ReadOnlySpan<Subscriber<TPeer>> Items => _items.AsSpan(0, Count);

    public void Add(Subscriber<TPeer> subscriber)
    {
        if (_items is null || Count == _items.Length)
        {
            Array.Resize(ref _items, Math.Max(1, Count * 2));
        }

        _items[Count++] = subscriber;
    }

    public Subscriber<TPeer>? RemoveAt(int index)
    {
        Subscriber<TPeer> last = _items![--Count];
        _items[index] = last;
        _items[Count] = null!;
        if (_items.Length >= 8 && Count <= _items.Length / 4)
        {
            Array.Resize(ref _items, _items.Length / 2);
        }

        return index == Count ? null : last;
    }
}
